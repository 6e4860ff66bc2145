"""The worker's side of a write: writes rows to staging tables, which nobody reads yet.

A staging table is for a database what a staged file is for a folder, so a `StagedFile` describes it: its name, the
target table and the number of rows. It is unlogged, so a crash of the server empties it. That is why publishing counts
its rows.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, groupby
from uuid import uuid4

import pyarrow as pa

from gluepot.connectors.jdbc.endpoint import JdbcEndpoint
from gluepot.connectors.jdbc.postgresql.columns import quoted
from gluepot.connectors.jdbc.postgresql.session import Session, session
from gluepot.connectors.jdbc.postgresql.stored import JSON, stored
from gluepot.connectors.ports import CommitKey, ManifestPart, StagedFile, dump_errors
from gluepot.frames.chunk import Chunk, ErrorRecord
from gluepot.frames.schema import merge_schemas

PREFIX = "gluepot_stage_"
ORDINAL = "gluepot_ordinal"
_ROWS_PER_TASK = 1 << 40


def staging_prefix(key: CommitKey) -> str:
    """Return the prefix of the names of one write's staging tables, which is the same for all batches."""
    write = f"{key.query_id}/{key.ctx}/{key.target}"
    return f"{PREFIX}{hashlib.blake2b(write.encode(), digest_size=8).hexdigest()}_"


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
        """
        with session(self.endpoint, reading=False) as begun:
            stage = _Stage(begun, self, task)
            rejected: list[ErrorRecord] = []
            rows = stage.add_all(chunk.batch for chunk in _aside(chunks, rejected))
            files = [*stage.files]
            if rejected:
                files.append(stage.add_rejects(rejected))
            return ManifestPart(
                files=files,
                schema=None if stage.seen is None else stage.seen.serialize().to_pybytes(),
                rows_out=rows,
                rejected=dict(Counter(error.reason for error in rejected)),
            )


def _aside(chunks: Iterator[Chunk], rejected: list[ErrorRecord]) -> Iterator[Chunk]:
    for chunk in chunks:
        rejected.extend(chunk.errors)
        yield chunk


@dataclass(slots=True)
class _Stage:
    session: Session
    sink: StagingSink
    task: int
    rows: int = 0
    seen: pa.Schema | None = None
    files: list[StagedFile] = field(default_factory=list)

    def add_all(self, batches: Iterator[pa.RecordBatch]) -> int:
        """Write consecutive batches of one schema to one staging table each; return the number of rows."""
        given = (batch for batch in batches if batch.num_rows)
        for types, run in groupby(map(self._numbered, given), key=lambda one: one[1]):
            self._ingest(types, (rows for rows, _ in run), self.sink.table, rejects=False)
        return self.rows

    def add_rejects(self, errors: Sequence[ErrorRecord]) -> StagedFile:
        rows, types = stored(dump_errors(errors))
        columns = {name: types.get(name, "text") for name in dump_errors(()).schema.names}
        whole = [rows.column(name) if name in types else pa.nulls(rows.num_rows, pa.string()) for name in columns]
        return self._ingest(
            columns, iter([pa.RecordBatch.from_arrays(whole, names=list(columns))]), self.sink.table, rejects=True
        )

    def _numbered(self, batch: pa.RecordBatch) -> tuple[pa.RecordBatch, dict[str, str]]:
        self.seen = batch.schema if self.seen is None else merge_schemas(self.seen, batch.schema)
        rows, types = stored(batch)
        first = self.task * _ROWS_PER_TASK + self.rows
        self.rows += batch.num_rows
        ordinals = pa.array(range(first, first + batch.num_rows), pa.int64())
        return rows.append_column(ORDINAL, ordinals), {**types, ORDINAL: "int8"}

    def _ingest(
        self, types: dict[str, str], batches: Iterator[pa.RecordBatch], final: str, *, rejects: bool
    ) -> StagedFile:
        name = f"{staging_prefix(self.sink.key)}{uuid4().hex[:16]}"
        # JSON is sent as text, because the driver cannot send jsonb.
        columns = ", ".join(f"{quoted(column)} {'text' if kind == JSON else kind}" for column, kind in types.items())
        self.session.run(f"CREATE UNLOGGED TABLE {self.sink.schema}.{name} ({columns})")
        first = next(batches)
        reader = pa.RecordBatchReader.from_batches(first.schema, chain([first], batches))
        rows = self.session.ingest(self.sink.schema, name, reader)
        staged = StagedFile(name, final, 0, rows, 0, rejects, {"types": types})
        if not rejects:
            self.files.append(staged)
        return staged
