"""The worker's side of a write: rows become files of Parquet in the temporary folder, which nobody reads yet."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import TYPE_CHECKING

import pyarrow as pa
from pyarrow import parquet

from gluepot.connectors.jdbc.java.dialects import BIGINT, TEXT
from gluepot.connectors.jdbc.java.stored import stored
from gluepot.connectors.jdbc.staging import ROWS_PER_TASK, Stored, stage_rows, staging_prefix
from gluepot.connectors.values import CommitKey, ManifestPart, StagedFile
from gluepot.core.storage import FileWriter, Storage, open_storage
from gluepot.frames.chunk import Chunk

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer as Buffer


def staging_folder(key: CommitKey) -> str:
    """Return the folder of one write's files, which is the same for all batches."""
    return f"gluepot/{staging_prefix(key).rstrip('_')}"


def file_of(key: CommitKey, name: str) -> str:
    """Return the file of what was staged under a name."""
    return f"{staging_folder(key)}/{name}.parquet"


@dataclass(frozen=True, slots=True)
class JavaSink:
    """Stages rows for a table; a `TaskSink`.

    Args:
        temp_dir: URL of the temporary folder.
        key: commit key of the write.
        table: the table, as it is quoted.
    """

    temp_dir: str
    key: CommitKey
    table: str

    def write(self, chunks: Iterator[Chunk], task: int, attempt: str) -> ManifestPart:  # noqa: ARG002  names are unique
        """Stage every row and every error record.

        Raises:
            TransientError: the folder cannot be reached.
            Exception: what the chunks raise; then nothing is left.
        """
        files = _Files(open_storage(self.temp_dir), self.key)
        try:
            return stage_rows(chunks, files, key=self.key, target=self.table, task=task)
        except BaseException:
            files.storage.delete(files.made)
            raise


class _Output(io.RawIOBase):
    """A growing file as the encoder wants it."""

    def __init__(self, file: FileWriter) -> None:
        self._file = file

    def writable(self) -> bool:
        return True

    def write(self, data: Buffer) -> int:
        return self._file.write(memoryview(data))


@dataclass(slots=True)
class _Files:
    storage: Storage
    key: CommitKey
    ordinal_type: str = BIGINT
    text_type: str = TEXT
    made: list[str] = field(default_factory=list)

    def stored(self, batch: pa.RecordBatch) -> Stored:
        return stored(batch)

    def fill(self, name: str, types: Mapping[str, str], batches: Iterator[pa.RecordBatch]) -> int:  # noqa: ARG002  the file tells them
        place = file_of(self.key, name)
        self.made.append(place)
        first = next(batches)
        rows = 0
        file = self.storage.writer(place)
        try:
            with parquet.ParquetWriter(_Output(file), first.schema, compression="zstd") as writer:
                for batch in chain([first], batches):
                    writer.write_batch(batch)
                    rows += batch.num_rows
        except BaseException:
            file.discard()
            raise
        file.commit()
        return rows


@dataclass(frozen=True, slots=True)
class StagedRows:
    """Reads staged files in tasks of Spark.

    Args:
        temp_dir: URL of the temporary folder.
        files: the files in it.
        columns: names of the columns in the files, in the order in which they are returned.
        renamed: their names in the table.
        ordinal: the name of the rows' number, if the files have none.
    """

    temp_dir: str
    files: Sequence[str]
    columns: Sequence[str]
    renamed: Sequence[str]
    ordinal: str = ""

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield the rows of files, given the places that these have among all."""
        storage = open_storage(self.temp_dir)
        for batch in batches:
            for nth in batch.column(0).to_pylist():
                first = nth * ROWS_PER_TASK
                with storage.reader(self.files[nth]) as opened:
                    for rows in parquet.ParquetFile(opened).iter_batches(columns=list(dict.fromkeys(self.columns))):
                        arrays, names = [rows.column(name) for name in self.columns], list(self.renamed)
                        if self.ordinal:
                            arrays.append(pa.array(range(first, first + rows.num_rows), pa.int64()))
                            names.append(self.ordinal)
                        yield pa.RecordBatch.from_arrays(arrays, names=names)
                        first += rows.num_rows


def files_by_shape(staged: Sequence[StagedFile]) -> dict[tuple[tuple[str, str], ...], list[StagedFile]]:
    """Return the staged files by the kinds of their columns."""
    found: dict[tuple[tuple[str, str], ...], list[StagedFile]] = {}
    for one in staged:
        found.setdefault(tuple(one.encoding["types"].items()), []).append(one)
    return found
