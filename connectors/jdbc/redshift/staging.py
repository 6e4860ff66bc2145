"""The worker's side of a write: rows become files of Parquet in the temporary folder, which nobody reads yet."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any
from uuid import uuid4

import numpy as np
import pyarrow as pa
from pyarrow import parquet

from gluepot.connectors.jdbc.redshift.statements import ORDINAL
from gluepot.connectors.jdbc.redshift.types import BINARY, TEXT, stored
from gluepot.connectors.values import CommitKey, ManifestPart, StagedFile, dump_errors
from gluepot.core.storage import Storage, open_storage
from gluepot.frames.chunk import Chunk, ErrorRecord
from gluepot.frames.schema import merge_schemas
from gluepot.frames.sizes import memory_bytes

_ROWS_PER_TASK = 1 << 40
# COPY reads files in parallel and likes them between 1 MB and 1 GB, compressed. A task keeps one in memory.
_FILE_BYTES = 128 << 20
_MESSAGE_CHARACTERS = 10_000
REJECT_KINDS = {
    "raw": BINARY,
    "stream": TEXT,
    "shard": TEXT,
    "position": TEXT,
    "reason": TEXT,
    "message": TEXT,
}


def staging_folder(key: CommitKey) -> str:
    """Return the folder of one write's files, which is the same for all batches."""
    write = f"{key.query_id}/{key.ctx}/{key.target}"
    return f"gluepot/{hashlib.blake2b(write.encode(), digest_size=8).hexdigest()}"


@dataclass(frozen=True, slots=True)
class RedshiftSink:
    """Stages rows for a table; a `TaskSink`.

    Args:
        temp_dir: URL of the temporary folder.
        key: commit key of the write.
        table: the table, as it is quoted.
        numbered: whether the order of the rows is staged, too, as an upsert needs it.
    """

    temp_dir: str
    key: CommitKey
    table: str
    numbered: bool = False

    def write(self, chunks: Iterator[Chunk], task: int, attempt: str) -> ManifestPart:  # noqa: ARG002  names are unique
        """Stage every row and every error record.

        Raises:
            TransientError: S3 cannot be reached.
            Exception: what the chunks raise; then nothing is left.
        """
        first = task * _ROWS_PER_TASK
        stage = _Stage(open_storage(self.temp_dir), staging_folder(self.key), self.table, first, self.numbered)
        rejected: list[ErrorRecord] = []
        try:
            for chunk in chunks:
                rejected.extend(chunk.errors)
                rejected.extend(stage.add(chunk.batch))
            stage.end_file()
            if rejected:
                stage.add_rejects(rejected)
        except BaseException:
            stage.storage.delete([file.staged for file in stage.files])
            raise
        return ManifestPart(
            files=stage.files,
            schema=None if stage.seen is None else stage.seen.serialize().to_pybytes(),
            rows_out=stage.rows,
            rejected=dict(Counter(error.reason for error in rejected)),
        )


@dataclass(slots=True)
class _Stage:
    storage: Storage
    folder: str
    table: str
    first: int
    numbered: bool
    rows: int = 0
    seen: pa.Schema | None = None
    files: list[StagedFile] = field(default_factory=list)
    kinds: dict[str, str] = field(default_factory=dict)
    nulls: set[str] = field(default_factory=set)
    batches: list[pa.RecordBatch] = field(default_factory=list)
    collected_bytes: int = 0

    def add(self, batch: pa.RecordBatch) -> Sequence[ErrorRecord]:
        """Add rows; return those that Redshift cannot hold."""
        if not batch.num_rows:
            return []
        self.seen = batch.schema if self.seen is None else merge_schemas(self.seen, batch.schema)
        made = stored(batch)
        if made.count:
            if self.batches and made.kinds != self.kinds:
                self.end_file()
            self.kinds = made.kinds
            self.nulls.update(name for name in batch.schema.names if name not in made.kinds)
            self.batches.append(self._numbered(made.rows, made.count) if self._is_numbered(made.kinds) else made.rows)
            self.rows += made.count
            self.collected_bytes += memory_bytes(self.batches[-1])
            if self.collected_bytes >= _FILE_BYTES:
                self.end_file()
        return made.rejected

    def _is_numbered(self, kinds: dict[str, str]) -> bool:
        return self.numbered or not kinds  # a file without any column would have no rows

    def _numbered(self, rows: pa.RecordBatch, count: int) -> pa.RecordBatch:
        first = self.first + self.rows
        ordinals = pa.array(np.arange(first, first + count, dtype=np.int64))
        return pa.RecordBatch.from_arrays([*rows.columns, ordinals], names=[*rows.schema.names, ORDINAL])

    def end_file(self) -> None:
        """Send the rows collected so far."""
        if self.batches:
            is_numbered = self._is_numbered(self.kinds)
            encoding = {"kinds": self.kinds, "nulls": sorted(self.nulls), "numbered": is_numbered}
            self.files.append(self._sent(self.batches, encoding, rejects=False))
            self.batches, self.collected_bytes = [], 0

    def add_rejects(self, errors: Sequence[ErrorRecord]) -> None:
        """Send error records."""
        rows = dump_errors(
            [replace(one, message=one.message[:_MESSAGE_CHARACTERS].replace("\0", "")) for one in errors]
        )
        self.files.append(self._sent([rows], {"kinds": REJECT_KINDS, "numbered": False}, rejects=True))

    def _sent(self, batches: Sequence[pa.RecordBatch], encoding: Mapping[str, Any], *, rejects: bool) -> StagedFile:
        table = pa.Table.from_batches(batches)
        sink = pa.BufferOutputStream()
        # INT96 is how Spark writes a time stamp, and the form that COPY reads whatever the version of Parquet.
        parquet.write_table(table, sink, compression="snappy", use_deprecated_int96_timestamps=True)
        content = sink.getvalue().to_pybytes()
        key = f"{self.folder}/{uuid4().hex}.parquet"
        self.storage.put(key, content)
        return StagedFile(key, self.table, len(content), table.num_rows, 0, rejects, encoding)
