"""The statements that answer planning's questions, in SQL that several databases share. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from gluepot.connectors.jdbc.keys import Key
from gluepot.connectors.jdbc.sql import Sql, sql


def newest_row(key: Key, quoted: Sequence[str], text_type: str, source: str, where: Sql) -> Sql:
    """Return the query for the key of the last row in the key's order, ignoring rows with a null in their key.

    Args:
        key: the key.
        quoted: its columns, as the database quotes them.
        text_type: the database's type of text.
        source: the table or query as it is written in a statement.
        where: condition for the rows; empty for all.
    """
    direction = "ASC" if key.descending else "DESC"
    order = ", ".join(f"{name} {direction}" for name in quoted)
    whole = " AND ".join(f"{name} IS NOT NULL" for name in quoted)
    also = sql(" AND (", where, ")") if where.parts else sql()
    asked = f"SELECT {_texts(quoted, text_type)} FROM {source} WHERE {whole}"
    return sql(asked, also, f" ORDER BY {order} LIMIT 1")


def count_of_rows(source: str, where: Sql) -> Sql:
    """Return the query for the number of rows."""
    return sql(f"SELECT COUNT(*) FROM {source} WHERE ", where)


def count_by_key(quoted: Sequence[str], text_type: str, source: str, where: Sql) -> Sql:
    """Return the query for every key that occurs, with its number of rows; for the arguments see `newest_row`."""
    asked = f"SELECT {_texts(quoted, text_type)}, COUNT(*) FROM {source} WHERE "
    return sql(asked, where, f" GROUP BY {', '.join(quoted)}")


def _texts(quoted: Sequence[str], text_type: str) -> str:
    return ", ".join(f"{name}::{text_type} AS key_{n}" for n, name in enumerate(quoted))
