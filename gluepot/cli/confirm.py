"""Asking before something is changed."""

from __future__ import annotations

import sys

from gluepot.core.errors import ConfigError


def agreed(question: str, *, yes: bool) -> bool:
    """Tell whether a change is wanted: by `--yes`, or by a person at the terminal.

    Raises:
        ConfigError: neither of them is there.
    """
    if yes:
        return True
    if not sys.stdin.isatty():
        raise ConfigError(
            f"{question} Nothing is changed without --yes where nobody can be asked; --dry-run only shows."
        )
    return input(f"{question} [y/N] ").strip().lower() in {"y", "yes"}
