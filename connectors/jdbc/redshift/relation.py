"""Answers planning's questions about a table or query in Redshift, and unloads its rows to files."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import cast
from uuid import uuid4

from gluepot.connectors.jdbc.endpoint import JdbcEndpoint
from gluepot.connectors.jdbc.keys import Key, KeyColumn, Row
from gluepot.connectors.jdbc.questions import count_by_key, count_of_rows, newest_row
from gluepot.connectors.jdbc.redshift.authorization import authorization
from gluepot.connectors.jdbc.redshift.catalog import columns_of, find_table, primary_key
from gluepot.connectors.jdbc.redshift.columns import Column
from gluepot.connectors.jdbc.redshift.names import quoted
from gluepot.connectors.jdbc.redshift.session import Session, connection
from gluepot.connectors.jdbc.redshift.unloaded import UnloadedFile
from gluepot.connectors.jdbc.redshift_options import RedshiftOptions
from gluepot.connectors.jdbc.relation import Query, Table, find_column
from gluepot.connectors.jdbc.settings import HashPartitions, RangePartitions
from gluepot.connectors.jdbc.sql import Bound, Sql, any_of, sql
from gluepot.core.errors import ConfigError, PermanentError
from gluepot.core.logging import get_logger
from gluepot.core.storage import open_storage

log = get_logger(__name__)


@dataclass(frozen=True, slots=True)
class RedshiftRelation:
    """A table or query within a transaction; answers `gluepot.connectors.jdbc.plan.Relation`.

    Args:
        session: the transaction.
        name: name in messages and bookmarks: the table with its schema, or the query.
        source: the table or query as it is written in a statement.
        columns: its columns.
        primary_key: names of the primary key's columns; empty if there is none.
    """

    session: Session
    name: str
    source: str
    columns: tuple[Column, ...]
    primary_key: tuple[str, ...] = ()

    def key(self, names: Sequence[str], *, descending: bool) -> Key:
        """Return the named columns as a key.

        Raises:
            ConfigError: there is no such column.
        """
        by_name = {column.name: column for column in self.columns}
        found = [by_name[find_column(name, "jobBookmarkKeys", list(by_name), self.name)] for name in names]
        return Key(tuple(KeyColumn(column.name, column.type, column.family) for column in found), descending)

    def cuts(self, partitions: HashPartitions | RangePartitions | None) -> list[Sql]:
        """Return no conditions: UNLOAD divides the rows among files by itself."""
        if partitions is not None:
            log.info("option_without_effect", table=self.name, reason="UNLOAD divides the rows among files by itself")
        return []

    def quoted(self, names: Sequence[str]) -> list[str]:
        """Return names of columns, quoted for a statement."""
        return [quoted(name) for name in names]

    def newest(self, key: Key, where: Sql) -> Row | None:
        """Return the key of the last row in the key's order, ignoring rows with a null in their key."""
        rows = self.session.rows(rendered(newest_row(key, self.quoted(key.names), "varchar", self.source, where)))
        return cast("Row", rows[0]) if rows else None

    def count(self, where: Sql) -> int:
        """Return the number of rows."""
        return cast("int", self.session.rows(rendered(count_of_rows(self.source, where)))[0][0])

    def keys(self, key: Key, where: Sql) -> list[tuple[Row, int]]:
        """Return every key that occurs, with its number of rows."""
        rows = self.session.rows(rendered(count_by_key(self.quoted(key.names), "varchar", self.source, where)))
        return [(cast("Row", row[:-1]), cast("int", row[-1])) for row in rows]

    def unload(self, conditions: Sequence[Sql], options: RedshiftOptions, folder: str) -> list[UnloadedFile]:
        """Write the rows of all conditions to files; return the files.

        Args:
            conditions: no row fulfils two of them; an empty condition stands for all rows.
            options: the temporary folder and the right to write there.
            folder: where in the temporary folder.

        Raises:
            PermanentError: the files hold another number of rows than Redshift says.
        """
        if not conditions:
            return []
        storage = open_storage(options.temp_dir)
        where = sql(" WHERE ", any_of(conditions)) if all(one.parts for one in conditions) else sql()
        query = rendered(
            sql(f"SELECT {', '.join(column.expression for column in self.columns)} FROM {self.source}", where)
        )
        self.session.run(unload(query, f"{storage.url}/{folder}/", authorization(options.iam_role)))
        ((rows,),) = self.session.rows("SELECT pg_last_unload_count()")
        if not rows:
            return []
        entries = json.loads(storage.get(f"{folder}/manifest"))["entries"]
        files = [UnloadedFile(_below(one["url"], storage.url), one["meta"]["content_length"]) for one in entries]
        counted = [one["meta"]["record_count"] for one in entries if "record_count" in one["meta"]]
        if len(counted) == len(entries) and sum(counted) != rows:
            raise PermanentError(f"Redshift unloaded {rows} rows of {self.name}, and its manifest has {sum(counted)}.")
        return files


@contextmanager
def open_relation(endpoint: JdbcEndpoint, wanted: Table | Query) -> Iterator[RedshiftRelation]:
    """Open a table or query in a transaction that sees one state of the database.

    Raises:
        ConfigError: the table does not exist, or the query is wrong.
        TransientError: the server cannot be reached.
    """
    with connection(endpoint) as begun:
        begun.run("BEGIN")
        try:
            yield _opened(begun, wanted)
        finally:
            begun.roll_back()


def _opened(begun: Session, wanted: Table | Query) -> RedshiftRelation:
    if isinstance(wanted, Query):
        # A table of its own tells the types with their digits and lengths, which the client's description lacks.
        shape = f"gluepot_shape_{uuid4().hex[:16]}"
        begun.run(f"CREATE TEMP TABLE {shape} AS SELECT * FROM ({wanted.text}) AS gluepot_query LIMIT 0")
        ((schema,),) = begun.rows(
            "SELECT quote_ident(n.nspname) FROM pg_namespace n JOIN pg_class c ON c.relnamespace = n.oid"
            " WHERE c.relname = %s",
            [shape],
        )
        of_query = columns_of(begun, str(schema), shape)
        columns = tuple(Column(name, kind) for name, kind in of_query.items())
        return RedshiftRelation(begun, wanted.text, f"({wanted.text}) AS gluepot_query", columns)
    name = find_table(begun, wanted.name)
    found = columns_of(begun, name.schema, name.table)
    if not found:
        raise ConfigError(
            f"The table {wanted.name!r} is not there at {begun.endpoint.shown}; correct dbtable, and name the schema."
        )
    columns = tuple(Column(column, kind) for column, kind in found.items())
    shown, source = wanted.shown(name.qualified), wanted.source(name.qualified)
    return RedshiftRelation(begun, shown, source, columns, primary_key(begun, name))


def unload(query: str, to: str, authorization: str) -> str:
    """Return the statement that writes the rows of a query to files of Parquet, and a manifest beside them."""
    return f"UNLOAD ({text_literal(query)}) TO '{to}' {authorization} FORMAT AS PARQUET MANIFEST"


def text_literal(text: str) -> str:
    """Return a text in quotes; Redshift reads a backslash in it as the beginning of an escape."""
    escaped = text.replace("\\", "\\\\").replace("'", "''")
    return f"'{escaped}'"


def rendered(statement: Sql) -> str:
    """Return the text of a statement, with its values in it, because UNLOAD takes no values beside its query."""

    def placed(_: int, bound: Bound) -> str:
        return f"{text_literal(bound.text)}::{bound.type}"

    return statement.render(placed)


def _below(url: str, root: str) -> str:
    if not url.startswith(f"{root}/"):
        raise PermanentError(f"Redshift has unloaded to {url}, which is not below {root}.")
    return url[len(root) + 1 :]
