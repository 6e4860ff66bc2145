"""Reading files that others wrote: listing them with size, time and version, level by level or all at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import BinaryIO, NamedTuple, Protocol

SMALL_BYTES = 32 << 20
"""Files up to this size are fetched whole, by one request that also pins their version."""


class Entry(NamedTuple):
    """One file of a listing; a tuple, because there are 100,000 of them.

    Args:
        folder: relative to the root, without slashes at its ends; empty for the root.
        name: within the folder.
        size_bytes: its length.
        mtime_us: last modification in microseconds since 1970 UTC, by the clock of the storage.
        etag: of an object store; empty on a disk.
    """

    folder: str
    name: str
    size_bytes: int
    mtime_us: int
    etag: str = ""

    @property
    def key(self) -> str:
        """Relative to the root."""
        return f"{self.folder}/{self.name}" if self.folder else self.name


@dataclass(frozen=True, slots=True)
class Level:
    """What lies directly in a folder."""

    folders: Sequence[str]
    files: Sequence[Entry]


class VersionGone(Exception):
    """A file was deleted or overwritten after it was listed."""


class SourceStorage(Protocol):
    """Files below one root, to be read. Raises ConfigError and TransientError as `Storage` does."""

    @property
    def url(self) -> str:
        """The root, for people."""

    @property
    def lists_trees(self) -> bool:
        """Whether `tree` takes fewer requests than `level` for each folder."""

    def level(self, folder: str) -> Level:
        """Return names of sub-folders, and the files, directly in a folder, sorted; a missing folder is empty."""

    def tree(self, folder: str) -> Iterator[Entry]:
        """Yield every file below a folder, page by page, in no promised order; a missing folder is empty."""

    def entry(self, key: str) -> Entry | None:
        """Return a file's entry; None when there is no such file."""

    def open(self, entry: Entry) -> BinaryIO:
        """Open exactly the version of a file that was listed, seekable.

        Raises:
            VersionGone: there is another version now, or none.
        """
