"""What Redshift's catalog says of tables."""

from __future__ import annotations

from collections.abc import Mapping

from gluepot.connectors.jdbc.publishing import TableName
from gluepot.connectors.jdbc.redshift.names import name_parts
from gluepot.connectors.jdbc.redshift.session import Session

_COLUMNS = """
SELECT a.attname, format_type(a.atttypid, a.atttypmod) FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE quote_ident(n.nspname) = %s AND quote_ident(c.relname) = %s AND a.attnum > 0 AND NOT a.attisdropped
AND c.relkind IN ('r', 'v', 'm', 'f', 'p') ORDER BY a.attnum
"""
# The attributes of the index that stands for a primary key, as Amazon's own client asks for them.
_PRIMARY_KEY = """
SELECT a.attname FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid JOIN pg_namespace n ON n.oid = c.relnamespace
JOIN pg_attribute a ON a.attrelid = i.indexrelid
WHERE i.indisprimary AND quote_ident(n.nspname) = %s AND quote_ident(c.relname) = %s ORDER BY a.attnum
"""
# The default of an identity column is the function "identity" or "default_identity".
_NUMBERED = """
SELECT column_name FROM information_schema.columns
WHERE quote_ident(table_schema) = %s AND quote_ident(table_name) = %s AND column_default LIKE '%%identity%%(%%'
"""


def find_table(begun: Session, name: str) -> TableName:
    """Return how the server quotes a table's name, and whether the table exists.

    Raises:
        ConfigError: the name has another form than `schema.table`.
    """
    schema, table = name_parts(name)
    if not schema:
        schema = str(begun.rows("SELECT current_schema()")[0][0])
    ((schema, table),) = begun.rows("SELECT quote_ident(%s::varchar), quote_ident(%s::varchar)", [schema, table])
    return TableName(str(schema), str(table), exists=bool(columns_of(begun, str(schema), str(table))))


def columns_of(begun: Session, schema: str, table: str) -> Mapping[str, str]:
    """Return the columns of a table with their types; empty if there is no table.

    Args:
        begun: the session.
        schema: the schema, as the server quotes it.
        table: the table, likewise.
    """
    return {str(column): str(kind) for column, kind in begun.rows(_COLUMNS, [schema, table])}


def primary_key(begun: Session, name: TableName) -> tuple[str, ...]:
    """Return the columns of the primary key, which Redshift does not enforce; empty if there is none."""
    return tuple(str(column) for (column,) in begun.rows(_PRIMARY_KEY, [name.schema, name.table]))


def numbered_columns(begun: Session, name: TableName) -> tuple[str, ...]:
    """Return the identity columns of a table, for which Redshift takes no null."""
    return tuple(str(column) for (column,) in begun.rows(_NUMBERED, [name.schema, name.table]))
