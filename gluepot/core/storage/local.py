"""A storage in a folder on a local disk, with the flushes that make it survive a power cut.

We do not use obstore's local store: version 0.12 issues no fsync at all (seen with strace), so a file that it reports
as written may be empty after a power cut.
"""

from __future__ import annotations

import uuid
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from itertools import takewhile
from typing import TYPE_CHECKING

from gluepot.core.failpoints import reach
from gluepot.core.storage.filesystem import FileSystem, OsFileSystem
from gluepot.core.storage.os_errors import explained
from gluepot.core.storage.port import checked, stretch_with

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path
    from typing import BinaryIO

    from gluepot.core.storage.port import FileLock, Stretch

_TEMPORARY = ".gluepot-tmp"
# A stream makes new folders for hours; a folder that is forgotten is flushed again.
_MOST_FLUSHED = 10_000
_MOST_NAMES = 1_000


@dataclass(frozen=True, slots=True)
class LocalStorage:
    """Storage below a folder, which is made on the first write.

    Args:
        root: the folder.
        disk: the file system of the folder.
    """

    root: Path
    disk: FileSystem = field(default_factory=OsFileSystem)

    @property
    def url(self) -> str:  # noqa: D102 - the port says it, here and below
        return str(self.root)

    def get(self, key: str) -> bytes:  # noqa: D102
        with explained(self.url):
            return self.disk.read(self._path(key))

    def reader(self, key: str, size_bytes: int | None = None) -> BinaryIO:  # noqa: ARG002, D102
        with explained(self.url):
            return self.disk.open(self._path(key))

    def put(self, key: str, data: bytes) -> None:  # noqa: D102
        path = self._path(key)
        with explained(self.url), self._temporary(path, data) as temporary:
            self.disk.rename(temporary, path)
            self.disk.sync_folder(path.parent)

    def create(self, key: str, data: bytes) -> bool:  # noqa: D102
        path = self._path(key)
        with explained(self.url), self._temporary(path, data) as temporary:
            try:
                self.disk.link(temporary, path)  # fails if the name exists; a rename would replace the file
            except FileExistsError:
                return False
            self.disk.sync_folder(path.parent)
            return True

    def writer(self, key: str) -> LocalWriter:  # noqa: D102
        path = self._path(key)
        with explained(self.url):
            _make_folder(self.disk, path.parent)
            return LocalWriter(self.disk, path)

    def move(self, moves: Sequence[tuple[str, str]]) -> None:  # noqa: D102
        with explained(self.url):
            for source, target in moves:
                path = self._path(target)
                _make_folder(self.disk, path.parent)
                self.disk.rename(self._path(source), path)
                reach("storage.moved")
            targets = {self._path(target).parent for _, target in moves}
            self.disk.sync_all((), sorted(targets))
            # Otherwise a power cut may leave a file under its old name as well. These come second, or it may leave a
            # file without a name. A driver that took over may have removed what was staged.
            self.disk.sync_all((), sorted({self._path(source).parent for source, _ in moves} - targets))

    def list(self, folder: str, skip: Sequence[Stretch] = ()) -> Sequence[str]:  # noqa: D102
        start = f"{checked(folder)}/" if folder else ""
        with explained(self.url):
            return sorted(self._below(start, skip))

    def flush(self, keys: Iterable[str]) -> None:  # noqa: D102
        with explained(self.url):
            paths = list(map(self._path, keys))
            folders = {one for path in paths for one in path.parents if one.is_relative_to(self.root)}
            self.disk.sync_all(paths, sorted(folders))

    def delete(self, keys: Iterable[str]) -> None:  # noqa: D102
        with explained(self.url):
            folders = set()
            for path in map(self._path, keys):
                with suppress(FileNotFoundError):
                    self.disk.unlink(path)
                    folders.add(path.parent)
            for folder in sorted(folders):
                with suppress(FileNotFoundError):  # another process removes the folder at the same time
                    self.disk.sync_folder(folder)

    def delete_folder(self, folder: str, within: str | None = None) -> None:  # noqa: D102
        with explained(self.url):
            for parent, folders, files in self.disk.walk(self._path(folder)):
                for name in files:
                    with suppress(FileNotFoundError):  # another process removes it at the same time
                        self.disk.unlink(parent / name)
                for name in folders:
                    with suppress(FileNotFoundError):
                        self.disk.remove_folder(parent / name)
            with suppress(FileNotFoundError):
                self.disk.remove_folder(self._path(folder))
            if within is not None:
                with suppress(OSError):  # one of the folders is not empty
                    for between in takewhile(self._path(within).__ne__, self._path(folder).parents):
                        self.disk.remove_folder(between)

    def lock(self, key: str) -> FileLock | None:  # noqa: D102
        path = self._path(key)
        with explained(self.url):
            _make_folder(self.disk, path.parent)
            locked = self.disk.lock(path)
            return None if locked is None else HeldLock(locked)

    def _below(self, folder: str, skip: Sequence[Stretch]) -> Iterator[str]:
        """Yield the keys below a folder, which ends in a slash unless it is the root."""
        waiting = [folder]
        while waiting:
            folder = waiting.pop()
            folders, files = self.disk.inside(self.root / folder)
            keys = (f"{folder}{name}" for name in files if not name.endswith(_TEMPORARY))
            yield from (key for key in keys if not (skip and stretch_with(key, skip)))
            below = (f"{folder}{name}/" for name in folders)
            waiting += (one for one in below if not (skip and stretch_with(one, skip)))

    def _path(self, key: str) -> Path:
        return self.root / checked(key)

    @contextmanager
    def _temporary(self, path: Path, data: bytes) -> Iterator[Path]:
        """Yield a flushed file with `data` beside `path`. It is removed afterwards if it is still there."""
        _make_folder(self.disk, path.parent)
        temporary = path.with_name(f".{uuid.uuid4().hex}{_TEMPORARY}")
        try:
            file = self.disk.create(temporary)
            try:
                file.write(data)
                file.sync()
            finally:
                file.close()
            yield temporary
        finally:
            with suppress(FileNotFoundError):
                self.disk.unlink(temporary)


@dataclass(frozen=True, slots=True)
class HeldLock:
    """An open file with a lock on it. The kernel drops the lock when the process ends, in whatever way."""

    file: BinaryIO

    def release(self) -> None:  # noqa: D102
        self.file.close()


class LocalWriter:
    """A file that grows in place."""

    def __init__(self, disk: FileSystem, path: Path) -> None:
        self._disk = disk
        self._path = path
        self._file = disk.create(path)

    def write(self, data: bytes | memoryview) -> int:  # noqa: D102
        with explained(str(self._path)):
            return self._file.write(data)

    def commit(self) -> None:  # noqa: D102
        with explained(str(self._path)):
            self._file.sync()
            self._file.close()

    def discard(self) -> None:  # noqa: D102
        with suppress(OSError):  # closing flushes, which fails again on a full disk
            self._file.close()
        with explained(str(self._path)), suppress(FileNotFoundError):
            self._disk.unlink(self._path)


def _make_folder(disk: FileSystem, folder: Path) -> None:
    """Make a folder and its parents so that all of them survive a power cut.

    A folder that is there may have been made by a process that died before it flushed the folder's name. So each
    process flushes the name of each folder before it writes to the folder for the first time.
    """
    if folder in disk.flushed and disk.is_folder(folder):
        return
    if folder.parent != folder:
        _make_folder(disk, folder.parent)
        if disk.is_folder(folder):
            _flush_names(disk, folder.parent)
        else:
            disk.make_folder(folder)
            disk.sync_folder(folder.parent)
    _note_flushed(disk, [folder])


def _flush_names(disk: FileSystem, parent: Path) -> None:
    """Flush the names in a folder, all of which one flush covers."""
    with suppress(OSError):  # a folder of the system, which we may not open, was there before
        names, _ = disk.inside(parent)
        disk.sync_folder(parent)
        _note_flushed(disk, [parent / name for name in names[:_MOST_NAMES]])


def _note_flushed(disk: FileSystem, folders: Sequence[Path]) -> None:
    if len(disk.flushed) >= _MOST_FLUSHED:
        disk.flushed.clear()
    disk.flushed.update(folders)
