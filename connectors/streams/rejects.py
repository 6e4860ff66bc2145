"""Files of the records that could not be decoded into Spark rows.

A read task does not know the target table, so the files lie below the query's checkpoint, or in the folder that the
read option `rejectsPath` names. Their names come from the range, so a retry, or a second action on the same DataFrame,
writes the same files again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Self

import pyarrow as pa

from gluepot.connectors.values import SourceRange, dump_errors
from gluepot.core.logging import configure_once, get_logger
from gluepot.core.storage import open_storage
from gluepot.frames.chunk import ErrorRecord
from gluepot.frames.sizes import memory_bytes

FOLDER = "gluepot/rejects"
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
    return f"{wanted.stream}-{wanted.shard}-{wanted.start}-{wanted.end}{further}.rejects"


class RejectsAside:
    """The files of one range. Leaving the context without an error completes them and logs the number of records.

    Args:
        root: their folder; if None, the records are left out with a warning.
        wanted: the range.
        file_bytes: size in memory at which records are written to a file.
    """

    def __init__(self, root: str | None, wanted: SourceRange, file_bytes: int = FILE_BYTES) -> None:
        self._root = root
        self._wanted = wanted
        self._file_bytes = file_bytes
        self._gathered: list[pa.RecordBatch] = []
        self._files = 0
        self._by_reason: Counter[str] = Counter()

    def add(self, errors: Sequence[ErrorRecord]) -> None:
        """Add records."""
        if not errors:
            return
        self._by_reason.update(error.reason for error in errors)
        if self._root is None:
            return
        self._gathered.append(dump_errors(errors))
        if sum(memory_bytes(batch) for batch in self._gathered) >= self._file_bytes:
            self._write(self._root)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is not None or not self._by_reason:
            return
        if self._root is not None and self._gathered:
            self._write(self._root)
        configure_once()  # A worker is a separate process.
        range_text = f"{self._wanted.stream}-{self._wanted.shard} {self._wanted.start}-{self._wanted.end}"
        kept = self._root or "nowhere: the read has no checkpoint; rejectsPath names a folder"
        get_logger(__name__).warning("records_rejected", reasons=dict(self._by_reason), range=range_text, kept=kept)

    def _write(self, root: str) -> None:
        import pyarrow.parquet as pq  # noqa: PLC0415  as above

        content = pa.BufferOutputStream()
        pq.write_table(pa.Table.from_batches(self._gathered), content, compression="snappy", version="2.6")
        open_storage(root).put(_key(self._wanted, self._files), content.getvalue().to_pybytes())
        self._gathered, self._files = [], self._files + 1
