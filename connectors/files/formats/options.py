"""Option values as scripts spell them: Glue takes texts, booleans and numbers alike.

The rule is in docs/glue/README.md, under "Typing of option values".
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gluepot.core.errors import ConfigError

_FLAGS = {"true": True, "false": False, "": False}


def flag(options: Mapping[str, Any], name: str, *, default: bool = False) -> bool:
    """Return a switch.

    Raises:
        ConfigError: neither true nor false.
    """
    given = str(options.get(name, default)).lower()
    if given not in _FLAGS:
        raise ConfigError(f"{name} is {options[name]!r}; use true or false")
    return _FLAGS[given]


def number(options: Mapping[str, Any], name: str, *, least: int = 1) -> int | None:
    """Return a whole number; None where the option is absent or empty.

    Raises:
        ConfigError: no whole number, or below the least allowed.
    """
    given = options.get(name)
    if given is None or given == "":
        return None
    try:
        value = int(str(given).strip())
    except ValueError:
        value = least - 1
    if value < least:
        raise ConfigError(f"{name} is {given!r}; use a whole number of {least} or more")
    return value
