"""A folder on a local disk, with the flushes that make it survive a power cut.

obstore's local store is not used: version 0.12 issues no fsync at all (seen with strace), so a file it reports as
written may be empty after a power cut.
"""

from __future__ import annotations

import os
import shutil
import uuid
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from etlcore.failpoints import reach
from etlcore.storage.os_errors import explained
from etlcore.storage.port import checked

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

_TEMPORARY = ".gluepot-tmp"


@dataclass(frozen=True, slots=True)
class LocalStorage:
    """Storage below a folder, which is made on the first write."""

    root: Path

    @property
    def url(self) -> str:  # noqa: D102 - the port says it, here and below
        return str(self.root)

    def get(self, key: str) -> bytes:  # noqa: D102
        with explained(self.url):
            return self._path(key).read_bytes()

    def put(self, key: str, data: bytes) -> None:  # noqa: D102
        path = self._path(key)
        with explained(self.url), _temporary(path, data) as temporary:
            temporary.replace(path)
            _flush_folder(path.parent)

    def create(self, key: str, data: bytes) -> bool:  # noqa: D102
        path = self._path(key)
        with explained(self.url), _temporary(path, data) as temporary:
            try:
                path.hardlink_to(temporary)  # fails on an existing name, where a rename would replace it
            except FileExistsError:
                return False
            _flush_folder(path.parent)
            return True

    def writer(self, key: str) -> LocalWriter:  # noqa: D102
        with explained(self.url):
            return LocalWriter(self._path(key))

    def move(self, moves: Sequence[tuple[str, str]]) -> None:  # noqa: D102
        with explained(self.url):
            for source, target in moves:
                path = self._path(target)
                _make_folder(path.parent)
                self._path(source).replace(path)
                reach("storage.moved")
            for folder in {self._path(target).parent for _, target in moves}:
                _flush_folder(folder)

    def list(self, folder: str) -> Sequence[str]:  # noqa: D102
        start = self._path(folder) if folder else self.root
        with explained(self.url):
            return sorted(
                (Path(parent) / name).relative_to(self.root).as_posix()
                for parent, _, names in os.walk(start, onerror=_raise_unless_missing)
                for name in names
                if not name.endswith(_TEMPORARY)
            )

    def delete(self, keys: Iterable[str]) -> None:  # noqa: D102
        with explained(self.url):
            folders = set()
            for path in map(self._path, keys):
                with suppress(FileNotFoundError):
                    path.unlink()
                    folders.add(path.parent)
            for folder in folders:
                _flush_folder(folder)

    def delete_folder(self, folder: str) -> None:  # noqa: D102
        with explained(self.url), suppress(FileNotFoundError):
            shutil.rmtree(self._path(folder))

    def _path(self, key: str) -> Path:
        return self.root / checked(key)


class LocalWriter:
    """A file that grows in place."""

    def __init__(self, path: Path) -> None:
        self._path = path
        _make_folder(path.parent)
        self._file = path.open("xb")

    def write(self, data: bytes | memoryview) -> int:  # noqa: D102
        with explained(str(self._path)):
            return self._file.write(data)

    def commit(self) -> None:  # noqa: D102
        with explained(str(self._path)):
            self._file.flush()
            os.fsync(self._file.fileno())
            self._file.close()

    def discard(self) -> None:  # noqa: D102
        with suppress(OSError):  # closing flushes, which fails again on a full disk
            self._file.close()
        with explained(str(self._path)):
            self._path.unlink(missing_ok=True)


@contextmanager
def _temporary(path: Path, data: bytes) -> Iterator[Path]:
    """Yield a flushed file with `data` beside `path`; whatever is left of it afterwards is removed."""
    _make_folder(path.parent)
    temporary = path.with_name(f".{uuid.uuid4().hex}{_TEMPORARY}")
    try:
        with temporary.open("xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        yield temporary
    finally:
        temporary.unlink(missing_ok=True)


def _make_folder(folder: Path) -> None:
    """Make a folder with its parents so that a power cut cannot take away any of them."""
    if folder.is_dir():
        return
    _make_folder(folder.parent)
    folder.mkdir(exist_ok=True)
    _flush_folder(folder.parent)


def _flush_folder(folder: Path) -> None:
    """Make the names in a folder durable: flushing a file does not flush the name that leads to it."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _raise_unless_missing(error: OSError) -> None:
    if not isinstance(error, FileNotFoundError):
        raise error
