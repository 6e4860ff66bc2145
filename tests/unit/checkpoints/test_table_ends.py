"""Where a new query begins behind tables, and that no driver of the old query publishes behind its back."""

from __future__ import annotations

import json

import pytest

from gluepot.commit import FILES, Journal, Target, Write, live, place_digest, publish
from gluepot.connectors.kafka.positions import split
from gluepot.connectors.values import CommitKey
from gluepot.core.clock import FakeClock, SystemClock
from gluepot.core.errors import ConfigError, LeaseHeld
from gluepot.core.storage import open_storage
from gluepot.streaming.checkpoints import lease
from gluepot.streaming.checkpoints.moves import DifferentEnds
from gluepot.streaming.checkpoints.rewind import begin_anew
from gluepot.streaming.checkpoints.snapshot import read
from gluepot.streaming.checkpoints.table_ends import partial_batch, table_ends
from gluepot.streaming.checkpoints.unfinished import Unfinished
from tests.unit.checkpoints.made import QUERY, checkpoint, positions
from tests.unit.checkpoints.test_moves import at, record
from tests.unit.commit.worlds import staged


@pytest.fixture
def place(tmp_path):
    return str(tmp_path / "table")


def publish_batch(place: str, batch_id: int, ctx: str = "sink", token: int = 1) -> None:
    target = Target(open_storage(place), open_storage(place))
    key = CommitKey(QUERY, batch_id, ctx, place_digest(place))
    ranges = split(positions(batch_id + 1)[batch_id])
    publish(target, staged(target, ranges, attempt="a", key=key, token=token))


@pytest.fixture
def storage(tmp_path, place):
    """A checkpoint whose batch 4 has begun and is in no table; its driver has announced one write and is suspended."""
    storage = open_storage(str(tmp_path / "ck"))
    for key, data in checkpoint(5, done=4).items():
        storage.put(key, data)
    Journal(storage, 1).announce(Write(FILES, place, "sink"), 4, {})
    for batch_id in range(4):
        publish_batch(place, batch_id)
    return storage


def test_a_driver_that_wakes_up_after_a_rewind_publishes_nothing(storage, place):
    with lease.take(storage, SystemClock()) as mine:
        snapshot = read(storage)
        ends = table_ends(storage, snapshot, [place], None, drop_unfinished=False)
        begin_anew(storage, snapshot, ends.start, mine, FakeClock(1.8e9), ends)
    with pytest.raises(LeaseHeld):
        publish_batch(place, 4)
    assert sum(len(one.files) > 0 for one in live(open_storage(place))) == 4


def test_a_driver_that_wakes_up_after_a_rewind_to_offsets_publishes_nothing(storage, place):
    publish_batch(place, 4, token=1)
    with lease.take(storage, SystemClock()) as mine:
        begin_anew(storage, read(storage), at(p0=1), mine, FakeClock(1.8e9))
    assert sum(len(one.files) > 0 for one in live(open_storage(place))) == 5  # what is there stays
    with pytest.raises(LeaseHeld):
        publish_batch(place, 4)


def test_a_driver_that_publishes_while_the_tables_are_read_ends_the_rewind(storage, place):
    before = {key for key in storage.list("") if "gluepot/" not in key}
    with lease.take(storage, SystemClock()) as mine:
        snapshot = read(storage)
        ends = table_ends(storage, snapshot, [place], None, drop_unfinished=False)
        publish_batch(place, 4)
        with pytest.raises(ConfigError, match=r"table changed while the command ran.*run the command again"):
            begin_anew(storage, snapshot, ends.start, mine, FakeClock(1.8e9), ends)
        assert {key for key in storage.list("") if "gluepot/" not in key} == before
        with pytest.raises(ConfigError, match="--drop-unfinished"):
            table_ends(storage, snapshot, [place], None, drop_unfinished=False)
        again = table_ends(storage, snapshot, [place], None, drop_unfinished=True)
        begin_anew(storage, snapshot, again.start, mine, FakeClock(1.8e9), again)
    assert again.start.ends() == {("t", 0): 12, ("t", 1): 8}
    assert sum(len(one.files) > 0 for one in live(open_storage(place))) == 4


def test_a_rewind_whose_lease_was_lost_meanwhile_moves_nothing(storage):
    storage.put("commits/4", storage.get("commits/3"))
    before = {key for key in storage.list("") if "gluepot/" not in key}
    clock = FakeClock(1.0)
    with lease.take(storage, clock, host="here", ttl_secs=600.0) as mine:
        owner = {"number": 2, "token": 9**20, "host": "there", "pid": 1}
        storage.put("gluepot/lease/2.json", json.dumps(owner).encode())
        clock.sleep(301.0)  # this process was suspended
        with pytest.raises(LeaseHeld, match="another driver took over"):
            begin_anew(storage, read(storage), at(p0=1), mine, clock)
    assert {key for key in storage.list("") if "gluepot/" not in key} == before


def test_a_batch_that_only_some_writes_hold_is_taken_back_if_its_checkpoint_was_lost(tmp_path, place):
    storage = open_storage(str(tmp_path / "lost"))
    for batch_id in range(4):
        publish_batch(place, batch_id, "first")
    for batch_id in range(3):
        publish_batch(place, batch_id, "second")
    with lease.take(storage, SystemClock()) as mine:
        snapshot = read(storage)
        with pytest.raises(DifferentEnds, match=rf"choose one with --ctx; or, if batch 3 of query {QUERY} was"):
            table_ends(storage, snapshot, [place], None, drop_unfinished=False)
        ends = table_ends(storage, snapshot, [place], None, drop_unfinished=True)
        begin_anew(storage, snapshot, ends.start, mine, FakeClock(1.8e9), ends)
    assert (ends.unfinished, ends.start.ends()) == (Unfinished(QUERY, 3), {("t", 0): 9, ("t", 1): 6})
    assert sum(len(one.files) > 0 for one in live(open_storage(place))) == 6


def test_only_a_newest_batch_explains_different_ends():
    both = [record(0, (0, 0, 3)), record(0, (0, 0, 3), ctx="other")]
    assert partial_batch({"/a": [*both, record(1, (0, 3, 5))]}) == Unfinished("q", 1)
    assert partial_batch({"/a": [*both, record(1, (0, 3, 5)), record(2, (0, 5, 6))]}) is None
    assert partial_batch({"/a": [record(0, (0, 0, 3))], "/b": [record(0, (0, 0, 3)), record(1, (0, 3, 4))]}) == (
        Unfinished("q", 1)
    )
    late = record(1, (0, 3, 5), query="old")
    assert partial_batch({"/a": [*both, late]}) == Unfinished("old", 1)
    assert partial_batch({"/a": [record(0, (0, 0, 3), query="a", ctx="x"), record(0, (0, 0, 4), ctx="y")]}) is None
