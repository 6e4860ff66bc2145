"""The script's own SQL, taken apart as far as needed. Pure."""

from __future__ import annotations

import re

_PIECE = re.compile(
    r"""(?P<text>'(?:[^'\\]|\\.|'')*'|"(?:[^"]|"")*"|\$(?P<tag>\w*)\$.*?\$(?P=tag)\$)
    |(?P<comment>--[^\n]*|/\*.*?\*/)|(?P<end>;)|(?P<other>.)""",
    re.DOTALL | re.VERBOSE,
)


def split(text: str) -> list[str]:
    """Return the statements of a text without comments and semicolons; semicolons in quotes belong to a statement."""
    statements, current = [], ""
    for found in _PIECE.finditer(text):
        if found["end"]:
            statements.append(current)
            current = ""
        else:
            current += " " if found["comment"] else found[0]
    return [one for statement in [*statements, current] if (one := statement.strip())]
