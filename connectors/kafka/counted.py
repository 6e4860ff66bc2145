"""Keeps counted records on the local disk until they are read, so that the broker sends a batch only once.

    <folder>/counted/<topic>-<topic id>-<partition>/<start>-<end>.arrow

Scripts often begin a batch with `if data_frame.count() > 0`. Transactions and compaction leave gaps between offsets, so
only reading tells how many records a range holds. The records that the count has read are kept for the write that
follows. No reader depends on the file: without it, as on a machine other than the driver's, the range is read again.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Self

import pyarrow as pa

from gluepot.connectors.values import RawBatch, SourceRange
from gluepot.core.disk import used_bytes
from gluepot.frames.payloads import as_array, payloads
from gluepot.frames.sizes import memory_bytes

MOST_BYTES = 1 << 30
"""The approximate limit of the folder's size: tasks that begin at the same time do not see each other's files."""
_VALUE, _POSITION, _NEWEST = "value", "position", b"newest_epoch_ms"


class Keeping:
    """The file of one range while it is written. At the end of the context it is complete or does not exist.

    Args:
        folder: the stream's folder on this machine. If it is None or does not exist, no records are kept.
        wanted: the range.
        most_bytes: limit for the size of all files in the folder.
    """

    def __init__(self, folder: Path | None, wanted: SourceRange, most_bytes: int = MOST_BYTES) -> None:
        self._folder = folder
        self._wanted = wanted
        self._room_bytes = most_bytes
        self._part = self._final = Path()
        self._file: pa.OSFile | None = None
        self._writer: pa.RecordBatchStreamWriter | None = None

    def __enter__(self) -> Self:
        if self._folder is None or not self._folder.is_dir():
            return self
        self._final = _path(self._folder, self._wanted)
        self._part = self._final.with_suffix(f".{os.getpid()}.part")
        with suppress(OSError):  # other tasks remove files of theirs, or the disk is full
            self._final.parent.mkdir(parents=True, exist_ok=True)
            for earlier in self._final.parent.iterdir():
                earlier.unlink(missing_ok=True)
            self._room_bytes -= used_bytes(self._folder / "counted")
            self._file = pa.OSFile(str(self._part), "wb")
        return self

    def __exit__(self, error: type[BaseException] | None, *_: object) -> None:
        if self._writer is not None and error is None:
            with suppress(OSError):
                self._writer.close()
                self._part.replace(self._final)
        self._drop()

    @property
    def is_open(self) -> bool:
        """Whether records that are added are kept."""
        return self._file is not None

    def add(self, batch: RawBatch) -> None:
        """Keep a batch if there is room for it; otherwise drop the whole range."""
        if self._file is None:
            return
        rows = pa.RecordBatch.from_arrays(
            [as_array(batch.values), pa.array(batch.positions, pa.int64()), *batch.columns.values()],
            names=[_VALUE, _POSITION, *batch.columns],
        )
        self._room_bytes -= memory_bytes(rows)
        if self._room_bytes < 0:
            self._drop()
            return
        try:
            if self._writer is None:
                self._writer = pa.ipc.new_stream(self._file, rows.schema)
            self._writer.write_batch(rows, custom_metadata={_NEWEST: str(batch.newest_epoch_ms)})
        except OSError:  # the disk is full
            self._drop()

    def _drop(self) -> None:
        if self._file is not None:
            with suppress(OSError):
                self._file.close()
            self._file = self._writer = None
            self._part.unlink(missing_ok=True)


def is_counted(folder: Path | None, wanted: SourceRange) -> bool:
    """Tell whether the records of a range were kept."""
    return folder is not None and _path(folder, wanted).exists()


def counted(folder: Path | None, wanted: SourceRange) -> Iterator[RawBatch] | None:
    """Return the kept records of a range; None if they were not kept."""
    if folder is None:
        return None
    try:
        file = pa.memory_map(str(_path(folder, wanted)))
    except FileNotFoundError:
        return None
    return _batches(file, wanted)


def _batches(file: pa.MemoryMappedFile, wanted: SourceRange) -> Iterator[RawBatch]:
    with file, pa.ipc.open_stream(file) as reader:
        for rows, metadata in reader.iter_batches_with_custom_metadata():
            yield RawBatch(
                values=payloads(rows.column(_VALUE)),
                positions=rows.column(_POSITION).to_pylist(),
                stream=wanted.stream,
                shard=wanted.shard,
                newest_epoch_ms=int(metadata[_NEWEST]),
                columns={name: rows.column(name) for name in rows.schema.names[2:]},
            )


def _path(folder: Path, wanted: SourceRange) -> Path:
    shard = f"{wanted.stream}-{wanted.stream_id}-{wanted.shard}"
    return folder / "counted" / shard / f"{wanted.start}-{wanted.end}.arrow"
