"""A compaction that another one takes for dead moves nothing more."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import pytest

from gluepot.commit.compaction import Compaction, compactions, created, newest_compaction, settle
from gluepot.commit.record import FileEntry
from gluepot.connectors.files.sink.layout import (
    compaction_intent_key,
    compaction_key,
    emptied_key,
    staging_of_compaction,
)
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


def test_one_that_died_when_it_was_done_loses_only_what_it_has_replaced():
    (made,) = SLOW.files
    files = {"one.parquet": b"1", "two.parquet": b"2", made.path: b"12", SLOW.intent_key: SLOW.to_bytes()}
    storage = MemoryStorage({**files, compaction_key(1): SLOW.to_bytes()})
    settle(storage, "other")
    assert sorted(storage.files) == sorted([made.path, compaction_key(1)])


@pytest.mark.parametrize(("there", "is_ours"), [(None, True), (SLOW, True), (Compaction(1, "other"), False)])
def test_a_number_belongs_to_the_one_whose_record_has_it_whatever_the_reply_was(there, is_ours):
    storage = MemoryStorage({} if there is None else {compaction_key(1): there.to_bytes()})
    assert created(storage, SLOW) is is_ours
    assert Compaction.from_bytes(storage.get(compaction_key(1))).owner == ("slow" if is_ours else "other")


def test_compactions_are_read_in_the_order_of_their_numbers():
    storage = MemoryStorage({compaction_key(n): Compaction(n, f"of-{n}").to_bytes() for n in range(1, 12)})
    storage.put(compaction_intent_key(12, "slow"), b"{}")
    storage.put(emptied_key(3), b"")
    assert [one.number for one in compactions(storage)] == list(range(1, 12))
    assert [one.number for one in compactions(storage, 3)] == [1, 2, 3]
    assert (newest_compaction(storage), newest_compaction(MemoryStorage())) == (11, 0)


@pytest.mark.parametrize("text", [b"{", b"[]", b'{"version": 1}', b'{"version": 1, "files": [1], "replaced": []}'])
def test_a_record_that_is_damaged_is_refused(text):
    with pytest.raises(CheckpointError, match=r"a compaction's record beginning with .* cannot be read; restore it"):
        Compaction.from_bytes(text)


def test_a_record_of_a_newer_version_is_refused():
    newer = Compaction.from_bytes(Compaction(1, "o").to_bytes()).to_bytes().replace(b'"version": 1', b'"version": 2')
    with pytest.raises(CheckpointError, match="use a newer Gluepot"):
        Compaction.from_bytes(newer)
