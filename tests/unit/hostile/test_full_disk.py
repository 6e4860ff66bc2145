"""A disk that is full from some moment on: nothing is damaged, and the same batch succeeds once there is space again."""

from __future__ import annotations

import errno
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from gluepot.commit import Target, abort, publish, recover
from gluepot.core.errors import TransientError
from gluepot.core.storage import LocalStorage
from gluepot.core.storage.filesystem import NewFile, OsFileSystem, OsNewFile
from tests.unit.commit.explore import manifest_rows, must_hold_once
from tests.unit.commit.worlds import KEY, offsets, records, staged

RANGES = (offsets(0, 3, "0"), offsets(0, 2, "1"))
MANY = 1_000


@dataclass(frozen=True)
class FullDisk(OsFileSystem):
    """Takes a number of new files, folders and writes, then is full until `space` is set again."""

    space: list[int] = field(default_factory=lambda: [MANY])

    def _take(self, path: Path | None = None) -> None:
        if not self.space[0]:
            raise OSError(errno.ENOSPC, "No space left on device", str(path))
        self.space[0] -= 1

    def create(self, path: Path) -> NewFile:
        self._take(path)
        inner = super().create(path)
        assert isinstance(inner, OsNewFile)
        return FullFile(inner.file, self)

    def link(self, old: Path, new: Path) -> None:
        self._take(new)
        super().link(old, new)

    def make_folder(self, path: Path) -> None:
        self._take(path)
        super().make_folder(path)


@dataclass(frozen=True)
class FullFile(OsNewFile):
    disk: FullDisk | None = None

    def write(self, data: bytes | memoryview) -> int:
        assert self.disk is not None
        if not self.disk.space[0]:
            super().write(bytes(data)[: len(data) // 2])  # a full disk takes what it still can
        self.disk._take()
        return super().write(data)


@pytest.mark.parametrize("space", range(30))
def test_a_disk_that_fills_up_damages_nothing_and_the_batch_succeeds_later(tmp_path, space):
    disk = FullDisk(space=[space])
    storage = LocalStorage(tmp_path, disk)
    target = Target(storage, storage)

    with suppress(TransientError):
        recover(target, KEY.query_id, 1)
        publish(target, staged(target, RANGES, attempt="first"))
    assert manifest_rows(storage) in ([], records(*RANGES))
    disk.space[0] = MANY
    abort(target, KEY, "1/first")
    recover(target, KEY.query_id, 1)
    publish(target, staged(target, RANGES, attempt="second"))

    must_hold_once(storage, RANGES, f"space for {space} changes")


def test_the_points_above_reach_from_the_first_file_to_the_last(tmp_path):
    disk = FullDisk()
    storage = LocalStorage(tmp_path, disk)
    target = Target(storage, storage)
    publish(target, staged(target, RANGES, attempt="first"))
    assert 10 <= MANY - disk.space[0] <= 30
