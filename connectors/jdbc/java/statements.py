"""The statements of a write, as text. Pure."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from gluepot.connectors.jdbc.java.dialects import BIGINT, BINARY, TEXT, WriteDialect
from gluepot.connectors.jdbc.publishing import COMMITS, REJECTS
from gluepot.connectors.jdbc.scripts import split
from gluepot.connectors.jdbc.staging import ERROR_COLUMNS
from gluepot.connectors.values import CommitKey
from gluepot.core.errors import ConfigError

LOCKS = "gluepot_locks"
_ROWS_ONLY = frozenset({"insert", "update", "delete", "merge", "select", "with"})
_PART = re.compile(r'\s*(?:"((?:[^"]|"")+)"|\[((?:[^\]]|\]\])+)\]|`([^`]+)`|([^\s."\[\]`]+))\s*(\.|$)')
_MOST_PARTS = 3

# Kinds, and types of ours: `key` is a text of 255 letters, `name` one of 2,000, `long` one of any length.
_OWN = {
    COMMITS: {
        "id": "key",
        "write_id": "key",
        "query_id": "key",
        "batch_id": BIGINT,
        "ctx": "name",
        "target": "name",
        "record": "long",
        "kept": "long",
    },
    REJECTS: {
        "id": "key",
        "query_id": "key",
        "batch_id": BIGINT,
        "ctx": "name",
        "target": "name",
        **dict.fromkeys(ERROR_COLUMNS, "name"),
        "raw": BINARY,
        "message": "long",
    },
    LOCKS: {"query_id": "key", "taken": BIGINT},
}
_PRIMARY_KEYS = {COMMITS: "id", LOCKS: "query_id"}
OWN_TABLES = tuple(_OWN)


@dataclass(frozen=True, slots=True)
class NamePart:
    """A part of the name of a table.

    Args:
        text: without quotes.
        quoted: whether it was quoted, and so keeps its letter case.
    """

    text: str
    quoted: bool


def name_parts(name: str) -> tuple[NamePart | None, NamePart | None, NamePart]:
    """Return catalog, schema and table of a name; None for a part that it does not have.

    Raises:
        ConfigError: the name has another form than `table`, `schema.table` or `database.schema.table`.
    """
    parts: list[NamePart] = []
    at = 0
    while at < len(name) and (found := _PART.match(name, at)):
        double, square, back, plain, dot = found.groups()
        inner = (double or "").replace('""', '"') or (square or "").replace("]]", "]") or back or ""
        parts.append(NamePart(inner or plain, quoted=not plain))
        at = found.end()
        if not dot:
            break
    if at < len(name) or name.rstrip().endswith(".") or not 1 <= len(parts) <= _MOST_PARTS:
        raise ConfigError(f"dbtable is {name!r}, which is not the name of a table; write table or schema.table.")
    catalog, schema, table = [None] * (_MOST_PARTS - len(parts)) + parts
    assert table is not None
    return catalog, schema, table


def require_rows_only(text: str, option: str) -> list[str]:
    """Return the script's own statements if each of them can only change rows.

    Most databases commit whenever a table is made or changed, and then a part of a write would be published.

    Args:
        text: statements, separated by semicolons.
        option: `preactions` or `postactions`, for the message.

    Raises:
        ConfigError: there is another statement.
    """
    found = split(text)
    for statement in found:
        word = re.match(r"\w*", statement.lstrip("("))
        if word is None or word[0].lower() not in _ROWS_ONLY:
            raise ConfigError(
                f"{option} has {statement[:40]!r}, which may commit a part of the write; only INSERT, UPDATE, DELETE,"
                " MERGE and SELECT can run here, so run it apart from the write."
            )
    return found


def require_one_machine(master: str, database: str) -> None:
    """Check that all tasks run on this machine, so that they reach its folders.

    Args:
        master: Spark's master.
        database: the database, for the message.

    Raises:
        ConfigError: tasks run on other machines.
    """
    if not master.startswith("local") or master.startswith("local-cluster"):
        raise ConfigError(
            f"A write to {database} needs a folder that all machines reach for rows that are not published yet; give"
            " the job --TempDir."
        )


def record_id(key: CommitKey, target: str) -> str:
    """Return the primary key of a write's record: 64 characters, equal for equal keys and tables."""
    return _digest([key.query_id, key.batch_id, key.ctx, target])


def write_id(key: CommitKey, target: str) -> str:
    """Return what the records of all batches of one write have in common."""
    return _digest([key.query_id, key.ctx, target])


def _digest(parts: Sequence[object]) -> str:
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def own_type(dialect: WriteDialect, table: str, column: str) -> str:
    """Return the type of a column of a table of ours."""
    types = {"key": dialect.key_text, "long": dialect.long_text, "name": dialect.key_text.replace("255", "2000")}
    kind = _OWN[table][column]
    return types.get(kind) or dialect.type_of(kind)


def own_columns(table: str) -> list[str]:
    """Return the columns of a table of ours."""
    return list(_OWN[table])


def create_own(dialect: WriteDialect, table: str, qualified: str, name: Mapping[str, str]) -> str:
    """Return the statement that creates a table of ours.

    Args:
        dialect: of the database.
        table: which one.
        qualified: its name with the schema, quoted.
        name: each column as it is quoted.
    """
    key = _PRIMARY_KEYS.get(table)
    columns = [
        f"{name[column]} {own_type(dialect, table, column)}{' NOT NULL' if column == key else ''}"
        for column in _OWN[table]
    ]
    if key:
        columns.append(f"PRIMARY KEY ({name[key]})")
    return f"CREATE TABLE {qualified} ({', '.join(columns)})"


def create_table(dialect: WriteDialect, qualified: str, kinds: Mapping[str, str], keys: Collection[str]) -> str:
    """Return the statement that creates the table of a write.

    Args:
        dialect: of the database.
        qualified: its name with the schema, quoted.
        kinds: the kind of each column.
        keys: columns of the primary key; none for a table without one.
    """
    wanted = {key.lower() for key in keys}
    columns = []
    for name, kind in kinds.items():
        is_key = name.lower() in wanted
        declared = dialect.key_text if is_key and kind == TEXT else dialect.type_of(kind)
        columns.append(f"{dialect.quoted(name)} {declared}{' NOT NULL' if is_key else ''}")
    if keys:
        named = [name for name in kinds if name.lower() in wanted]
        columns.append(f"PRIMARY KEY ({', '.join(map(dialect.quoted, named))})")
    return f"CREATE TABLE {qualified} ({', '.join(columns)})"


def create_stage(
    dialect: WriteDialect,
    stage: str,
    qualified: str,
    columns: Sequence[str],
    ordinal: str,
    copies: Mapping[str, str] = MappingProxyType({}),
) -> str:
    """Return the statement that makes an empty table with some columns of another one, and an integer.

    The columns come from the empty side of a join, so that they take nulls and no number is given by the database.

    Args:
        dialect: of the database.
        stage: the table to make, as it is quoted.
        qualified: the table that has the columns, as it is quoted.
        columns: the columns, as they are quoted.
        ordinal: name of the integer, as it is quoted.
        copies: further columns, as they are quoted, with their kinds.
    """
    added = {ordinal: BIGINT, **copies}
    listed = ", ".join(
        [
            *(f"u.{one}" for one in columns),
            *(
                f"CAST({0 if name == ordinal else 'NULL'} AS {dialect.type_of(kind)}) AS {name}"
                for name, kind in added.items()
            ),
        ]
    )
    source = f"{qualified} t LEFT JOIN {qualified} u ON 1 = 0 WHERE 1 = 0"
    return dialect.staged_as.format(table=stage, columns=listed, source=source)


def insert(qualified: str, stage: str, columns: Sequence[str], ordinal: str) -> str:
    """Return the statement that appends the staged rows; for the arguments see `create_stage`."""
    listed = ", ".join(columns)
    return f"INSERT INTO {qualified} ({listed}) SELECT {listed} FROM {stage} ORDER BY {ordinal}"


def merge(
    dialect: WriteDialect, qualified: str, stage: str, columns: Sequence[str], keys: Sequence[str], ordinal: str
) -> str:
    """Return the statement of an upsert, in which the last row of a key counts; see `create_stage`.

    Args:
        dialect: of the database.
        qualified: the table.
        stage: the staging table.
        columns: all columns of the rows.
        keys: the columns of the key.
        ordinal: the integer that orders the rows.
    """
    listed, by = ", ".join(columns), ", ".join(keys)
    nth = f"ROW_NUMBER() OVER (PARTITION BY {by} ORDER BY {ordinal} DESC) AS gluepot_nth"
    newest = f"SELECT {listed} FROM (SELECT {listed}, {nth} FROM {stage}) r WHERE gluepot_nth = 1"
    same = " AND ".join(f"t.{one} = s.{one}" for one in keys)
    changed = ", ".join(f"{one} = s.{one}" for one in columns if one not in keys)
    update = f" WHEN MATCHED THEN UPDATE SET {changed}" if changed else ""
    values = ", ".join(f"s.{one}" for one in columns)
    return (
        f"MERGE INTO {qualified} t USING ({newest}) s ON ({same}){update}"
        f" WHEN NOT MATCHED THEN INSERT ({listed}) VALUES ({values}){dialect.merge_end}"
    )


def delete_equal(dialect: WriteDialect, qualified: str, stage: str, columns: Mapping[str, int]) -> str:
    """Return the statement that deletes the rows which are equal to a staged one in all columns that were written.

    Args:
        dialect: of the database.
        qualified: the table.
        stage: the staging table.
        columns: the columns, as they are quoted, with the number of the type in `java.sql.Types`.
    """
    same = " AND ".join(dialect.same(f"{qualified}.{one}", f"s.{one}", kind) for one, kind in columns.items())
    return f"DELETE FROM {qualified} WHERE EXISTS (SELECT 1 FROM {stage} s WHERE {same})"
