"""A compaction that another one takes for dead moves nothing more."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import pytest

from gluepot.commit.compaction import Compaction, settle
from gluepot.commit.record import FileEntry
from gluepot.connectors.files.sink.layout import compaction_key, staging_of_compaction
from gluepot.core.errors import CheckpointError
from tests.unit.commit.worlds import MemoryStorage

SLOW = Compaction(
    1, "slow", ["one.parquet", "two.parquet"], [FileEntry("compact-slow1.parquet", 4, 2, 0, rejects=False)]
)
STAGED = f"{staging_of_compaction('slow1')}/0.staged"


@dataclass
class WhileSlowGoesOn(MemoryStorage):
    """The slow compaction goes on at the moment at which its intent is removed."""

    def delete(self, keys: Iterable[str]) -> None:
        gone = list(keys)
        super().delete(gone)
        if SLOW.intent_key in gone:
            self.copy(STAGED, SLOW.files[0].path)


def test_one_that_is_slow_finds_nothing_to_move_once_it_is_taken_for_dead():
    files = {"one.parquet": b"1", "two.parquet": b"2", STAGED: b"12", SLOW.intent_key: SLOW.to_bytes()}
    storage = WhileSlowGoesOn(files)

    settle(storage, "other")

    assert sorted(storage.files) == sorted(["one.parquet", "two.parquet", compaction_key(1)])


def test_what_was_staged_by_one_that_died_before_it_wrote_its_intent_is_removed():
    storage = MemoryStorage({"one.parquet": b"1", "two.parquet": b"2", STAGED: b"12"})
    settle(storage, "other")
    assert sorted(storage.files) == ["one.parquet", "two.parquet"]


def test_a_record_of_a_newer_version_is_refused():
    newer = Compaction.from_bytes(Compaction(1, "o").to_bytes()).to_bytes().replace(b'"version": 1', b'"version": 2')
    with pytest.raises(CheckpointError, match="use a newer Gluepot"):
        Compaction.from_bytes(newer)
