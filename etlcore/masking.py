"""Which values are secret, judged by the name they go under, in mappings and in texts."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

MASK = "***"

# `key` only as a word or at the end (`access_key_id`, `apikey`): `partition_keys` and `keyspace` are no secrets.
_SECRET_NAME = re.compile(r"passw|secret|token|jaas|credential|key$|(?<![a-z])key(?![a-z])")
_CAMEL_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])")
_NAME = re.compile(r"""["']?(?P<name>[\w.-]+)["']?\s*[=:]\s*""")
_VALUE = re.compile(r""""[^"]*"|'[^']*'|[^\s,;&}]+""")
_USER_OF_URL = re.compile(r"(?<=//)[^/@\s]+(?=@)")


def is_secret(name: str) -> bool:
    """Tell whether a value under this name must not be shown."""
    return _SECRET_NAME.search(_CAMEL_HUMP.sub("_", name).lower()) is not None


def mask(values: Mapping[Any, Any]) -> dict[Any, Any]:
    """Return a copy with every secret replaced by `***`, in mappings and lists inside it too."""
    return {name: MASK if isinstance(name, str) and is_secret(name) else _masked(v) for name, v in values.items()}


def _masked(value: object) -> object:
    if isinstance(value, Mapping):
        return mask(value)
    if isinstance(value, list | tuple):
        return [_masked(item) for item in value]
    return value


def mask_text(text: str) -> str:
    """Return a text with `***` for what follows the name of a secret (`password=...`) and for the user of a URL."""
    text = _USER_OF_URL.sub(MASK, text)
    shown, at = [], 0
    # What follows another name is looked at, too: `ValueError: password=...`.
    for name in _NAME.finditer(text):
        if name.start() >= at and is_secret(name["name"]) and (value := _VALUE.match(text, name.end())):
            shown += [text[at : name.end()], MASK]
            at = value.end()
    return "".join([*shown, text[at:]])
