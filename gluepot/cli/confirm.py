"""Asks before a command changes something."""

from __future__ import annotations

import sys

from gluepot.core.errors import ConfigError


def agreed(question: str, *, yes: bool, has_dry_run: bool = True) -> bool:
    """Tell whether the user agrees to a change, by `--yes` or by an answer on the terminal.

    Args:
        question: what the person is asked.
        yes: whether the command line has `--yes`.
        has_dry_run: whether the command has `--dry-run`, which the error then names.

    Raises:
        ConfigError: there is neither `--yes` nor a terminal.
    """
    if yes:
        return True
    if not sys.stdin.isatty():
        dry_run = ", or --dry-run to see what would be changed" if has_dry_run else ""
        raise ConfigError(f"{question} No terminal to confirm on: pass --yes{dry_run}.")
    return input(f"{question} [y/N] ").strip().lower() in {"y", "yes"}
