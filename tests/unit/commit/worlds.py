"""A small world to publish in: storages that keep everything in memory or crash on purpose, and staged batches."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from gluepot.commit import Target
from gluepot.connectors.files.sink.layout import staging_of_attempt
from gluepot.connectors.values import CommitKey, Manifest, ManifestPart, SourceRange, StagedFile
from gluepot.core.storage import FileWriter, Storage
from gluepot.core.storage.port import Stretch, checked, stretch_with

KEY = CommitKey("query-1", 7, "sink0")


@dataclass
class MemoryWriter:
    files: dict[str, bytes]
    key: str
    data: bytes = b""

    def write(self, data: bytes | memoryview) -> int:
        self.data += bytes(data)
        return len(data)

    def commit(self) -> None:
        self.files[self.key] = self.data

    def discard(self) -> None:
        self.files.pop(self.key, None)


@dataclass
class MemoryStorage:
    """A storage in a dict."""

    files: dict[str, bytes] = field(default_factory=dict)
    url: str = "memory:"

    def get(self, key: str) -> bytes:
        if key not in self.files:
            raise FileNotFoundError(key)
        return self.files[checked(key)]

    def put(self, key: str, data: bytes) -> None:
        self.files[checked(key)] = data

    def create(self, key: str, data: bytes) -> bool:
        if checked(key) in self.files:
            return False
        self.files[key] = data
        return True

    def writer(self, key: str) -> FileWriter:
        return MemoryWriter(self.files, checked(key))

    def move(self, moves: Sequence[tuple[str, str]]) -> None:
        for source, target in moves:
            data = self.get(source)
            self.files[checked(target)] = data
            del self.files[source]

    def copy(self, source: str, target: str) -> None:
        """Copy a file as a store without renaming does; nothing happens if it is gone."""
        if source in self.files:
            self.files[checked(target)] = self.files[source]

    def list(self, folder: str, skip: Sequence[Stretch] = ()) -> Sequence[str]:
        below = [key for key in self.files if not folder or key.startswith(f"{folder}/")]
        return sorted(key for key in below if not stretch_with(key, skip))

    def delete(self, keys: Iterable[str]) -> None:
        for key in keys:
            self.files.pop(key, None)

    def delete_folder(self, folder: str, within: str | None = None) -> None:
        self.delete(self.list(folder))


# Gets what happens, the name of a driver and the storage that it shares with others; returns the storage to give it.
Watch = Callable[[str, str, Storage], Storage]


def unwatched(_where: str, _driver: str, storage: Storage) -> Storage:
    return storage


class Crash(BaseException):
    """The process dies here."""


@dataclass
class CrashingStorage:
    """Passes everything on, one file at a time, and dies before one of the changes.

    Args:
        inner: what it passes on to.
        changes_left: how many changes happen before the crash.
    """

    inner: Storage
    changes_left: int

    @property
    def url(self) -> str:
        return self.inner.url

    def _change(self) -> None:
        if self.changes_left == 0:
            raise Crash
        self.changes_left -= 1

    def get(self, key: str) -> bytes:
        return self.inner.get(key)

    def list(self, folder: str, skip: Sequence[Stretch] = ()) -> Sequence[str]:
        return self.inner.list(folder, skip)

    def writer(self, key: str) -> FileWriter:
        return self.inner.writer(key)

    def put(self, key: str, data: bytes) -> None:
        self._change()
        self.inner.put(key, data)

    def create(self, key: str, data: bytes) -> bool:
        self._change()
        return self.inner.create(key, data)

    def move(self, moves: Sequence[tuple[str, str]]) -> None:
        for one in moves:
            self._change()
            self.inner.move([one])

    def delete(self, keys: Iterable[str]) -> None:
        for key in keys:
            self._change()
            self.inner.delete([key])

    def delete_folder(self, folder: str, within: str | None = None) -> None:
        self.delete(self.list(folder))


def offsets(start: int, end: int, shard: str = "0") -> SourceRange:
    return SourceRange("kafka", "clicks", "id-1", shard, start, end)


def staged(
    target: Target,
    ranges: Sequence[SourceRange],
    *,
    attempt: str,
    key: CommitKey = KEY,
    rejected: Mapping[str, int] | None = None,
    token: int = 1,
) -> Manifest:
    """Stage, as one task per range would, a file with one line per offset and perhaps a file of rejects."""
    parts = []
    for task, one in enumerate(ranges):
        folder = staging_of_attempt(key, f"{token}/{attempt}")
        lines = [f"{one.shard}:{offset}" for offset in range(one.start, one.end)]
        bad = [f"bad:{reason}" for reason, times in (rejected or {}).items() for _ in range(times)]
        files = [_file(target.table, f"{folder}/{task}.staged", f"day=1/run-{key.batch_id}-{task}.parquet", lines)]
        if bad:
            files.append(
                _file(
                    target.rejects,
                    f"{folder}/{task}-r.staged",
                    f"_rejects/run-{key.batch_id}-{task}.rejects",
                    bad,
                    rejects=True,
                )
            )
        parts.append(
            ManifestPart(
                files=files,
                ranges=[one],
                rows_in=len(lines) + len(bad),
                rows_out=len(lines),
                rejected=dict(rejected or {}),
            ),
        )
    return Manifest(key, parts, token=token)


def _file(storage: Storage, staged_key: str, final: str, lines: Sequence[str], *, rejects: bool = False) -> StagedFile:
    data = "\n".join(lines).encode()
    writer = storage.writer(staged_key)
    writer.write(data)
    writer.commit()
    return StagedFile(staged_key, final, len(data), len(lines), zlib.crc32(data), rejects)


def visible(storage: Storage) -> list[str]:
    """Return the records that a reader of the whole folder finds, sorted, each as often as it is there."""
    keys = [key for key in storage.list("") if key.endswith(".parquet")]
    return sorted(line for key in keys for line in storage.get(key).decode().split("\n"))


def records(*ranges: SourceRange) -> list[str]:
    """Return what should be visible of ranges."""
    return sorted(f"{one.shard}:{offset}" for one in ranges for offset in range(one.start, one.end))


def leftovers(storage: Storage) -> list[str]:
    """Return our own files other than manifests."""
    return [key for key in storage.list("_gluepot") if "/commits/" not in key]
