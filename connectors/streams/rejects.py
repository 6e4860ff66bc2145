"""Files of rejected records that no table keeps, because their rows become a DataFrame or are sent as records.

The task that rejects such a record does not know a target table. The files of a stream lie below the query's
checkpoint, or in the folder that the read option `rejectsPath` names.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Protocol, Self

import pyarrow as pa

from gluepot.connectors.values import SourceRange, dump_errors
from gluepot.core.errors import PermanentError
from gluepot.core.logging import configure_once, get_logger
from gluepot.core.storage import open_storage
from gluepot.frames.chunk import ErrorRecord
from gluepot.frames.sizes import memory_bytes

FOLDER = "gluepot/rejects"
SUFFIX = ".rejects"
# Bounds the memory of a task: a further file takes the records beyond this size.
FILE_BYTES = 16 << 20


def rejects_root(rejects_path: str | None, checkpoint: str | None) -> str | None:
    """Return the folder of the files; None for a read that has neither a checkpoint nor `rejectsPath`."""
    if rejects_path is not None or checkpoint is None:
        return rejects_path
    return f"{checkpoint.rstrip('/')}/{FOLDER}"


@dataclass(frozen=True, slots=True)
class Aside:
    """A file of records that were put aside.

    Args:
        path: relative to the folder of such files.
        size_bytes: its length.
        by_reason: number of records in it, by reason.
    """

    path: str
    size_bytes: int
    by_reason: Counter[str]


def put_aside(root: str, ranges: Sequence[SourceRange]) -> list[Aside]:
    """Return the files that hold records of the given ranges."""
    import pyarrow.parquet as pq  # noqa: PLC0415  planners, which import this module, read and write no files

    found = []
    for wanted in ranges:
        for number, content in enumerate(_files(root, wanted)):
            reasons = pq.read_table(pa.BufferReader(content), columns=["reason"]).column(0).to_pylist()
            found.append(Aside(_key(wanted, number), len(content), Counter(reasons)))
    return found


def discard(root: str, ranges: Sequence[SourceRange]) -> None:
    """Remove the files of the given ranges, because the ranges are about to be read in other pieces."""
    storage = open_storage(root)
    for wanted in ranges:
        storage.delete([_key(wanted, number) for number, _ in enumerate(_files(root, wanted))])


def malformed_error(error: ErrorRecord) -> PermanentError:
    """Return the error that ends a job if malformed records shall end it."""
    at = error.at
    partition = f" {at.shard}" if at.shard else ""
    place = f"{at.stream}{partition}" if at.stream else "a DataFrame"
    position = f", position {at.position}" if at.position else ""
    return PermanentError(
        f"{place}{position}: this record is malformed: {error.message.removesuffix('.')}. The job fails"
        " because of --on-malformed or onMalformed; use keep to store such records and continue."
    )


def _files(root: str, wanted: SourceRange) -> Iterator[bytes]:
    storage, number = open_storage(root), 0
    while True:
        try:
            yield storage.get(_key(wanted, number))
        except FileNotFoundError:
            return
        number += 1


def _key(wanted: SourceRange, number: int) -> str:
    further = f".{number}" if number else ""
    return f"{wanted.stream}-{wanted.shard}-{wanted.start}-{wanted.end}{further}{SUFFIX}"


class RejectsNames(Protocol):
    """Names the files of one task. A second action on the same DataFrame writes the same files again."""

    def key(self, number: int, *, is_whole: bool) -> str:
        """Return the name of the task's n-th file.

        Args:
            number: counts from 0.
            is_whole: whether the task has read its whole input; Spark ends the tasks of a LIMIT early.
        """

    @property
    def text(self) -> str:
        """What the records are part of, for the log."""


@dataclass(frozen=True, slots=True)
class RangeNames:
    """Names the files of a range of a stream."""

    wanted: SourceRange

    def key(self, number: int, *, is_whole: bool) -> str:  # noqa: ARG002, D102  a range that is cut off has no file
        return _key(self.wanted, number)

    @property
    def text(self) -> str:  # noqa: D102
        return f"{self.wanted.stream}-{self.wanted.shard} {self.wanted.start}-{self.wanted.end}"


class RejectsAside:
    """The files of one task. Leaving the context without an error completes them and logs the number of records.

    Args:
        root: their folder; if None, the records are left out with a warning.
        names: names them.
        file_bytes: size in memory at which records are written to a file.
        keeps_partial: whether to complete the files if the task ends before it has read its whole input.
    """

    def __init__(
        self, root: str | None, names: RejectsNames, file_bytes: int = FILE_BYTES, *, keeps_partial: bool = False
    ) -> None:
        self._root = root
        self._names = names
        self._file_bytes = file_bytes
        self._keeps_partial = keeps_partial
        self._gathered: list[pa.RecordBatch] = []
        self._gathered_bytes = 0
        self._files = 0
        self._by_reason: Counter[str] = Counter()

    def add(self, errors: Sequence[ErrorRecord]) -> None:
        """Add records."""
        if not errors:
            return
        self._by_reason.update(error.reason for error in errors)
        if self._root is None:
            return
        batch = dump_errors(errors)
        self._gathered.append(batch)
        self._gathered_bytes += memory_bytes(batch)
        if self._gathered_bytes >= self._file_bytes:
            self._write(self._root)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        is_cut_off = isinstance(error, GeneratorExit) and self._keeps_partial
        if not self._by_reason or not (error is None or is_cut_off):
            return
        if self._root is not None and self._gathered:
            self._write(self._root, is_whole=error is None)
        configure_once()  # A worker is a separate process.
        kept = self._root or "nowhere: the read has no checkpoint; rejectsPath names a folder"
        reasons = dict(self._by_reason)
        get_logger(__name__).warning("records_rejected", reasons=reasons, range=self._names.text, kept=kept)

    def _write(self, root: str, *, is_whole: bool = True) -> None:
        key = self._names.key(self._files, is_whole=is_whole)
        open_storage(root).put(key, rejects_file(self._gathered))
        self._gathered, self._gathered_bytes, self._files = [], 0, self._files + 1


def rejects_file(batches: Sequence[pa.RecordBatch]) -> bytes:
    """Return the content of a file of rejected records, see `dump_errors`."""
    import pyarrow.parquet as pq  # noqa: PLC0415  planners, which import this module, read and write no files

    content = pa.BufferOutputStream()
    pq.write_table(pa.Table.from_batches(batches), content, compression="snappy", version="2.6")
    written: bytes = content.getvalue().to_pybytes()
    return written


@dataclass(frozen=True, slots=True)
class RejectsOfFrame:
    """Where the tasks that make rows of one frame keep its rejected records.

    Args:
        root: URL of the folder; None for none, then the records are left out with a warning.
        prefix: what the names of its files begin with.
    """

    root: str | None
    prefix: str = ""

    def of_task(self, task: int) -> RejectsAside:
        """Return the files of a task."""
        return RejectsAside(self.root, _TaskNames(self.prefix, task), keeps_partial=True)


NOWHERE = RejectsOfFrame(None)


@dataclass(frozen=True, slots=True)
class _TaskNames:
    prefix: str
    task: int

    def key(self, number: int, *, is_whole: bool) -> str:
        return f"{self.prefix}{'' if is_whole else 'partial-'}{self.task:05d}-{number:03d}{SUFFIX}"

    @property
    def text(self) -> str:
        return f"task {self.task} of {self.prefix.rstrip('-')}"
