"""The script's own SQL, taken apart as far as needed. Pure."""

from __future__ import annotations

import re

_PIECE = re.compile(
    r"""'(?:[^'\\]|\\.|'')*'|"(?:[^"\\]|\\.|"")*"|`[^`]*`|/\*.*?\*/|(?:--(?=\s)|\#)[^\n]*|;|[^'"`/#;-]+|.""", re.DOTALL
)
_COMMENT = re.compile(r"(?:/\*(?![!M]).*?\*/|(?:--(?=\s)|#)[^\n]*|\s)*", re.DOTALL)
_CREATE = re.compile(r"(?is)CREATE\s+TABLE\s+IF\s+NOT\s+EXISTS\s+((?:`[^`]+`|[\w$]+)(?:\s*\.\s*(?:`[^`]+`|[\w$]+))?)")


def split(text: str) -> list[str]:
    """Return the statements of a text, without the semicolons between them; empty ones are left out."""
    found, current = [], ""
    for piece in _PIECE.findall(text):
        if piece == ";":
            found.append(current)
            current = ""
        else:
            current += piece
    return [one.strip() for one in (*found, current) if _bare(one)]


def created_table(statement: str) -> str | None:
    """Return the table that a `CREATE TABLE IF NOT EXISTS` names, which may run again at any time; else None."""
    found = _CREATE.match(_bare(statement))
    return found[1] if found else None


def _bare(statement: str) -> str:
    """Return a statement without the comments and spaces before it."""
    found = _COMMENT.match(statement)
    return statement[found.end() :] if found else statement
