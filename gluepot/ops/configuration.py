"""Reads the arguments of a script in the form in which `/config` shows them."""

from __future__ import annotations

from collections.abc import Sequence


def arguments_by_name(arguments: Sequence[str]) -> dict[str, str]:
    """Return a script's `--name value`, `--name=value` and `--flag` arguments by name; the last of a name wins."""
    named: dict[str, str] = {}
    name = ""
    for token in arguments:
        if token.startswith("--"):
            name, _, value = token[2:].partition("=")
            named[name] = value
        elif name:
            named[name] = f"{named[name]} {token}".strip()
    return named
