"""Names and texts in SQL of DuckDB."""

from __future__ import annotations


def quoted_name(name: str) -> str:
    """Return the name of a column or a table as it stands in a statement."""
    return '"' + name.replace('"', '""') + '"'


def quoted_text(value: str) -> str:
    """Return a text as it stands in a statement."""
    return "'" + value.replace("'", "''") + "'"
