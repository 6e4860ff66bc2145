"""The contract of a storage, with the rule that keeps keys below its root."""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING, BinaryIO, Protocol

from gluepot.core.errors import PermanentError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


Stretch = tuple[str, str]
"""Two folders: all keys below the first, below the second, and between them by the order of text."""


class FileWriter(Protocol):
    """A file that is being written. Exactly one of `commit` and `discard` ends it."""

    def write(self, data: bytes | memoryview) -> int:
        """Append; returns the number of bytes taken, which is all of them."""

    def commit(self) -> None:
        """Make the file complete and durable under its key."""

    def discard(self) -> None:
        """Leave nothing behind. Never raises for what is already gone."""


class FileLock(Protocol):
    """A lock that ends with the process that took it, if not before."""

    def release(self) -> None:
        """Let others have it."""


class Storage(Protocol):
    """Files below one root. A key is relative to the root, its parts joined by `/`; a folder is a key's beginning.

    Every action is durable when it returns. All of them raise ConfigError for missing rights or a missing bucket,
    TransientError where another try may help (full disk, network), PermanentError for a key that leaves the root.
    """

    @property
    def url(self) -> str:
        """The root, for people."""

    def get(self, key: str) -> bytes:
        """Return a whole file; FileNotFoundError when there is none."""

    def reader(self, key: str) -> BinaryIO:
        """Open a file to read any part of it; FileNotFoundError when there is none, or none any more."""

    def put(self, key: str, data: bytes) -> None:
        """Write a whole file at once, over what was there."""

    def create(self, key: str, data: bytes) -> bool:
        """Write a whole file only if there is none; of several callers exactly one gets True."""

    def writer(self, key: str) -> FileWriter:
        """Start a file too large to hold; it may be visible while it grows, so give it a name no reader looks for."""

    def move(self, moves: Sequence[tuple[str, str]]) -> None:
        """Move files from first to second key, over what was there; when it raises, any of them may have moved.

        Raises:
            FileNotFoundError: a first key has no file.
        """

    def list(self, folder: str, skip: Sequence[Stretch] = ()) -> Sequence[str]:
        """Return the keys of all files below a folder, sorted; `""` is the root. A missing folder is empty.

        Args:
            folder: where to look.
            skip: keys to leave out, in order and apart from each other; whole folders of them cost next to nothing.
        """

    def delete(self, keys: Iterable[str]) -> None:
        """Remove files; missing ones are as good as removed."""

    def delete_folder(self, folder: str, within: str | None = None) -> None:
        """Remove every file below a folder, and the folder itself where a storage has such a thing.

        Args:
            folder: what goes.
            within: a folder above it; those between the two go as well, as far as nothing else is in them.
        """

    def lock(self, key: str) -> FileLock | None:
        """Lock a file of this name; None when somebody else on this machine has it, or where there are no locks."""


def stretch_with(key: str, stretches: Sequence[Stretch]) -> Stretch | None:
    """Return the stretch that a key, or all that is below a folder, lies in.

    Args:
        key: of a file, or a folder with a slash behind it.
        stretches: in order and apart from each other.
    """
    at = bisect_right(stretches, key, key=lambda one: f"{one[0]}/")
    return stretches[at - 1] if at and key < past(stretches[at - 1]) else None


def past(stretch: Stretch) -> str:
    """Return the least text that is behind all keys of a stretch; no key is that text."""
    return f"{stretch[1]}0"  # the character after the slash


def checked(key: str) -> str:
    """Return the key if it names something strictly below the root.

    Raises:
        PermanentError: it has an empty part, `.`, `..` or a NUL.
    """
    if "\0" in key or any(part in {"", ".", ".."} for part in key.split("/")):
        raise PermanentError(
            f"key {key!r} does not stay below the root of its storage; this is a bug, please report it"
        )
    return key
