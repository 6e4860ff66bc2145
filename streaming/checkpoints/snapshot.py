"""Reads a checkpoint folder once, into plain values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field

from gluepot.connectors.streams.start import START_FILE
from gluepot.core.checkpoint import BACKUP
from gluepot.core.storage import Storage
from gluepot.streaming.checkpoints.contents import (
    CommitFile,
    Damage,
    OffsetFile,
    QueryId,
    read_commit,
    read_metadata,
    read_offsets,
)
from gluepot.streaming.checkpoints.names import METADATA, FileName, checksum_of, file_name, lease_number

_NEWEST = 3  # entries of a log: the one from which Spark continues, the one before it that Spark needs, one to compare
_READ_KINDS = frozenset({"metadata", "offsets", "commits", "sources"})


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The files of a checkpoint at one moment.

    Args:
        location: the location of the checkpoint, for messages.
        names: every listed file, without backups.
        contents: bytes of the files that were read, by key, checksum files included. Not all files in `names` are read.
    """

    location: str
    names: tuple[FileName, ...] = ()
    contents: Mapping[str, bytes] = field(default_factory=dict)

    def batches(self, log: str) -> list[int]:
        """Return the batch ids of a log, `offsets` or `commits`, ascending, including entries that were not read."""
        return sorted(name.batch_id for name in self.names if name.kind == log and name.batch_id is not None)

    def begun(self) -> int | None:
        """Return the batch that is planned and not committed; None if there is none."""
        planned = self.batches("offsets")
        return planned[-1] if planned and planned[-1] not in self.batches("commits") else None

    def query_id(self) -> QueryId | Damage | None:
        """Return the query id in `metadata`; None if the file does not exist."""
        data = self.contents.get(METADATA)
        return None if data is None else read_metadata(data, self._crc(METADATA))

    def offsets(self) -> dict[int, OffsetFile | Damage]:
        """Return the entries of the offset log that were read."""
        return {n: read_offsets(data, crc) for n, data, crc in self._read("offsets")}

    def commits(self) -> dict[int, CommitFile | Damage]:
        """Return the entries of the commit log that were read."""
        return {n: read_commit(data, crc) for n, data, crc in self._read("commits")}

    def _read(self, log: str) -> Iterable[tuple[int, bytes, bytes | None]]:
        for name in self.names:
            if name.kind == log and name.batch_id is not None and name.key in self.contents:
                yield name.batch_id, self.contents[name.key], self._crc(name.key)

    def _crc(self, key: str) -> bytes | None:
        return self.contents.get(checksum_of(key))


def read(storage: Storage) -> Snapshot:
    """Read a checkpoint except state, data and backups."""
    listed = [key for key in storage.list("") if not key.startswith(f"{BACKUP}/")]
    names = tuple(map(file_name, listed))
    wanted = [one.key for one in names if one.kind in _READ_KINDS or one.key == START_FILE]
    wanted += [one.key for one in names if lease_number(one.key) is not None]
    return Snapshot(storage.url, names, _contents(storage, [*wanted, *({*map(checksum_of, wanted)} & {*listed})]))


def read_newest(storage: Storage) -> Snapshot:
    """Read only the files that the next start depends on, so that a remote storage gets few requests for long logs."""
    listed = [key for log in ("offsets", "commits") for key in storage.list(log)]
    names = tuple(map(file_name, listed))
    newest: list[str] = []
    for log in ("offsets", "commits"):
        entries = sorted((one.batch_id, one.key) for one in names if one.kind == log and one.batch_id is not None)
        newest += [key for _, key in entries[-_NEWEST:]]
    known = {*listed, checksum_of(METADATA)}
    wanted = [METADATA, START_FILE, *newest]
    contents = _contents(storage, [*wanted, *({*map(checksum_of, wanted)} & known)])
    metadata = (file_name(METADATA),) if METADATA in contents else ()
    return Snapshot(storage.url, (*metadata, *names), contents)


def _contents(storage: Storage, keys: Iterable[str]) -> dict[str, bytes]:
    contents: dict[str, bytes] = {}
    for key in keys:
        with suppress(FileNotFoundError):  # a running query removes old entries
            contents[key] = storage.get(key)
    return contents
