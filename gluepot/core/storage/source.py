"""Reads files that others wrote. It lists them with size, time and version, level by level or all at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import BinaryIO, NamedTuple, Protocol

SMALL_BYTES = 32 << 20
"""Files up to this size are fetched whole, with one request that also pins their version."""


class Entry(NamedTuple):
    """One file of a listing. It is a tuple, because a listing may have 100,000 of them.

    Args:
        folder: relative to the root, without slashes at its ends; empty for the root.
        name: the file's name within the folder.
        size_bytes: its length.
        mtime_us: last modification in microseconds since 1970 UTC, by the clock of the storage.
        etag: the entity tag in an object store; empty on a disk.
    """

    folder: str
    name: str
    size_bytes: int
    mtime_us: int
    etag: str = ""

    @property
    def key(self) -> str:
        """The file's key, relative to the root."""
        return f"{self.folder}/{self.name}" if self.folder else self.name


@dataclass(frozen=True, slots=True)
class Level:
    """The folders and files that lie directly in a folder."""

    folders: Sequence[str]
    files: Sequence[Entry]


class VersionGone(Exception):
    """A file was deleted or overwritten after it was listed."""


class SourceStorage(Protocol):
    """Files below one root, for reading. Raises ConfigError and TransientError as `Storage` does."""

    @property
    def url(self) -> str:
        """The root, for people."""

    @property
    def lists_trees(self) -> bool:
        """Whether `tree` takes fewer requests than `level` for each folder."""

    def level(self, folder: str) -> Level:
        """Return the sub-folders and files directly in a folder, sorted. A missing folder is empty."""

    def tree(self, folder: str) -> Iterator[Entry]:
        """Yield every file below a folder, page by page, in any order. A missing folder is empty."""

    def entry(self, key: str) -> Entry | None:
        """Return a file's entry; None if there is no such file."""

    def open(self, entry: Entry) -> BinaryIO:
        """Open exactly the version of a file that was listed, as a seekable file.

        Raises:
            VersionGone: the file has another version now, or no longer exists.
        """
