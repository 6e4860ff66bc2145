"""Asking before something is changed."""

from __future__ import annotations

import sys

from gluepot.core.errors import ConfigError


def agreed(question: str, *, yes: bool, has_dry_run: bool = True) -> bool:
    """Tell whether a change is wanted: by `--yes`, or by a person at the terminal.

    Args:
        question: what the person is asked.
        yes: whether the command line has `--yes`.
        has_dry_run: whether the command has `--dry-run`, which the error then names.

    Raises:
        ConfigError: neither of them is there.
    """
    if yes:
        return True
    if not sys.stdin.isatty():
        dry_run = ", or --dry-run to see what would change" if has_dry_run else ""
        raise ConfigError(f"{question} There is no terminal to ask on, so nothing is changed; say --yes{dry_run}.")
    return input(f"{question} [y/N] ").strip().lower() in {"y", "yes"}
