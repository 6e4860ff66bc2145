"""Which tables a database has: their columns, types and comments, as the database's own catalog tells them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import groupby
from typing import Any
from urllib.parse import urlsplit

import pyarrow as pa

from gluepot.connectors.jdbc.endpoint import MYSQL, POSTGRESQL, JdbcEndpoint
from gluepot.core.errors import ConfigError, TransientError
from gluepot.frames.schema.hive_types import hive_name

_TIMEOUT_SECS = 10


@dataclass(frozen=True, slots=True)
class RelationColumn:
    """A column of a table in a database.

    Args:
        name: its name.
        type: Hive's name of the type that reads of jobs give it.
        raw_type: the database's own name.
        comment: empty for none.
    """

    name: str
    type: str
    raw_type: str
    comment: str = ""


@dataclass(frozen=True, slots=True)
class Relation:
    """A table or a view in a database.

    Args:
        database: its database.
        schema: its schema; empty for databases that have none.
        name: its name.
        columns: in order.
        is_view: whether it is a view.
        comment: empty for none.
    """

    database: str
    schema: str
    name: str
    columns: tuple[RelationColumn, ...]
    is_view: bool = False
    comment: str = ""

    @property
    def path(self) -> str:
        """Its path below the database: `schema/table`, or `table`."""
        return f"{self.schema}/{self.name}" if self.schema else self.name


def relations(endpoint: JdbcEndpoint, database: str) -> list[Relation]:
    """Return the tables and views of a database that the user may read, without those of the database itself.

    Args:
        endpoint: leads to the database.
        database: its name.

    Raises:
        ConfigError: databases of this kind cannot be listed, or the login is refused.
        TransientError: the database does not answer.
    """
    if endpoint.vendor == POSTGRESQL:
        return _of_postgresql(endpoint, database)
    if endpoint.vendor in MYSQL:
        return _of_mysql(endpoint, database)
    raise ConfigError(
        f"A database of {endpoint.vendor} cannot be crawled here; PostgreSQL, MySQL and MariaDB can. Describe its"
        " tables with `gluepot catalog create-table`."
    )


_POSTGRESQL_COLUMNS = """
SELECT n.nspname::text, c.relname::text, c.relkind::text IN ('v', 'm'),
  coalesce(obj_description(c.oid, 'pg_class'), ''), a.attname::text, format_type(a.atttypid, a.atttypmod),
  CASE WHEN t.typtype = 'd' THEN b.typname ELSE t.typname END::text,
  CASE WHEN t.typtype = 'd' THEN t.typtypmod ELSE a.atttypmod END::int8,
  coalesce(col_description(c.oid, a.attnum), '')
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
JOIN pg_type t ON t.oid = a.atttypid LEFT JOIN pg_type b ON b.oid = t.typbasetype
WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND NOT c.relispartition
  AND n.nspname NOT IN ('pg_catalog', 'information_schema') AND n.nspname NOT LIKE 'pg\\_%'
  AND has_schema_privilege(n.oid, 'USAGE') AND has_table_privilege(c.oid, 'SELECT')
ORDER BY 1, 2, a.attnum
"""


def _of_postgresql(endpoint: JdbcEndpoint, database: str) -> list[Relation]:
    from gluepot.connectors.jdbc.postgresql.columns import Column  # noqa: PLC0415  of use to this database only
    from gluepot.connectors.jdbc.postgresql.session import session  # noqa: PLC0415

    with session(endpoint) as opened:
        rows = opened.rows(_POSTGRESQL_COLUMNS)

    def column(row: Any) -> RelationColumn:
        kind = Column(row[4], row[6], int(row[7])).arrow_type
        return RelationColumn(row[4], hive_name(pa.field("", kind)), row[5], row[8])

    return _grouped(rows, database, column)


_MYSQL_COLUMNS = """
SELECT '', c.TABLE_NAME, t.TABLE_TYPE LIKE '%%VIEW', IF(t.TABLE_TYPE LIKE '%%VIEW', '', t.TABLE_COMMENT), c.COLUMN_NAME,
  c.COLUMN_TYPE, c.DATA_TYPE, COALESCE(c.NUMERIC_PRECISION, 0), c.COLUMN_COMMENT, COALESCE(c.NUMERIC_SCALE, 0)
FROM information_schema.COLUMNS c
JOIN information_schema.TABLES t ON t.TABLE_SCHEMA = c.TABLE_SCHEMA AND t.TABLE_NAME = c.TABLE_NAME
WHERE c.TABLE_SCHEMA = %s ORDER BY c.TABLE_NAME, c.ORDINAL_POSITION
"""


def _of_mysql(endpoint: JdbcEndpoint, database: str) -> list[Relation]:
    try:
        import pymysql  # noqa: PLC0415  an extra
    except ImportError as missing:
        raise ConfigError("A crawl of MySQL or MariaDB needs PyMySQL; install gluepot[mysql].") from missing
    parts = urlsplit(endpoint.url.removeprefix("jdbc:"))
    try:
        with (
            pymysql.connect(
                host=parts.hostname or "localhost",
                port=parts.port or 3306,
                user=endpoint.user,
                password=endpoint.password or "",
                database=database,
                connect_timeout=_TIMEOUT_SECS,
                read_timeout=60,
                charset="utf8mb4",
            ) as connection,
            connection.cursor() as cursor,
        ):
            cursor.execute(_MYSQL_COLUMNS, (database,))
            rows = cursor.fetchall()
    except pymysql.err.OperationalError as error:
        said = f"{endpoint.shown}: {error.args[-1]}"
        if error.args and error.args[0] in {1044, 1045, 1049}:  # no right, wrong login, no such database
            raise ConfigError(f"The database does not let us in, {said}; check user, password and name.") from error
        raise TransientError(f"The database does not answer, {said}.", 5.0) from error

    def column(row: Any) -> RelationColumn:
        return RelationColumn(row[4], mysql_type(row[5], row[6], int(row[7]), int(row[9])), row[5], row[8])

    return _grouped(rows, database, column)


_OF_MYSQL = {
    "tinyint": "tinyint", "smallint": "smallint", "mediumint": "int", "int": "int", "bigint": "bigint",
    "float": "float", "double": "double", "date": "date", "year": "date", "datetime": "timestamp",
    "timestamp": "timestamp", "time": "timestamp", "binary": "binary", "varbinary": "binary", "tinyblob": "binary",
    "blob": "binary", "mediumblob": "binary", "longblob": "binary",
}  # fmt: skip
_UNSIGNED = {"tinyint": "smallint", "smallint": "int", "int": "bigint", "bigint": "decimal(20,0)"}
_MOST_DIGITS = 38


def mysql_type(column_type: str, data_type: str, precision: int, scale: int) -> str:
    """Return Hive's type of a column of MySQL, as Spark reads it by MySQL's driver.

    Args:
        column_type: such as `int(11) unsigned`.
        data_type: such as `int`.
        precision: digits of a number.
        scale: digits behind the point.
    """
    whole, kind = column_type.lower(), data_type.lower()
    if whole.startswith("tinyint(1)") or whole == "bit(1)":
        return "boolean"
    if kind == "bit":
        return "binary"
    if kind in {"decimal", "numeric"}:
        return f"decimal({precision},{scale})" if precision <= _MOST_DIGITS else "string"
    found = _OF_MYSQL.get(kind, "string")
    is_unsigned = re.search(r"\bunsigned\b", whole) is not None and kind != "mediumint"
    return _UNSIGNED.get(found, found) if is_unsigned else found


def _grouped(rows: Iterable[Any], database: str, column: Callable[[Any], RelationColumn]) -> list[Relation]:
    found = []
    for (schema, name, is_view, comment), some in groupby(rows, lambda row: row[:4]):
        found.append(Relation(database, schema, name, tuple(map(column, some)), bool(is_view), comment))
    return found
