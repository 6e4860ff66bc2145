"""Rejected records to a file of their own, Parquet under another suffix so that no table reader takes it for data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import pyarrow as pa
import pyarrow.parquet as pq

from gluepot.connectors.files.sink.staging import Stage, StagedOutput
from gluepot.connectors.values import StagedFile, dump_errors
from gluepot.frames.chunk import ErrorRecord
from gluepot.frames.sizes import memory_bytes

_GATHERED_BYTES = 16 << 20


class RejectsFile:
    """The rejects file of one task; it is opened with the first rejected record."""

    def __init__(self, stage: Stage, final: str) -> None:
        self._stage = stage
        self._final = final
        self._gathered: list[pa.RecordBatch] = []
        self._gathered_bytes = 0
        self._open: tuple[StagedOutput, pq.ParquetWriter] | None = None
        self._by_reason: Counter[str] = Counter()

    @property
    def by_reason(self) -> Mapping[str, int]:
        """Records so far, by reason."""
        return dict(self._by_reason)

    def add(self, errors: Sequence[ErrorRecord]) -> None:
        """Take records in."""
        if errors:
            self.add_rows(dump_errors(errors))

    def add_rows(self, rows: pa.RecordBatch) -> None:
        """Take in columns: those of `dump_errors`, perhaps further ones, the same in every call."""
        self._by_reason.update(rows.column("reason").to_pylist())
        self._gathered.append(rows)
        self._gathered_bytes += memory_bytes(rows)
        if self._gathered_bytes >= _GATHERED_BYTES:
            self._write()

    def finish(self) -> Sequence[StagedFile]:
        """Return the complete file, or nothing when no record was rejected."""
        self._write()
        if self._open is None:
            return ()
        output, writer = self._open
        writer.close()
        return (output.finish(self._by_reason.total(), {"format": "parquet"}),)

    def _write(self) -> None:
        if not self._gathered:
            return
        if self._open is None:
            output = self._stage.open(self._final, rejects=True)
            self._open = output, pq.ParquetWriter(output, self._gathered[0].schema, compression="snappy", version="2.6")
        self._open[1].write_table(pa.Table.from_batches(self._gathered))
        self._gathered, self._gathered_bytes = [], 0
