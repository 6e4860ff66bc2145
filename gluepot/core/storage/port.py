"""The contract of a storage, with the rule that keeps keys below its root."""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING, BinaryIO, Protocol

from gluepot.core.errors import PermanentError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


Stretch = tuple[str, str]
"""Two folders. A stretch holds all keys below the first or the second, and all keys that sort between them."""


class FileWriter(Protocol):
    """A file that is being written. Exactly one of `commit` and `discard` ends it."""

    def write(self, data: bytes | memoryview) -> int:
        """Append all of `data`; return its number of bytes."""

    def commit(self) -> None:
        """Make the file complete and durable under its key."""

    def discard(self) -> None:
        """Remove the file. Does not raise if it is already gone."""


class FileLock(Protocol):
    """A lock that ends when it is released, or when the process that took it ends."""

    def release(self) -> None:
        """Give up the lock."""


class Storage(Protocol):
    """Files below one root. A key is relative to the root, with parts joined by `/`; a folder is a prefix of keys.

    Every action is durable when it returns. All actions raise ConfigError for missing rights or a missing bucket,
    TransientError if another try may help (full disk, network), PermanentError for a key that leaves the root.
    """

    @property
    def url(self) -> str:
        """The root, for people."""

    def get(self, key: str) -> bytes:
        """Return a whole file; raise FileNotFoundError if it does not exist."""

    def reader(self, key: str, size_bytes: int | None = None) -> BinaryIO:
        """Open a file to read any part of it; raise FileNotFoundError if it does not exist or is deleted meanwhile.

        Args:
            key: of the file.
            size_bytes: its length, if a listing has told it. That saves a request, and the file may then seem to be
                there until its first byte is read.
        """

    def put(self, key: str, data: bytes) -> None:
        """Write a whole file at once, and replace an existing one."""

    def create(self, key: str, data: bytes) -> bool:
        """Write a whole file only if it does not exist yet. Exactly one of several callers gets True."""

    def writer(self, key: str) -> FileWriter:
        """Start a file that is too large for memory. It may be visible while it grows; use a name readers ignore."""

    def move(self, moves: Sequence[tuple[str, str]]) -> None:
        """Move files from the first key to the second of each pair, and replace existing files.

        If this raises, any of the files may have moved.

        Raises:
            FileNotFoundError: there is no file under the first key of a pair.
        """

    def list(self, folder: str, skip: Sequence[Stretch] = ()) -> Sequence[str]:
        """Return the keys of all files below a folder, sorted; `""` is the root. A missing folder is empty.

        Args:
            folder: the folder to list.
            skip: stretches of keys to leave out, in order and disjoint. Skipping whole folders costs next to nothing.
        """

    def flush(self, keys: Iterable[str]) -> None:
        """Make files that another program has written survive a power cut, with their names. Missing ones are ignored.

        A store that keeps whole objects has nothing to do.
        """

    def delete(self, keys: Iterable[str]) -> None:
        """Remove files. Missing ones are ignored."""

    def delete_folder(self, folder: str, within: str | None = None) -> None:
        """Remove every file below a folder, and the folder itself if the storage has folders.

        Args:
            folder: the folder to remove.
            within: a folder above it. The folders between the two are removed as well if they are empty then.
        """

    def lock(self, key: str) -> FileLock | None:
        """Lock a file of this name; None if it is locked on this machine already, or the storage has no locks."""


def stretch_with(key: str, stretches: Sequence[Stretch]) -> Stretch | None:
    """Return the stretch that contains a key, or all keys below a folder.

    Args:
        key: the key of a file, or a folder followed by a slash.
        stretches: in order and disjoint.
    """
    at = bisect_right(stretches, key, key=lambda one: f"{one[0]}/")
    return stretches[at - 1] if at and key < past(stretches[at - 1]) else None


def past(stretch: Stretch) -> str:
    """Return the smallest text that sorts after all keys of a stretch. No key equals it."""
    return f"{stretch[1]}0"  # the character after the slash


def checked(key: str) -> str:
    """Return the key if it names something strictly below the root.

    Raises:
        PermanentError: the key has an empty part, `.`, `..` or a NUL.
    """
    if "\0" in key or any(part in {"", ".", ".."} for part in key.split("/")):
        raise PermanentError(
            f"key {key!r} does not stay below the root of its storage; this is a bug, please report it"
        )
    return key
