"""Staged files of one task: written where no reader looks, counted and check-summed on the way."""

from __future__ import annotations

import io
import zlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from connectors.filesink.layout import STAGED_SUFFIX
from connectors.ports import StagedFile
from etlcore.failpoints import reach
from etlcore.storage import FileWriter, Storage

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer


class StagedOutput(io.RawIOBase):
    """A staged file while it is written. Closing it means nothing; `finish` or `discard` ends it."""

    def __init__(self, writer: FileWriter, staged: str, final: str, *, rejects: bool) -> None:
        super().__init__()
        self._writer = writer
        self._staged = staged
        self._final = final
        self._rejects = rejects
        self.size_bytes = 0
        self._crc32 = 0
        self._discarded = False

    def writable(self) -> bool:  # noqa: D102
        return True

    def write(self, data: ReadableBuffer) -> int:  # noqa: D102
        view = memoryview(data).cast("B")
        if self._discarded:  # pyarrow's ParquetWriter writes its footer when it is collected, wanted or not
            return len(view)
        self._crc32 = zlib.crc32(view, self._crc32)
        self.size_bytes += self._writer.write(view)
        return len(view)

    def tell(self) -> int:  # noqa: D102
        return self.size_bytes

    def finish(self, rows: int, encoding: Mapping[str, Any]) -> StagedFile:
        """Make the file complete and durable.

        Args:
            rows: how many records were written to it.
            encoding: what a reader must know beside the bytes.
        """
        reach("task.written")
        self._writer.commit()
        return StagedFile(self._staged, self._final, self.size_bytes, rows, self._crc32, self._rejects, encoding)

    def discard(self) -> None:
        """Leave nothing behind; whatever is written from now on vanishes."""
        self._discarded = True
        self._writer.discard()


class Stage:
    """Opens a task's files in one storage, all keys beginning with a prefix of its own; can take all of them back."""

    def __init__(self, storage: Storage, prefix: str) -> None:
        self._storage = storage
        self._prefix = prefix
        self._opened: list[tuple[str, StagedOutput]] = []

    def open(self, final: str, *, rejects: bool = False) -> StagedOutput:
        """Start a file that publishing moves to `final`."""
        staged = f"{self._prefix}-{len(self._opened)}{STAGED_SUFFIX}"
        output = StagedOutput(self._storage.writer(staged), staged, final, rejects=rejects)
        self._opened.append((staged, output))
        return output

    def discard(self) -> None:
        """Remove every file that was opened, finished or not."""
        for _, output in self._opened:
            output.discard()
        self._storage.delete([staged for staged, _ in self._opened])
