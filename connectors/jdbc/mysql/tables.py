"""What the server's catalog says of tables, and our own tables."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from gluepot.connectors.jdbc.mysql.columns import TableColumn, quoted, unquoted
from gluepot.connectors.jdbc.mysql.session import Session
from gluepot.connectors.jdbc.publishing import COMMITS, REJECTS, TableName
from gluepot.core.errors import ConfigError

LOCKS = "gluepot_locks"
KEPT = "gluepot_kept"

_OWN = {
    COMMITS: """
id BINARY(32) PRIMARY KEY, query_id VARCHAR(255) NOT NULL, batch_id BIGINT NOT NULL, ctx TEXT NOT NULL,
target TEXT NOT NULL, record LONGTEXT NOT NULL, first_number BIGINT UNSIGNED NOT NULL,
at TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP, KEY (query_id, batch_id)""",
    REJECTS: """
number BIGINT UNSIGNED AUTO_INCREMENT PRIMARY KEY, id BINARY(32) NOT NULL, query_id VARCHAR(255) NOT NULL,
batch_id BIGINT NOT NULL, ctx TEXT NOT NULL, target TEXT NOT NULL, raw LONGBLOB, stream TEXT, shard TEXT, position TEXT,
reason TEXT, message LONGTEXT, KEY (id)""",
    LOCKS: "query_id VARCHAR(255) PRIMARY KEY",
    KEPT: """
name VARCHAR(64) PRIMARY KEY, id BINARY(32) NOT NULL, query_id VARCHAR(255) NOT NULL, batch_id BIGINT NOT NULL,
types LONGTEXT NOT NULL, KEY (query_id, batch_id), KEY (id)""",
}
_OPTIONS = "ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin"


def find_table(session: Session, schema: str, table: str) -> TableName:
    """Return the name of a table as the server spells it.

    Raises:
        ConfigError: the database does not exist, or the table is a view or cannot take part in a transaction.
    """
    if not session.rows("SELECT 1 FROM information_schema.SCHEMATA WHERE SCHEMA_NAME = %s", [schema]):
        raise ConfigError(
            f"There is no database {schema!r} at {session.endpoint.shown}, or the user may not use it; create it, or"
            " correct the name."
        )
    found = session.rows(
        "SELECT t.TABLE_SCHEMA, t.TABLE_NAME, t.TABLE_TYPE, t.ENGINE, e.TRANSACTIONS"
        " FROM information_schema.TABLES t LEFT JOIN information_schema.ENGINES e ON e.ENGINE = t.ENGINE"
        " WHERE t.TABLE_SCHEMA = %s AND t.TABLE_NAME = %s",
        [schema, table],
    )
    if not found:
        return TableName(quoted(schema), quoted(table), exists=False)
    its_schema, its_name, kind, engine, transactions = found[0]
    if "VIEW" in kind:
        raise ConfigError(f"{its_schema}.{its_name} is a view; write to the table behind it.")
    if transactions != "YES":
        raise ConfigError(
            f"{its_schema}.{its_name} has the engine {engine}, which knows no transactions, so a write to it could be"
            f" half done; change it with ALTER TABLE {its_name} ENGINE = InnoDB."
        )
    return TableName(quoted(its_schema), quoted(its_name), exists=True)


def make_own_tables(session: Session, schema: str) -> None:
    """Create our own tables in a database, given as it is quoted, where they are missing."""
    there = {
        name
        for (name,) in session.rows(
            "SELECT TABLE_NAME FROM information_schema.TABLES WHERE TABLE_SCHEMA = %s AND TABLE_NAME IN %s",
            [unquoted(schema), list(_OWN)],
        )
    }
    for name, columns in _OWN.items():
        if name not in there:
            session.run(f"CREATE TABLE IF NOT EXISTS {schema}.{name} ({columns}) {_OPTIONS}")


def columns_of(session: Session, name: TableName) -> list[TableColumn]:
    """Return the columns of a table in order."""
    rows = session.rows(
        "SELECT COLUMN_NAME, COLUMN_TYPE, DATA_TYPE, COALESCE(CHARACTER_SET_NAME, ''), COALESCE(COLLATION_NAME, ''),"
        " EXTRA FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = %s AND TABLE_NAME = %s ORDER BY ORDINAL_POSITION",
        [unquoted(name.schema), unquoted(name.table)],
    )
    found = []
    for column, whole, kind, charset, collation, extra in rows:
        said = str(extra).upper()
        is_generated = any(word in said.split() for word in ("VIRTUAL", "STORED", "PERSISTENT"))
        found.append(
            TableColumn(
                column, whole, kind, charset, collation, counts="AUTO_INCREMENT" in said, generated=is_generated
            )
        )
    return found


def unique_indexes(session: Session, name: TableName) -> Mapping[str, Sequence[str]]:
    """Return the columns of each unique index; a column of which the index has a part only does not count."""
    found: dict[str, list[str]] = defaultdict(list)
    for index, column, part in session.rows(
        "SELECT INDEX_NAME, COLUMN_NAME, SUB_PART FROM information_schema.STATISTICS"
        " WHERE TABLE_SCHEMA = %s AND TABLE_NAME = %s AND NON_UNIQUE = 0 ORDER BY INDEX_NAME, SEQ_IN_INDEX",
        [unquoted(name.schema), unquoted(name.table)],
    ):
        # An index of an expression has no column, and neither it nor a part of a column is a key.
        found[index].append(column if column and part is None else f"({column})")
    return found
