"""Finds and masks secret values in mappings and in texts, by their names."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

MASK = "***"

# A name is secret if it contains one of these anywhere.
_ANYWHERE = (
    r"passw|passphrase|pwd|secret|token|jaas|credential|authorization|signature|webhook|cookie|connection_?string"
    r"|user[._-]?info"
)
# A name is secret if it contains one of these as a separate word: `partition_keys`, `author` and `sasl` are not secret.
# `pass` is an ordinary word, so it counts only after another one, as in `DB_PASS`. `key` also counts at the end of a
# name, as in `apikey`.
_AS_WORD = r"(?<![a-z])(?:key|o?auth2?|sas|sig|dsn|creds?)(?![a-z])|(?<=[a-z0-9][._-])pass(?![a-z])|key$"
_SECRET_NAME = re.compile(f"{_ANYWHERE}|{_AS_WORD}")
_CAMEL_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])")
# Matches `name=`, `"name": `, `\"name\": ` as in JSON within JSON, and `--name ` as on a command line. A name begins at
# the beginning of a word; otherwise the pattern would search a long word from each of its characters.
_NAME = re.compile(r"""(?<![\w.-])(?:(?P<name>[\w.-]+)\\*["']?\s*[=:]\s*|--(?P<option>[\w.-]+)\s+)""")
# A value without quotes ends at the next space. A comma or an ampersand does not end it, because passwords may contain
# them; the text after them is masked as well.
_VALUE = re.compile(
    r"""
    "(?:[^"\\]|\\.)*" | '(?:[^'\\]|\\.)*' | \\+"[^"]*"
    | (?:(?:Bearer|Basic|Digest|Negotiate|Token|ApiKey)\s+)? [^\s]*[^\s,;&}\])"']
    """,
    re.VERBOSE | re.IGNORECASE,
)
_BEARER = re.compile(r"(?i)(?<=\bbearer )[\w.~+/=-]{16,}")
# A password may contain `@` and `/`, so the user's part of a URL reaches to the last `@`, unless a port comes first.
# Its length is bounded; otherwise the pattern would search a text without any `@` to its end from each `//`.
_USER_OF_URL = re.compile(
    r"""
    (?<=//) (?: [^/@\s:"'<>?\#]*:(?!\d{1,5}(?:[/?\#,]|$)) [^\s"'<>]{0,1000} | [^/@\s"'<>?\#]+ ) (?=@)
    | (?<=:thin:)[^\s"'<>@]{1,1000}(?=@)
    """,
    re.VERBOSE,
)


def is_secret(name: str) -> bool:
    """Return whether a value with this name must not be shown."""
    return _SECRET_NAME.search(_CAMEL_HUMP.sub("_", name).lower()) is not None


def mask(values: Mapping[Any, Any]) -> dict[Any, Any]:
    """Return a copy with `***` for every secret, also in the mappings, lists and texts inside it."""
    return {name: MASK if isinstance(name, str) and is_secret(name) else _masked(v) for name, v in values.items()}


def _masked(value: object) -> object:
    if isinstance(value, Mapping):
        return mask(value)
    if isinstance(value, list | tuple):
        return [_masked(item) for item in value]
    return mask_text(value) if isinstance(value, str) else value


def mask_text(text: str) -> str:
    """Return a text with `***` for the value after the name of a secret (`password=...`) and for the user of a URL."""
    text = _BEARER.sub(MASK, _USER_OF_URL.sub(MASK, text))
    shown, at = [], 0
    # The text after a name that is not secret is searched, too: `ValueError: password=...`.
    for name in _NAME.finditer(text):
        secret = name.start() >= at and is_secret(name["name"] or name["option"])
        if secret and (value := _VALUE.match(text, name.end())):
            shown += [text[at : name.end()], MASK]
            at = value.end()
    return "".join([*shown, text[at:]])
