"""The worker's side of a write to MySQL or MariaDB.

Here a statement that makes a table commits, so each table and each load is a transaction of its own. After an error the
task drops its tables; what a killed task leaves is dropped by the next attempt of the write.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property

import pyarrow as pa

from gluepot.connectors.jdbc.endpoint import JdbcEndpoint
from gluepot.connectors.jdbc.mysql.columns import quoted
from gluepot.connectors.jdbc.mysql.session import Session, session
from gluepot.connectors.jdbc.mysql.stored import (
    TEXT,
    WHOLE,
    insert_rows,
    insert_start,
    load_lines,
    load_statement,
    pieces,
    readable,
    staged_type,
    stored,
    unfit,
)
from gluepot.connectors.jdbc.publishing import REFUSED
from gluepot.connectors.jdbc.staging import ORDINAL, Stored, stage_rows
from gluepot.connectors.values import CommitKey, ManifestPart
from gluepot.core.errors import ConfigError, EtlError
from gluepot.frames.chunk import Chunk, ErrorRecord
from gluepot.frames.json_text import json_bytes
from gluepot.frames.rows import rows

# Text of one load, and of one INSERT; larger ones were no faster.
_LOAD_BYTES = 8 << 20
_INSERT_BYTES = 2 << 20
# Rows are made text in such pieces, whose offsets are small numbers even if each row is large.
_ROWS = 50_000
# Beside the rows an INSERT has names of columns.
_BESIDE_BYTES = 1 << 16


@dataclass(frozen=True, slots=True)
class StagingSink:
    """Stages rows for a table; a `TaskSink`.

    Args:
        endpoint: endpoint of the database.
        key: commit key of the write.
        schema: database of the table, quoted; staging tables lie in the same one.
        table: the table, as it is quoted.
    """

    endpoint: JdbcEndpoint
    key: CommitKey
    schema: str
    table: str

    def write(self, chunks: Iterator[Chunk], task: int, attempt: str) -> ManifestPart:  # noqa: ARG002  names are unique
        """Stage every row and every error record.

        Raises:
            ConfigError: the user may not create tables there.
            TransientError: the server cannot be reached.
            Exception: what the chunks raise.
        """
        with session(self.endpoint) as begun:
            tables = _Tables(begun, self.schema)
            try:
                return stage_rows(map(_fitting, chunks), tables, key=self.key, target=self.table, task=task)
            except BaseException:
                with suppress(EtlError):
                    for name in tables.made:
                        begun.run(f"DROP TABLE IF EXISTS {self.schema}.{name}")
                raise


def _fitting(chunk: Chunk) -> Chunk:
    """Return a chunk whose rows with values that MySQL has not are error records."""
    bad = unfit(chunk.batch)
    if not bad:
        return chunk
    found = rows(Chunk(readable(chunk.batch.take(pa.array([*bad], pa.int64())))))
    errors = [
        ErrorRecord(json_bytes(row), REFUSED, f"MySQL cannot hold it: {said}.")
        for row, said in zip(found, bad.values(), strict=True)
    ]
    kept = chunk.filtered(pa.array([at not in bad for at in range(chunk.batch.num_rows)]))
    return replace(kept, errors=[*kept.errors, *errors])


@dataclass
class _Tables:
    session: Session
    schema: str
    ordinal_type: str = WHOLE
    text_type: str = TEXT
    made: list[str] = field(default_factory=list)

    @cached_property
    def _loads(self) -> bool:
        """Whether the server takes LOAD DATA LOCAL, which is faster."""
        return bool(self.session.rows("SELECT @@GLOBAL.local_infile")[0][0])

    @cached_property
    def _most_bytes(self) -> int:
        return int(self.session.rows("SELECT @@max_allowed_packet")[0][0])

    def stored(self, batch: pa.RecordBatch) -> Stored:
        return stored(batch)

    def fill(self, name: str, types: Mapping[str, str], batches: Iterator[pa.RecordBatch]) -> int:
        columns = ", ".join(f"{quoted(column)} {staged_type(kind)}" for column, kind in types.items())
        key = f", PRIMARY KEY ({ORDINAL})" if ORDINAL in types else ""
        self.made.append(name)
        table = f"{self.schema}.{name}"
        self.session.run(f"CREATE TABLE {table} ({columns}{key}) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4")
        rows = 0
        for batch in batches:
            for start in range(0, batch.num_rows, _ROWS):
                self._put(table, types, batch.slice(start, _ROWS))
            rows += batch.num_rows
        return rows

    def _put(self, table: str, types: Mapping[str, str], batch: pa.RecordBatch) -> None:
        names = batch.schema.names
        if self._loads:
            statement = load_statement(table, types, names)
            added = sum(self.session.load(statement, lines) for lines in pieces(load_lines(batch), _LOAD_BYTES))
        else:
            start, most = insert_start(table, names), self._most_bytes - _BESIDE_BYTES
            added = 0
            for rows in pieces(insert_rows(batch), min(_INSERT_BYTES, most)):
                if len(rows) > most:
                    raise ConfigError(
                        f"A row has {len(rows)} bytes, more than the server takes; set its max_allowed_packet, now"
                        f" {self._most_bytes}, to twice as much, or its local_infile to ON."
                    )
                added += self.session.send(start + bytes(rows[:-1]))
        if added != batch.num_rows:
            raise ConfigError(
                f"The server took {added} of {batch.num_rows} rows at {self.session.endpoint.shown}; look for a limit"
                " of its own, or for a proxy that changes statements."
            )
