"""Asks before a command changes something."""

from __future__ import annotations

import sys

from gluepot.core.errors import ConfigError


def agreed(question: str, *, yes: bool) -> bool:
    """Tell whether the user agrees to a change, by `--yes` or by an answer on the terminal.

    Raises:
        ConfigError: there is neither `--yes` nor a terminal.
    """
    if yes:
        return True
    if not sys.stdin.isatty():
        raise ConfigError(
            f"{question} No terminal to confirm on: pass --yes, or --dry-run to see what would be changed."
        )
    return input(f"{question} [y/N] ").strip().lower() in {"y", "yes"}
