"""Staged files of one task: written where no reader looks, counted and check-summed on the way."""

from __future__ import annotations

import io
import zlib
from collections import deque
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

from gluepot.connectors.files.sink.layout import STAGED_SUFFIX
from gluepot.connectors.values import StagedFile
from gluepot.core.failpoints import reach
from gluepot.core.storage import FileWriter, Storage

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer


# Making a file durable is waiting, for the disk or for S3; the next one is encoded meanwhile.
_AT_ONCE = 8
_MOST_WAITING = 64
# Encoders write a small file in dozens of pieces, each of which is a call down to the disk.
_JOINED_BYTES = 64 << 10

Later = Callable[[Callable[[], None]], None]


class StagedOutput(io.RawIOBase):
    """A staged file while it is written. Closing it means nothing; `finish` or `discard` ends it."""

    def __init__(self, writer: FileWriter, later: Later, staged: str, final: str, *, rejects: bool) -> None:
        super().__init__()
        self._writer = writer
        self._later = later
        self._staged = staged
        self._final = final
        self._rejects = rejects
        self.size_bytes = 0
        self._crc32 = 0
        self._joined = bytearray()
        self._discarded = False

    def writable(self) -> bool:  # noqa: D102
        return True

    def write(self, data: ReadableBuffer) -> int:  # noqa: D102
        view = memoryview(data).cast("B")
        if self._discarded:  # pyarrow's ParquetWriter writes its footer when it is collected, wanted or not
            return len(view)
        self.size_bytes += len(view)
        if len(self._joined) + len(view) > _JOINED_BYTES:
            self._pass_on(memoryview(self._joined))
            self._joined = bytearray()
        if len(view) > _JOINED_BYTES:
            self._pass_on(view)
        else:
            self._joined += view
        return len(view)

    def _pass_on(self, data: memoryview) -> None:
        self._crc32 = zlib.crc32(data, self._crc32)
        self._writer.write(data)

    def tell(self) -> int:  # noqa: D102
        return self.size_bytes

    def finish(self, rows: int, encoding: Mapping[str, Any]) -> StagedFile:
        """Make the file complete; it is durable when its stage has settled.

        Args:
            rows: how many records were written to it.
            encoding: what a reader must know beside the bytes.
        """
        self._pass_on(memoryview(self._joined))
        reach("task.written")
        self._later(self._writer.commit)
        return StagedFile(self._staged, self._final, self.size_bytes, rows, self._crc32, self._rejects, encoding)

    def discard(self) -> None:
        """Leave nothing behind; whatever is written from now on vanishes."""
        self._discarded = True
        self._writer.discard()


class Stage:
    """Opens a task's files in one storage, all keys beginning with a prefix of its own; can take all of them back.

    The files are there for certain once `settle` has returned.
    """

    def __init__(self, storage: Storage, prefix: str) -> None:
        self._storage = storage
        self._prefix = prefix
        self._opened: list[tuple[str, StagedOutput]] = []
        self._threads: ThreadPoolExecutor | None = None
        self._waiting: deque[Future[None]] = deque()

    def open(self, final: str, *, rejects: bool = False) -> StagedOutput:
        """Start a file that publishing moves to `final`."""
        staged = f"{self._prefix}-{len(self._opened)}{STAGED_SUFFIX}"
        output = StagedOutput(self._storage.writer(staged), self._later, staged, final, rejects=rejects)
        self._opened.append((staged, output))
        return output

    def settle(self) -> None:
        """Wait until every file that was finished is durable; raise what the first one raised that cannot be."""
        while self._waiting:
            self._waiting.popleft().result()
        self._end_threads()

    def discard(self) -> None:
        """Remove every file that was opened, finished or not."""
        self._waiting.clear()
        self._end_threads()
        for _, output in self._opened:
            output.discard()
        self._storage.delete([staged for staged, _ in self._opened])

    def _later(self, action: Callable[[], None]) -> None:
        if self._threads is None:
            self._threads = ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="gluepot-staging")
        while len(self._waiting) >= _MOST_WAITING:  # each has its file open
            self._waiting.popleft().result()
        self._waiting.append(self._threads.submit(action))

    def _end_threads(self) -> None:
        if self._threads is not None:
            self._threads.shutdown(cancel_futures=True)
            self._threads = None
