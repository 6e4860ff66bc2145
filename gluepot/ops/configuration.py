"""The effective configuration of a run as `/config` shows it: everything but secrets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from etlcore.masking import mask, mask_text


def without_secrets(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return a copy fit to be shown: values under the name of a secret, and secrets within texts, are `***`."""
    return {name: _shown(value) for name, value in mask(values).items()}


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


def _shown(value: object) -> object:
    if isinstance(value, str):
        return mask_text(value)
    if isinstance(value, Mapping):
        return {name: _shown(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_shown(one) for one in value]
    return value
