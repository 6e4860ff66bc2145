"""The worker's side of a write to PostgreSQL.

A staging table is unlogged, so a crash of the server empties it. That is why publishing counts its rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import chain

import pyarrow as pa

from gluepot.connectors.jdbc.endpoint import JdbcEndpoint
from gluepot.connectors.jdbc.postgresql.columns import quoted
from gluepot.connectors.jdbc.postgresql.session import Session, session
from gluepot.connectors.jdbc.postgresql.stored import STAGED_AS, TEXT, stored
from gluepot.connectors.jdbc.staging import Stored, noting, stage_rows
from gluepot.connectors.values import CommitKey, ManifestPart
from gluepot.core.errors import EtlError
from gluepot.frames.chunk import Chunk


@dataclass(frozen=True, slots=True)
class StagingSink:
    """Stages rows for a table; a `TaskSink`.

    Args:
        endpoint: endpoint of the database.
        key: commit key of the write.
        schema: schema of the table, quoted; staging tables lie in the same schema.
        table: the table, as it is quoted.
    """

    endpoint: JdbcEndpoint
    key: CommitKey
    schema: str
    table: str

    def write(self, chunks: Iterator[Chunk], task: int, attempt: str) -> ManifestPart:  # noqa: ARG002  names are unique
        """Stage every row and every error record, in one transaction.

        Raises:
            ConfigError: the user may not create tables there.
            TransientError: the server cannot be reached.
            Exception: what the chunks raise.
        """
        raised: list[Exception] = []
        try:
            with session(self.endpoint, reading=False) as begun:
                tables = _UnloggedTables(begun, self.schema, self.table)
                return stage_rows(noting(chunks, raised), tables, key=self.key, target=self.table, task=task)
        except EtlError as error:
            if raised:  # the database's driver knows it only as text, and reports it as an error of its own
                raise raised[0] from error
            raise


@dataclass(frozen=True, slots=True)
class _UnloggedTables:
    session: Session
    schema: str
    target: str
    ordinal_type: str = "int8"
    text_type: str = TEXT

    def stored(self, batch: pa.RecordBatch) -> Stored:
        return stored(batch, self.target)

    def fill(self, name: str, types: Mapping[str, str], batches: Iterator[pa.RecordBatch]) -> int:
        columns = ", ".join(f"{quoted(column)} {STAGED_AS.get(kind, kind)}" for column, kind in types.items())
        self.session.run(f"CREATE UNLOGGED TABLE {self.schema}.{name} ({columns})")
        first = next(batches)
        reader = pa.RecordBatchReader.from_batches(first.schema, chain([first], batches))
        return self.session.ingest(self.schema, name, reader)
