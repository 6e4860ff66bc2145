"""PostgreSQL as a batch source: each task reads the result of one query as chunks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pyarrow as pa

from gluepot.connectors.jdbc.endpoint import JdbcEndpoint
from gluepot.connectors.jdbc.postgresql.columns import Column, arrow_schema, require_flat, typed
from gluepot.connectors.jdbc.postgresql.session import session
from gluepot.connectors.jdbc.sql import Sql, sql
from gluepot.frames.chunk import Chunk


@dataclass(frozen=True, slots=True)
class JdbcSplit:
    """The rows that one task reads.

    Args:
        where: condition for its rows; empty for all rows.
    """

    where: Sql

    @property
    def size_bytes(self) -> int:
        """Zero, because the size is not known beforehand."""
        return 0


@dataclass(frozen=True, slots=True)
class PostgresqlSource:
    """Reads rows of a table or query as Arrow, by COPY.

    Args:
        endpoint: the database.
        source: the table or query as it is written in a statement.
        columns: its columns.
        snapshot: the state of the database that planning saw; None for the newest at the time of reading.
    """

    endpoint: JdbcEndpoint
    source: str
    columns: tuple[Column, ...]
    snapshot: str | None = None

    @property
    def guarantee(self) -> str:
        """The delivery guarantee."""
        return "Every row of the planned key ranges is read, as it is at the time of reading."

    @property
    def schema(self) -> pa.Schema:
        """Columns of every chunk."""
        return arrow_schema(self.columns)

    def read(self, split: JdbcSplit) -> Iterator[Chunk]:
        """Yield the rows of a split.

        Raises:
            ConfigError: the table or one of its columns is gone, or the user may not read it.
            PermanentError: a value does not fit its Arrow type, or an array has several dimensions.
            TransientError: the server cannot be reached.
        """
        schema = self.schema
        relation = "the query" if self.source.startswith("(") else self.source
        lists = [column for column in self.columns if pa.types.is_list(column.arrow_type)]
        asked = ", ".join([*(column.expression for column in self.columns), *(one.is_nested for one in lists)])
        where = sql(" WHERE ", split.where) if split.where.parts else sql()
        with session(self.endpoint, snapshot=self.snapshot) as begun:
            for batch in begun.batches(sql(f"SELECT {asked} FROM {self.source}", where)):
                require_flat(batch, lists, relation)
                yield Chunk(typed(batch.select(range(len(self.columns))), self.columns, schema, relation))
