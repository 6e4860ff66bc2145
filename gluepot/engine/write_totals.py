"""The sums of all writes of one batch or run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from threading import RLock

import pyarrow as pa

from gluepot.commit import Target
from gluepot.connectors.values import AlreadyCommitted, Committed, ManifestPart, StagedFile
from gluepot.core.datasets import Dataset
from gluepot.engine.account import Account, Writes
from gluepot.frames.schema import merge_known
from gluepot.frames.schema.changes import ColumnChange, column_changes
from gluepot.quality.results import Checked


@dataclass(frozen=True, slots=True)
class WrittenFile:
    """A file that a batch published.

    Args:
        root: URL of the table's or the rejects' folder.
        path: relative to `root`.
        size_bytes: its length.
        rows: records in it.
        rejects: whether it holds rejected records.
    """

    root: str
    path: str
    size_bytes: int
    rows: int
    rejects: bool = False


@dataclass(frozen=True, slots=True)
class Output:
    """What the writes to one folder or table added up to.

    Args:
        dataset: the name of the folder or table in lineage.
        rows: records written.
        size_bytes: size of the files; 0 if there are none.
        files: number of published files.
        schemas: the distinct schemas of the records, as Arrow IPC bytes.
        untyped: values that became null because nothing says their type, such as empty lists.
    """

    dataset: Dataset
    rows: int
    size_bytes: int = 0
    files: int = 0
    schemas: tuple[bytes, ...] = ()
    untyped: int = 0

    def with_more(self, other: Output) -> Output:
        """Return the sum of this output and another one of the same dataset."""
        return Output(
            self.dataset,
            self.rows + other.rows,
            self.size_bytes + other.size_bytes,
            self.files + other.files,
            tuple(dict.fromkeys((*self.schemas, *other.schemas))),
            self.untyped + other.untyped,
        )


@dataclass(slots=True)
class RecordSchema:
    """The columns seen so far in the records of a source.

    A stream keeps it from batch to batch, so that parsing a batch begins with the known columns.
    """

    known: pa.Schema | None = None

    def learn(self, parts: Sequence[ManifestPart]) -> list[ColumnChange]:
        """Add the columns that a write's tasks have seen; return the changes. The first batch yields no changes."""
        before = self.known
        for part in parts:
            if part.source_schema is not None:
                seen = pa.ipc.read_schema(pa.py_buffer(part.source_schema))
                self.known = seen if self.known is None else merge_known(self.known, seen)
        return [] if before is None or self.known is None else column_changes(before, self.known)


@dataclass(slots=True)
class WriteTotals:
    """The sums of all writes of a batch or run. Threads may add to it at the same time.

    Args:
        schema: schema of the records that are read.
        in_any_order: whether tasks could share the records of a range.
        rows_in: rows that went into the largest write; if it wrote a join, not the number of the batch's records.
        records_read: records that the largest write read straight from a stream; 0 if no write did.
        rows_aside: records of the batch that the function does not get, because they are dead letters.
        rows_in_table: for each table's URL, the rows that the query has in it, over all of its runs.
        checks: what checks of data quality found, by the name of the evaluation.
        misfits: how many values became null because they are not of the type that a script declares, by field.
        writes: the balance of all writes.
        by_spark: the lake tables to which Spark has appended rows, by name.
        left_out: malformed records of a batch that Spark has read, left out because the job says so.
    """

    schema: RecordSchema = field(default_factory=RecordSchema)
    rows_in: int = 0
    records_read: int = 0
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
    checks: dict[str, Checked] = field(default_factory=dict)
    misfits: Counter[str] = field(default_factory=Counter)
    writes: Writes = field(default_factory=Writes)
    left_out: int = 0
    by_spark: dict[str, None] = field(default_factory=dict)
    _changing: RLock = field(default_factory=RLock)

    def add(
        self,
        outcome: Committed | AlreadyCommitted,
        parts: Sequence[ManifestPart],
        target: Target | None = None,
        dataset: Dataset | None = None,
    ) -> None:
        """Add one write. Input is counted once, even if several writes read it.

        Only one attempt is reported, so what an earlier attempt of the batch published counts as published by this one.

        Args:
            outcome: the outcome of publishing.
            parts: what each task reported.
            target: where the files lie; None for a write that makes no files.
            dataset: the target's name in lineage; None for a target that has no name there.
        """
        with self._changing:
            self._add(outcome, parts, target, dataset)

    @property
    def account(self) -> Account:
        """The account of the writes, without sources."""
        return Account(writes=self.writes, by_spark=tuple(self.by_spark))

    def add_check(self, checked: Checked) -> None:
        """Add what a check of data quality found; a repeated evaluation replaces the earlier one."""
        with self._changing:
            self.checks[checked.result.evaluation] = checked

    def _add(
        self,
        outcome: Committed | AlreadyCommitted,
        parts: Sequence[ManifestPart],
        target: Target | None,
        dataset: Dataset | None,
    ) -> None:
        self.rows_in = max(self.rows_in, sum(part.rows_in for part in parts))
        self.records_read = max(self.records_read, sum(part.rows_in for part in parts if part.ranges))
        self.bytes_in = max(self.bytes_in, sum(part.bytes_in for part in parts))
        self.rows_out += sum(part.rows_out for part in parts)
        self.writes += _balance(parts, is_new=isinstance(outcome, Committed))
        self.files += len(outcome.files)
        files = [file for part in parts for file in part.files]
        self.bytes_out += sum(file.size_bytes for file in files)
        self.file_sizes_bytes += [file.size_bytes for file in files if not file.rejects]
        for part in parts:
            self.rejected.update(part.rejected)
            self.phase_secs.update(part.phase_secs)
            for shard, newest in part.newest_epoch_ms.items():
                self.newest_epoch_ms[shard] = max(self.newest_epoch_ms.get(shard, 0), newest)
        # As with the records read, several writes may have read the same values.
        self.misfits |= sum((Counter(part.misfits) for part in parts), Counter[str]())
        self.column_changes += self.schema.learn(parts)
        if target is not None:
            self.in_any_order |= any(part.ranges for part in parts)
            self.written += _written(target, outcome, files)
        if dataset is not None:
            schemas = tuple(dict.fromkeys(part.schema for part in parts if part.schema is not None))
            size_bytes = sum(file.size_bytes for file in files if not file.rejects)
            untyped = sum(sum(part.untyped_values.values()) for part in parts)
            self.outputs.append(Output(dataset, outcome.rows, size_bytes, len(outcome.files), schemas, untyped))


def _balance(parts: Sequence[ManifestPart], *, is_new: bool) -> Writes:
    """Return the balance of one write. What arrived is counted where rows are read, the rest where they are written."""
    rows = sum(part.rows_out for part in parts)
    in_read = sum(part.rejected_in_read - part.rejected_as_rows for part in parts)
    return Writes(
        arrived=sum(part.rows_in - part.rows_dropped - part.left_out_in_read for part in parts) - in_read,
        written=rows if is_new else 0,
        refused=sum(sum(part.rejected.values()) + part.kept_aside for part in parts) - in_read,
        skipped=0 if is_new else rows,
    )


def _written(
    target: Target, outcome: Committed | AlreadyCommitted, files: Sequence[StagedFile]
) -> Iterator[WrittenFile]:
    """Yield the files with their published names, which the outcome lists in the same order."""
    for storage, paths, rejects in ((target.table, outcome.files, False), (target.rejects, outcome.rejects, True)):
        of_kind = (file for file in files if file.rejects == rejects)
        for path, file in zip(paths, of_kind, strict=False):  # a target without files lists no names
            yield WrittenFile(storage.url, path, file.size_bytes, file.rows, rejects)


@dataclass(frozen=True, slots=True)
class Rejected:
    """Rejected records.

    Args:
        by_reason: how many, by reason.
        by_folder: how many are in files, by the URL of the folder. The others are in a database's `gluepot_rejects`.
    """

    by_reason: Counter[str] = field(default_factory=Counter)
    by_folder: Counter[str] = field(default_factory=Counter)

    @classmethod
    def of(cls, totals: WriteTotals) -> Rejected:
        """Return those of some writes."""
        by_folder = Counter[str]()
        for file in totals.written:
            if file.rejects:
                by_folder[file.root] += file.rows
        return cls(Counter(totals.rejected), by_folder)

    def __add__(self, other: Rejected) -> Rejected:
        return Rejected(self.by_reason + other.by_reason, self.by_folder + other.by_folder)
