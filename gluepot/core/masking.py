"""Which values are secret, judged by the name they go under, in mappings and in texts."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

MASK = "***"

# These mark a secret wherever they stand in a name.
_ANYWHERE = (
    r"passw|passphrase|pwd|secret|token|jaas|credential|authorization|signature|webhook|cookie|connection_?string"
    r"|user[._-]?info"
)
# These do so as a word of their own: `partition_keys`, `author` and `sasl` are no secrets. `pass` is an ordinary word,
# so it counts behind another one only, as in `DB_PASS`; `apikey` and `access_key_id` have their key at the end.
_AS_WORD = r"(?<![a-z])(?:key|o?auth2?|sas|sig|dsn|creds?)(?![a-z])|(?<=[a-z0-9][._-])pass(?![a-z])|key$"
_SECRET_NAME = re.compile(f"{_ANYWHERE}|{_AS_WORD}")
_CAMEL_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])")
# `name=`, `"name": `, `\"name\": ` as in JSON within JSON, and `--name ` as on a command line. A name begins where a
# word does, or a long word would be searched from each of its characters on.
_NAME = re.compile(r"""(?<![\w.-])(?:(?P<name>[\w.-]+)\\*["']?\s*[=:]\s*|--(?P<option>[\w.-]+)\s+)""")
# A value without quotes reaches up to the next space. A comma or an ampersand does not end it, since passwords have
# those, too; what follows them is masked with it.
_VALUE = re.compile(
    r"""
    "(?:[^"\\]|\\.)*" | '(?:[^'\\]|\\.)*' | \\+"[^"]*"
    | (?:(?:Bearer|Basic|Digest|Negotiate|Token|ApiKey)\s+)? [^\s]*[^\s,;&}\])"']
    """,
    re.VERBOSE | re.IGNORECASE,
)
_BEARER = re.compile(r"(?i)(?<=\bbearer )[\w.~+/=-]{16,}")
# A password may hold `@` and `/`, so the user's part of a URL reaches up to the last `@`, unless a port comes first.
# It is bounded, because a text without any `@` would otherwise be searched to its end from each `//` on.
_USER_OF_URL = re.compile(
    r"""
    (?<=//) (?: [^/@\s:"'<>?\#]*:(?!\d{1,5}(?:[/?\#,]|$)) [^\s"'<>]{0,1000} | [^/@\s"'<>?\#]+ ) (?=@)
    | (?<=:thin:)[^\s"'<>@]{1,1000}(?=@)
    """,
    re.VERBOSE,
)


def is_secret(name: str) -> bool:
    """Tell whether a value under this name must not be shown."""
    return _SECRET_NAME.search(_CAMEL_HUMP.sub("_", name).lower()) is not None


def mask(values: Mapping[Any, Any]) -> dict[Any, Any]:
    """Return a copy with every secret replaced by `***`, in mappings, lists and texts inside it, too."""
    return {name: MASK if isinstance(name, str) and is_secret(name) else _masked(v) for name, v in values.items()}


def _masked(value: object) -> object:
    if isinstance(value, Mapping):
        return mask(value)
    if isinstance(value, list | tuple):
        return [_masked(item) for item in value]
    return mask_text(value) if isinstance(value, str) else value


def mask_text(text: str) -> str:
    """Return a text with `***` for what follows the name of a secret (`password=...`) and for the user of a URL."""
    text = _BEARER.sub(MASK, _USER_OF_URL.sub(MASK, text))
    shown, at = [], 0
    # What follows another name is looked at, too: `ValueError: password=...`.
    for name in _NAME.finditer(text):
        secret = name.start() >= at and is_secret(name["name"] or name["option"])
        if secret and (value := _VALUE.match(text, name.end())):
            shown += [text[at : name.end()], MASK]
            at = value.end()
    return "".join([*shown, text[at:]])
