"""The operating system calls that a local storage uses, one method each.

They are separate so that tests can replace them by a file system that loses power between any two calls.
"""

from __future__ import annotations

import errno
import fcntl
import os
import stat
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, partial
from typing import TYPE_CHECKING, ClassVar, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator
    from pathlib import Path
    from typing import BinaryIO

_SYNCED_AT_ONCE = 16


class NewFile(Protocol):
    """A file that did not exist before, open for writing."""

    def write(self, data: bytes | memoryview) -> int:
        """Append all of `data`."""

    def sync(self) -> None:
        """Make the written bytes survive a power cut. The file's name needs `sync_folder` as well."""

    def close(self) -> None:
        """End writing."""


class FileSystem(Protocol):
    """The functions of a file system that a local storage uses. They raise the same errors as `os`."""

    @property
    def flushed(self) -> set[Path]:
        """Folders whose names this process has flushed; the storage fills it."""

    def read(self, path: Path) -> bytes:
        """Return a file's bytes."""

    def open(self, path: Path) -> BinaryIO:
        """Open a file for reading."""

    def create(self, path: Path) -> NewFile:
        """Make an empty file; raise FileExistsError if the name is taken."""

    def link(self, old: Path, new: Path) -> None:
        """Give a file a second name; raise FileExistsError if that is taken."""

    def rename(self, old: Path, new: Path) -> None:
        """Give a file another name, and replace the file that had it."""

    def unlink(self, path: Path) -> None:
        """Remove a name of a file."""

    def is_folder(self, path: Path) -> bool:
        """Return whether there is a folder with this name."""

    def make_folder(self, path: Path) -> None:
        """Make a folder, whose parent must exist."""

    def remove_folder(self, path: Path) -> None:
        """Remove an empty folder."""

    def sync_folder(self, path: Path) -> None:
        """Make the names in a folder survive a power cut."""

    def sync_all(self, files: Collection[Path], folders: Collection[Path]) -> None:
        """Make files' bytes, whoever wrote them, and the names in folders survive a power cut, in any order.

        What does not exist is left out.
        """

    def walk(self, path: Path) -> Iterator[tuple[Path, list[str], list[str]]]:
        """Yield each folder with the names of its folders and files, deepest first; omit what vanishes meanwhile."""

    def inside(self, path: Path) -> tuple[list[str], list[str]]:
        """Return the names of the folders and of the files in a folder; both are empty if the folder does not exist.

        A link to a folder counts as neither.
        """

    def lock(self, path: Path) -> BinaryIO | None:
        """Open a file and lock it until it is closed or the process ends; None if it is locked already."""


@dataclass(frozen=True, slots=True)
class OsFileSystem:
    """The machine's own file system."""

    flushed: ClassVar[set[Path]] = set()

    def read(self, path: Path) -> bytes:  # noqa: D102 - the protocol says it, here and below
        with self.open(path) as file:
            return file.read()

    def open(self, path: Path) -> BinaryIO:  # noqa: D102
        return open(path, "rb", opener=_open_no_fifo)

    def create(self, path: Path) -> NewFile:  # noqa: D102
        return OsNewFile(path.open("xb"))

    def link(self, old: Path, new: Path) -> None:  # noqa: D102
        new.hardlink_to(old)

    def rename(self, old: Path, new: Path) -> None:  # noqa: D102
        old.replace(new)

    def unlink(self, path: Path) -> None:  # noqa: D102
        path.unlink()

    def is_folder(self, path: Path) -> bool:  # noqa: D102
        return path.is_dir()

    def make_folder(self, path: Path) -> None:  # noqa: D102
        path.mkdir(exist_ok=True)

    def remove_folder(self, path: Path) -> None:  # noqa: D102
        path.rmdir()

    def sync_folder(self, path: Path) -> None:  # noqa: D102
        descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

    def sync_all(self, files: Collection[Path], folders: Collection[Path]) -> None:  # noqa: D102
        work = [partial(self._sync_file, one) for one in files] + [partial(self.sync_folder, one) for one in folders]
        if len(work) < 2:  # threads are of use from the second on
            for one in work:
                _unless_missing(one)
            return
        # A file system writes what several wait for at once: together they take little longer than one of them.
        list(_syncing_threads().map(_unless_missing, work))

    def _sync_file(self, path: Path) -> None:
        with self.open(path) as file:
            os.fsync(file.fileno())

    def walk(self, path: Path) -> Iterator[tuple[Path, list[str], list[str]]]:  # noqa: D102
        for folder, folders, files in os.walk(path, topdown=False, onerror=_raise_unless_missing):
            yield path.__class__(folder), folders, files

    def inside(self, path: Path) -> tuple[list[str], list[str]]:  # noqa: D102
        folders: list[str] = []
        files: list[str] = []
        try:
            with os.scandir(path) as found:
                for one in found:
                    if not one.is_dir():
                        files.append(one.name)
                    elif not one.is_symlink():
                        folders.append(one.name)
        except OSError as error:
            _raise_unless_missing(error)
        return folders, files

    def lock(self, path: Path) -> BinaryIO | None:  # noqa: D102
        file = open(path, "ab", opener=_open_no_fifo)  # noqa: SIM115 - Path.open takes no opener
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.close()
            return None
        return file


@dataclass(frozen=True, slots=True)
class OsNewFile:
    """A new file in the machine's own file system."""

    file: BinaryIO

    def write(self, data: bytes | memoryview) -> int:  # noqa: D102
        return self.file.write(data)

    def sync(self) -> None:  # noqa: D102
        self.file.flush()
        os.fsync(self.file.fileno())

    def close(self) -> None:  # noqa: D102
        self.file.close()


@cache
def _syncing_threads() -> ThreadPoolExecutor:
    """Return the threads of this process that wait for flushes; to start new ones takes as long as a flush."""
    return ThreadPoolExecutor(_SYNCED_AT_ONCE, thread_name_prefix="gluepot-syncing")


os.register_at_fork(after_in_child=_syncing_threads.cache_clear)  # threads do not live on in a child


def _open_no_fifo(path: str, flags: int) -> int:
    """Open a file, but not a FIFO: without O_NONBLOCK, opening a FIFO waits for its other end, maybe for ever."""
    descriptor = os.open(path, flags | os.O_NONBLOCK | os.O_CLOEXEC, 0o666)
    if stat.S_ISFIFO(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.ENXIO, "it is a FIFO, not a regular file", path)
    return descriptor


def _raise_unless_missing(error: OSError) -> None:
    if not isinstance(error, FileNotFoundError):
        raise error


def _unless_missing(act: Callable[[], None]) -> None:
    with suppress(FileNotFoundError):
        act()
