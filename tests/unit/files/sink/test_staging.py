from __future__ import annotations

import threading
import zlib
from dataclasses import dataclass, field

import pytest

from gluepot.connectors.files.sink.staging import Stage
from gluepot.core.errors import TransientError
from gluepot.core.storage import LocalStorage


@dataclass
class Writer:
    storage: Slow
    key: str

    def write(self, data):
        return len(data)

    def commit(self):
        with self.storage.lock:
            self.storage.committing += 1
            self.storage.most_at_once = max(self.storage.most_at_once, self.storage.committing)
        self.storage.barrier.wait()
        if self.key in self.storage.broken:
            raise TransientError(f"no room for {self.key}")
        with self.storage.lock:
            self.storage.committing -= 1
            self.storage.files.add(self.key)

    def discard(self):
        self.storage.discarded.append(self.key)


@dataclass
class Slow:
    """A storage in which no file is durable before as many others have been started as `together` says."""

    together: int = 1
    broken: frozenset[str] = frozenset()
    files: set[str] = field(default_factory=set)
    discarded: list[str] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)
    committing: int = 0
    most_at_once: int = 0

    def __post_init__(self):
        self.barrier = threading.Barrier(self.together, timeout=10)

    def writer(self, key):
        return Writer(self, key)

    def delete(self, keys):
        self.files -= set(keys)


def staged(storage, files):
    stage = Stage(storage, "task")
    for number in range(files):
        output = stage.open(f"final-{number}")
        output.write(b"rows")
        output.finish(1, {})
    return stage


def test_files_become_durable_side_by_side():
    storage = Slow(together=8)

    staged(storage, 16).settle()

    assert len(storage.files) == 16
    assert storage.most_at_once == 8


def test_many_files_wait_for_those_before_them():
    storage = Slow()

    staged(storage, 500).settle()

    assert len(storage.files) == 500


def test_a_file_that_cannot_be_kept_is_told_when_the_stage_settles_and_nothing_stays():
    storage = Slow(broken=frozenset({"task-1.staged"}))
    stage = staged(storage, 3)

    with pytest.raises(TransientError, match=r"no room for task-1\.staged"):
        stage.settle()
    stage.discard()

    assert storage.files == set()
    assert len(storage.discarded) == 3


def test_small_pieces_reach_the_storage_together_and_in_their_order(tmp_path):
    storage = LocalStorage(tmp_path)
    stage = Stage(storage, "task")
    output = stage.open("final")
    pieces = [bytes([number % 256]) * (number * 37 % 5000) for number in range(60)]
    pieces[30] = b"large" * 40_000
    for piece in pieces:
        output.write(piece)
    assert output.tell() == sum(map(len, pieces))
    file = output.finish(60, {})
    stage.settle()
    written = storage.get(file.staged)
    assert written == b"".join(pieces)
    assert (file.size_bytes, file.crc32) == (len(written), zlib.crc32(written))
