"""What the writes of one batch or run add up to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from threading import RLock

import pyarrow as pa

from gluepot.commit import Target
from gluepot.connectors.ports import AlreadyCommitted, Committed, ManifestPart, StagedFile
from gluepot.core.datasets import Dataset
from gluepot.frames.schema import merge_schemas
from gluepot.frames.schema.changes import ColumnChange, column_changes


@dataclass(frozen=True, slots=True)
class WrittenFile:
    """A file that a batch published.

    Args:
        root: URL of the folder it was written below.
        path: relative to that.
        size_bytes: its length.
        rows: records in it.
        rejects: whether these are rejected records.
    """

    root: str
    path: str
    size_bytes: int
    rows: int
    rejects: bool = False


@dataclass(frozen=True, slots=True)
class Output:
    """What writes did to one folder or table.

    Args:
        dataset: its name where lineage is kept.
        rows: records written.
        size_bytes: of the files; 0 where there are none.
        files: published.
        schemas: of what was written, distinct, as Arrow's IPC bytes.
    """

    dataset: Dataset
    rows: int
    size_bytes: int = 0
    files: int = 0
    schemas: tuple[bytes, ...] = ()

    def with_more(self, other: Output) -> Output:
        """Return this and another write to the same dataset together."""
        return Output(
            self.dataset,
            self.rows + other.rows,
            self.size_bytes + other.size_bytes,
            self.files + other.files,
            tuple(dict.fromkeys((*self.schemas, *other.schemas))),
        )


@dataclass(slots=True)
class RecordSchema:
    """The columns that were seen in the records of a source so far.

    A stream keeps it from batch to batch, so that parsing a batch begins with what is known.
    """

    known: pa.Schema | None = None

    def learn(self, parts: Sequence[ManifestPart]) -> list[ColumnChange]:
        """Add what the tasks of a write have seen, and return what that changed. The first batch changes nothing."""
        before = self.known
        for part in parts:
            if part.source_schema is not None:
                seen = pa.ipc.read_schema(pa.py_buffer(part.source_schema))
                self.known = seen if self.known is None else merge_schemas(self.known, seen)
        return [] if before is None or self.known is None else column_changes(before, self.known)


@dataclass(slots=True)
class WriteTotals:
    """The sums of all writes of a batch or run. Threads may add to it at the same time.

    Args:
        schema: of the records that are read.
        in_any_order: whether tasks could share the records of a range.
        rows_aside: records of the batch that the function is not given, because they are dead letters.
        rows_in_table: rows that the query has in each table it wrote to, over all of its runs, by the table's URL.
    """

    schema: RecordSchema = field(default_factory=RecordSchema)
    rows_in: int = 0
    rows_out: int = 0
    bytes_in: int = 0
    bytes_out: int = 0
    files: int = 0
    file_sizes_bytes: list[int] = field(default_factory=list)
    column_changes: list[ColumnChange] = field(default_factory=list)
    written: list[WrittenFile] = field(default_factory=list)
    rejected: Counter[str] = field(default_factory=Counter)
    phase_secs: Counter[str] = field(default_factory=Counter)
    newest_epoch_ms: dict[str, int] = field(default_factory=dict)
    rows_aside: int = 0
    in_any_order: bool = False
    rows_in_table: dict[str, int] = field(default_factory=dict)
    outputs: list[Output] = field(default_factory=list)
    _changing: RLock = field(default_factory=RLock)

    def add(
        self,
        outcome: Committed | AlreadyCommitted,
        parts: Sequence[ManifestPart],
        target: Target | None = None,
        dataset: Dataset | None = None,
    ) -> None:
        """Add one write. Input is counted once, however many writes read it.

        What an earlier attempt of the batch published counts as if this one had, because only one attempt is reported.

        Args:
            outcome: of publishing.
            parts: what the tasks did.
            target: where the files lie; None for a write that makes no files.
            dataset: what was written to, for lineage; None for a target that has no name there.
        """
        with self._changing:
            self._add(outcome, parts, target, dataset)

    def _add(
        self,
        outcome: Committed | AlreadyCommitted,
        parts: Sequence[ManifestPart],
        target: Target | None,
        dataset: Dataset | None,
    ) -> None:
        self.rows_in = max(self.rows_in, sum(part.rows_in for part in parts))
        self.bytes_in = max(self.bytes_in, sum(part.bytes_in for part in parts))
        self.rows_out += sum(part.rows_out for part in parts)
        self.files += len(outcome.files)
        files = [file for part in parts for file in part.files]
        self.bytes_out += sum(file.size_bytes for file in files)
        self.file_sizes_bytes += [file.size_bytes for file in files if not file.rejects]
        for part in parts:
            self.rejected.update(part.rejected)
            self.phase_secs.update(part.phase_secs)
            for shard, newest in part.newest_epoch_ms.items():
                self.newest_epoch_ms[shard] = max(self.newest_epoch_ms.get(shard, 0), newest)
        self.column_changes += self.schema.learn(parts)
        if target is not None:
            self.in_any_order |= any(part.ranges for part in parts)
            self.written += _written(target, outcome, files)
        if dataset is not None:
            schemas = tuple(dict.fromkeys(part.schema for part in parts if part.schema is not None))
            size_bytes = sum(file.size_bytes for file in files if not file.rejects)
            self.outputs.append(Output(dataset, outcome.rows, size_bytes, len(outcome.files), schemas))


def _written(
    target: Target, outcome: Committed | AlreadyCommitted, files: Sequence[StagedFile]
) -> Iterator[WrittenFile]:
    """Yield the files under the names they were published by: those of the outcome, in the same order."""
    for storage, paths, rejects in ((target.table, outcome.files, False), (target.rejects, outcome.rejects, True)):
        of_kind = (file for file in files if file.rejects == rejects)
        for path, file in zip(paths, of_kind, strict=False):  # a target without files names none
            yield WrittenFile(storage.url, path, file.size_bytes, file.rows, rejects)
