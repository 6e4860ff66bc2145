"""A version of a file, and the set of versions a bookmark remembers."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import orjson

from gluepot.core.errors import CheckpointError
from gluepot.core.stored_json import UNFIT

KIND = "files"
_VERSION = 2


Identity = tuple[str, int, int, str]
"""Of a version, within its folder: name, size in bytes, time of modification in microseconds, etag."""

_Columns = tuple[Sequence[str], Sequence[int], Sequence[int], Sequence[str]]
"""Identities as four lists of equal length."""

_NONE: frozenset[Identity] = frozenset()


class FileVersion(NamedTuple):
    """A file as a listing shows it. Overwritten, it is another version.

    A tuple, because a listing makes 100,000 of them.

    Args:
        root: the path of the script that it was found under, canonical.
        folder: URL of the folder it lies in, without a slash at the end.
        name: within the folder.
        size_bytes: its length.
        mtime_us: last modification, in microseconds since 1970 UTC, by the clock of the storage.
        etag: of an object store; empty on a disk.
        under: what a catalog says of the root, as names of folders: `year=2024/month=01`.
    """

    root: str
    folder: str
    name: str
    size_bytes: int
    mtime_us: int
    etag: str = ""
    under: str = ""

    @property
    def url(self) -> str:
        """Where it lies."""
        return f"{self.folder}/{self.name}"

    @property
    def inside(self) -> str:
        """Its folder, relative to the root; empty for the root itself."""
        return self.folder[len(self.root) :].strip("/")

    @property
    def partition(self) -> str:
        """The same, below what a catalog says of the root."""
        return f"{self.under}/{self.inside}".strip("/")

    @property
    def identity(self) -> Identity:
        """Equal for the same version of the same name, within a folder."""
        return self[2:6]


class _ReadFolders(Mapping[str, AbstractSet[Identity]]):
    """Identities by folder, in the columns that bookmarks keep.

    A folder's identities become a set when somebody asks for them, because sets of a million take 250 MB. A plan asks
    for one folder after the other.
    """

    def __init__(self, columns: Mapping[str, Sequence[_Columns]]) -> None:
        self._columns = columns
        self._newest: tuple[str | None, AbstractSet[Identity]] = (None, _NONE)

    def __getitem__(self, folder: str) -> AbstractSet[Identity]:
        columns, newest = self._columns[folder], self._newest
        if newest[0] != folder:
            try:
                newest = folder, set().union(*(zip(*one, strict=True) for one in columns))
            except UNFIT as error:
                raise CheckpointError(
                    f"a bookmark cannot be read where it names files of {folder}; reset it"
                ) from error
            self._newest = newest
        return newest[1]

    def __contains__(self, folder: object) -> bool:
        return folder in self._columns

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        return len(self._columns)


@dataclass(frozen=True, slots=True)
class FilesState:
    """Which versions of which files were read, by identity: no clock decides, so none can be wrong.

    Glue remembers the time of the last run and the names of its last `maxBand` (docs/glue 4.5); a file that arrives
    with an older time than that is never read. Remembering all of them costs some 60 bytes per file in
    the ledger.

    Args:
        folders: identities by folder.
        started_us: when the newest run that is part of it began; None for none.
    """

    folders: Mapping[str, AbstractSet[Identity]] = field(default_factory=dict)
    started_us: int | None = None

    def identities(self, folder: str) -> AbstractSet[Identity]:
        """Return those of the versions in a folder that were read."""
        return self.folders.get(folder, _NONE)

    def holds(self, file: FileVersion) -> bool:
        """Tell whether this version was read."""
        return file.identity in self.identities(file.folder)

    def and_then(self, later: FilesState) -> FilesState:
        """Return the state with what a later run read."""
        folders = dict(self.folders)
        for folder, identities in later.folders.items():
            folders[folder] = self.identities(folder) | identities
        return FilesState(folders, later.started_us if later.started_us is not None else self.started_us)


def state_body(files: Iterable[FileVersion], started_us: int, source: Mapping[str, Any]) -> str:
    """Return what a run adds to the state as JSON text.

    Args:
        files: what it read.
        started_us: when it began.
        source: the options of the read, so that a command can plan the next one without the script.
    """
    folders: dict[str, list[Identity]] = {}
    for file in files:
        folders.setdefault(file.folder, []).append(file.identity)
    plain = {
        "kind": KIND,
        "version": _VERSION,
        "started_us": started_us,
        "source": source,
        "columns": ["name", "size_bytes", "mtime_us", "etag"],
        # Four lists a folder, not a list a file: of 200,000 files they are read in half the time.
        "folders": {folder: list(zip(*identities, strict=True)) for folder, identities in folders.items()},
    }
    return json.dumps(plain)  # in ASCII: a name on a disk need not be text that a database takes


def read_body(body: str) -> tuple[list[FileVersion], int, Mapping[str, Any]]:
    """Return what `state_body` was given; the root of each file is its folder.

    Raises:
        CheckpointError: the text is none of ours, or was written by a newer version of Gluepot.
    """
    with _readable(body):
        plain = _parsed(body)
        files = [
            FileVersion(folder, folder, name, size_bytes, mtime_us, etag)
            for folder, columns in plain["folders"].items()
            for name, size_bytes, mtime_us, etag in zip(*columns, strict=True)
        ]
        return files, plain["started_us"], plain["source"]


def state_of(bodies: Sequence[str]) -> FilesState:
    """Return the state that a bookmark's bodies make up, oldest first.

    Raises:
        CheckpointError: one of them cannot be read.
    """
    folders: dict[str, list[_Columns]] = {}
    started_us = None
    for body in bodies:
        with _readable(body):
            plain = _parsed(body)
            started_us = plain["started_us"]
            for folder, columns in plain["folders"].items():
                if columns and len({len(one) for one in columns}) != 1:
                    raise ValueError(folder)
                folders.setdefault(folder, []).append(columns)
    return FilesState(_ReadFolders(folders), started_us)


def _parsed(body: str) -> Any:
    try:
        plain = orjson.loads(body)
    except orjson.JSONDecodeError:
        plain = json.loads(body)  # names on a disk that are not text
    if plain["kind"] != KIND or plain["version"] != _VERSION:
        raise CheckpointError(
            f"a bookmark is of kind {plain['kind']}, version {plain['version']}; this source knows {KIND},"
            f" version {_VERSION}: reset it, or give the source a transformation_ctx of its own",
        )
    return plain


@contextmanager
def _readable(body: str) -> Iterator[None]:
    try:
        yield
    except (*UNFIT, RecursionError) as error:
        raise CheckpointError(f"a bookmark beginning with {body[:40]!r} cannot be read; reset it") from error


def digest_of(files: Iterable[FileVersion]) -> str:
    """Return text that is equal for equal sets of versions."""
    lines = sorted(f"{file.folder}\0{file.size_bytes}:{file.mtime_us}:{file.etag}:{file.name}" for file in files)
    return hashlib.sha256("\1".join(lines).encode("utf-8", "surrogateescape")).hexdigest()
