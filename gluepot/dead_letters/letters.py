"""The records in files of dead letters."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

import pyarrow as pa
import pyarrow.parquet as pq

from gluepot.core.errors import CheckpointError
from gluepot.dead_letters.folder import LetterFile, LetterFolder

_PIECE_ROWS = 1_000


@dataclass(frozen=True, slots=True)
class Letter:
    """One dead letter; what its file does not know is None.

    Args:
        file: where it lies.
        row: its number in the file, from 0; with `file` it names the letter for ever, because files never change.
        raw: the bytes as they came; None for a record without a value.
        stream: topic.
        shard: partition.
        position: offset.
        reason: a short fixed word.
        message: a sentence.
        timestamp: timestamp of the record.
        key: key of the record.
        headers: headers of the record.
    """

    file: LetterFile
    row: int
    raw: bytes | None
    stream: str | None
    shard: str | None
    position: str | None
    reason: str
    message: str
    timestamp: datetime | None = None
    key: bytes | None = None
    headers: Sequence[tuple[str, bytes | None]] = ()

    @property
    def origin(self) -> str:
        """Where the record came from, or where it lies if that is not known."""
        if self.stream and self.shard is not None:
            shard = f"-{self.shard}" if self.shard else ""
            return f"{self.stream}{shard}" + (f" at {self.position}" if self.position else "")
        return f"{self.file.path} row {self.row}"


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which letters are meant; None means any."""

    reason: str | None = None
    batch_id: int | None = None

    def covers(self, letter: Letter) -> bool:
        """Tell whether a letter is meant."""
        return self.reason in {None, letter.reason} and self.batch_id in {None, letter.file.batch_id}


EVERY_LETTER = Wanted()


def read_letters(folder: LetterFolder, wanted: Wanted = EVERY_LETTER) -> Iterator[Letter]:
    """Yield the letters that are meant, one file in memory at a time, a piece of it decoded.

    Raises:
        CheckpointError: a file is gone or is none of ours.
    """
    for file in folder.files:
        if wanted.batch_id in {None, file.batch_id}:
            yield from filter(wanted.covers, letters_of(folder, file))


def letters_of(folder: LetterFolder, file: LetterFile) -> Iterator[Letter]:
    """Yield the letters of one file; see `read_letters`."""
    rows = (held for batch in _batches(folder, file) for held in batch.to_pylist())
    for row, held in enumerate(rows):
        headers = [(header["key"], header["value"]) for header in held.pop("headers", None) or ()]
        yield Letter(file, row, headers=headers, **held)


def _batches(folder: LetterFolder, file: LetterFile) -> Iterator[pa.RecordBatch]:
    """Yield a file in pieces, because who wants its first letters should not pay for all."""
    where = f"{folder.storage.url}/{file.path}"
    try:
        yield from pq.ParquetFile(pa.BufferReader(folder.storage.get(file.path))).iter_batches(_PIECE_ROWS)
    except FileNotFoundError as gone:
        raise CheckpointError(f"{where} is gone although a manifest names it; restore it, or purge") from gone
    except pa.ArrowException as odd:
        raise CheckpointError(f"{where} is not a file of dead letters ({odd}); restore or remove it") from odd
