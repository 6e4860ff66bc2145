"""The result of a batch is what its last attempt wrote, also where the attempt before was another driver's."""

from __future__ import annotations

import weakref
from contextlib import suppress
from dataclasses import replace

import pytest
from structlog.testing import capture_logs

from gluepot.commit import FILES, Journal, Origin, QueryWrites, Target, Write, live, place_digest, publish, recover
from gluepot.commit.publish import fence
from gluepot.connectors.files.sink.layout import COMMITS, commit_key
from gluepot.connectors.values import CommitKey, Manifest
from gluepot.core.errors import CheckpointError, LeaseHeld
from tests.unit.commit.explore import manifest_rows
from tests.unit.commit.worlds import (
    KEY,
    Crash,
    CrashingStorage,
    MemoryStorage,
    leftovers,
    offsets,
    records,
    staged,
    visible,
)

RANGES = (offsets(0, 2, "0"),)


class Driver:
    """A driver of one query: writes whole batches to tables in memory."""

    def __init__(self, checkpoint, tables, token, replaced=(), query_id="query-1"):
        self.tables, self.token, self.query_id = tables, token, query_id
        self.writes = QueryWrites(query_id, token, Journal(checkpoint, token), replaced, storages=self.storage)

    def storage(self, place):
        return self.tables.setdefault(place, MemoryStorage(url=place))

    def begin(self, batch_id):
        self.batch_id = batch_id
        self.writes.begin_attempt(batch_id)

    def open(self, place, ctx="sink", begin=lambda _: None, *, looks_again=False):
        key = CommitKey(self.query_id, self.batch_id, ctx, place_digest(place))
        target = Target(self.storage(place), self.storage(place))
        return self.writes.open(target, Manifest(key), Write(FILES, place, ctx), begin, looks_again=looks_again)

    def write(self, place, ctx="sink"):
        key = CommitKey(self.query_id, self.batch_id, ctx, place_digest(place))
        target = Target(self.storage(place), self.storage(place))
        planned = Manifest(key, (), RANGES, token=self.token, work=place)
        table = self.writes.open(target, planned, Write(FILES, place, ctx), lambda _: None)
        made = staged(target, RANGES, attempt="a", key=key, token=self.token)
        table.publish(replace(table.linked(planned), parts=made.parts))
        table.count(key, 0)


def test_what_an_earlier_attempt_of_the_same_driver_wrote_elsewhere_is_taken_back():
    tables = {}
    driver = Driver(MemoryStorage(), tables, 1)
    driver.begin(0)
    driver.write("hour=9")
    driver.begin(0)
    driver.write("hour=10")
    driver.writes.settle()
    assert visible(tables["hour=9"]) == manifest_rows(tables["hour=9"]) == []
    assert visible(tables["hour=10"]) == records(*RANGES)


def test_what_a_driver_that_died_wrote_elsewhere_is_taken_back():
    checkpoint, tables = MemoryStorage(), {}
    dead = Driver(checkpoint, tables, 1)
    dead.begin(0)
    dead.write("hour=9")
    driver = Driver(checkpoint, tables, 2)
    driver.begin(0)
    driver.write("hour=10")
    with capture_logs() as logged:
        driver.writes.settle()
    assert [one["event"] for one in logged] == ["write_taken_back"]
    assert visible(tables["hour=9"]) == manifest_rows(tables["hour=9"]) == []
    assert visible(tables["hour=10"]) == records(*RANGES)


@pytest.mark.parametrize("place", ["hour=9", "hour=10"])
def test_whatever_a_dead_driver_has_done_its_batch_is_written_once(place):
    for changes in range(20):
        checkpoint, table = MemoryStorage(), MemoryStorage(url="hour=9")
        dead = Driver(checkpoint, {"hour=9": CrashingStorage(table, changes)}, 1)
        dead.begin(0)
        with suppress(Crash):
            dead.write("hour=9")
        tables = {"hour=9": table}
        driver = Driver(checkpoint, tables, 2)
        driver.begin(0)
        driver.write(place)
        driver.writes.settle()
        assert sorted(line for one in tables.values() for line in visible(one)) == records(*RANGES)
        assert not [key for one in tables.values() for key in leftovers(one)]
    assert dead.storage("hour=9").changes_left > 0  # the last one did not die


def test_earlier_batches_stay_when_later_ones_go_elsewhere():
    checkpoint, tables = MemoryStorage(), {}
    driver = Driver(checkpoint, tables, 1)
    for n in range(3):
        driver.begin(n)
        driver.write(f"hour={n}")
        driver.writes.settle()
    late = Driver(checkpoint, tables, 2)
    late.begin(3)
    late.write("hour=3")
    late.writes.settle()
    assert all(visible(tables[f"hour={n}"]) == records(*RANGES) for n in range(4))


def test_a_driver_that_was_taken_over_cannot_publish_where_its_successor_did_not_look_yet():
    checkpoint, tables = MemoryStorage(), {}
    paused = Driver(checkpoint, tables, 1)
    paused.begin(0)
    driver = Driver(checkpoint, tables, 2)
    driver.begin(0)
    driver.write("hour=10")
    driver.writes.settle()
    with suppress(Exception):
        paused.write("hour=9")
    assert not visible(tables.get("hour=9", MemoryStorage()))


def test_a_table_that_was_written_before_there_was_a_journal_loses_what_is_not_repeated():
    tables = {"t": MemoryStorage(url="t")}
    target = Target(tables["t"], tables["t"])
    old = replace(KEY, batch_id=0, ctx="sink.2")  # an older Gluepot counted over all targets
    publish(target, staged(target, RANGES, attempt="a", key=old, token=1))
    driver = Driver(MemoryStorage(), tables, 2)
    driver.begin(0)
    driver.write("t")
    driver.writes.settle()
    assert visible(tables["t"]) == manifest_rows(tables["t"]) == records(*RANGES)


@pytest.mark.parametrize("action", ["write", "fence"])
def test_a_manifest_of_the_older_layout_is_found_when_its_batch_is_written_again_or_fenced(action):
    checkpoint, tables = MemoryStorage(), {}
    early = Driver(checkpoint, tables, 1)
    early.begin(0)
    early.write("t")
    (manifest,) = tables["t"].list(COMMITS)
    tables["t"].files[f"{COMMITS}/{manifest.rsplit('/', 1)[1]}"] = tables["t"].files.pop(manifest)
    driver = Driver(checkpoint, tables, 2)
    if action == "fence":
        driver.writes.fence(0)
    else:
        driver.begin(0)
        driver.write("t")
        driver.writes.settle()
    assert visible(tables["t"]) == manifest_rows(tables["t"]) == records(*RANGES)
    assert [(one.generation, one.token) for one in live(tables["t"])] == [(2, 2)]


def test_writes_of_other_queries_and_of_earlier_batches_are_not_taken_back():
    tables = {"t": MemoryStorage(url="t")}
    target = Target(tables["t"], tables["t"])
    others = [CommitKey("another", 4, "theirs"), CommitKey("query-1", 3, "early")]
    for number, key in enumerate(others):
        publish(target, staged(target, [offsets(number, number + 1, "1")], attempt="a", key=key))
    driver = Driver(MemoryStorage(), tables, 1)
    driver.begin(4)
    driver.write("t")
    driver.writes.settle()
    assert [one.key for one in live(tables["t"])] == [*others, CommitKey("query-1", 4, "sink")]


def test_tables_that_share_a_folder_of_rejects_do_not_clear_away_what_another_stages():
    rejects = MemoryStorage(url="rejects")
    first = Target(MemoryStorage(url="a"), rejects)
    second = Target(MemoryStorage(url="b"), rejects)
    made = staged(first, RANGES, attempt="a", key=replace(KEY, target=place_digest("a")), rejected={"broken": 1})
    recover(second, KEY.query_id, 1, place_digest("b"))
    assert publish(first, made).rejects


def test_a_driver_writes_under_a_key_that_it_has_taken_back_when_the_batch_runs_once_more():
    checkpoint, tables = MemoryStorage(), {}
    dead = Driver(checkpoint, tables, 1)
    dead.begin(0)
    dead.open("t", "second")  # and dies before it publishes
    driver = Driver(checkpoint, tables, 2)
    driver.begin(0)
    driver.write("t", "first")
    driver.writes.settle()
    driver.begin(0)
    driver.write("t", "second")
    driver.writes.settle()
    assert visible(tables["t"]) == manifest_rows(tables["t"]) == records(*RANGES)


@pytest.mark.parametrize("restarts", [False, True])
def test_the_next_driver_does_not_look_for_paths_that_were_last_used_long_ago(restarts):
    checkpoint, tables = MemoryStorage(), {}
    driver = Driver(checkpoint, tables, 1)
    for batch_id in range(600):
        if restarts and batch_id % 200 == 50:
            driver = Driver(checkpoint, tables, driver.token + 1)
        driver.begin(batch_id)
        path = Write(FILES, f"hour={batch_id // 120}", "sink")
        driver.writes.announce(path, batch_id)
    assert {one.place for one in Journal(checkpoint, driver.token + 1).found} == {"hour=3", "hour=4"}


@pytest.mark.parametrize(("batch_id", "opened"), [(160, []), (161, [2])])
def test_a_table_is_recovered_again_when_a_hundred_batches_have_not_written_to_it(batch_id, opened):
    seen = []
    driver = Driver(MemoryStorage(), {}, 1)
    for number in (0, 60):
        driver.begin(number)
        driver.write("t")
    driver.begin(batch_id)
    driver.open("t", begin=lambda found: seen.append(len(found)))
    assert seen == opened


@pytest.mark.parametrize(("batch_id", "known"), [(100, {"odd", "even"}), (101, {"even"})])
def test_a_write_is_forgotten_when_a_hundred_batches_have_not_made_it(batch_id, known):
    class Notes:
        found = frozenset()

        def announce(self, write, batch_id, used):
            self.used = used

    class Undo:
        def __call__(self, write, key):
            return True

    notes, undo = Notes(), Undo()
    writes, held = QueryWrites("query-1", 1, notes), weakref.ref(undo)
    writes.begin_attempt(0)
    writes.announce(Write("postgresql", "odd", "sink"), 0, undo)
    del undo
    writes.begin_attempt(batch_id)
    writes.announce(Write("postgresql", "even", "sink"), batch_id)
    assert {one.place for one in notes.used} == known
    assert (held() is not None) is ("odd" in known)


def test_a_query_that_began_where_another_one_ended_may_leave_out_records_later():
    tables = {"t": MemoryStorage(url="t")}
    target = Target(tables["t"], tables["t"])
    publish(target, staged(target, [offsets(0, 100)], attempt="a", key=replace(KEY, query_id="another", ctx="sink")))
    driver = Driver(MemoryStorage(), tables, 1)
    driver.begin(0)
    table = driver.open("t")
    first, third = (
        Manifest(CommitKey(driver.query_id, batch_id, "sink"), ranges=[offsets(start, start + 10)])
        for batch_id, start in ((0, 100), (2, 120))
    )
    with pytest.raises(CheckpointError, match="ends at offset 100"):
        table.check(third, Origin("checkpoint"))
    table.check(first, Origin("checkpoint"))
    table.check(third, Origin("checkpoint"))


class Base:
    """A database: what is taken back in it, by the table that a driver writes to."""

    def __init__(self, name):
        self.name = name
        self.taken_back = []

    def write(self, driver, table, mode="append"):
        place = f"{self.name} {table}"
        driver.writes.announce(Write("postgresql", place, "sink", mode=mode), driver.batch_id, self.undo)

    def undo(self, write, key):
        if not write.place.startswith(f"{self.name} "):
            return False
        self.taken_back.append((write.place, write.mode, key.batch_id))
        return True


def test_what_a_driver_that_died_put_into_a_table_is_taken_back_over_another_table_of_the_database():
    checkpoint, base, other = MemoryStorage(), Base("db"), Base("other")
    dead = Driver(checkpoint, {}, 1)
    dead.begin(7)
    base.write(dead, "odd")
    driver = Driver(checkpoint, {}, 2)
    driver.begin(7)
    other.write(driver, "even")
    base.write(driver, "even")
    driver.writes.settle()
    assert base.taken_back == [("db odd", "append", 7)]
    driver.begin(8)
    base.write(driver, "odd")
    driver.writes.settle()
    driver.begin(9)
    base.write(driver, "even")
    driver.writes.settle()
    assert base.taken_back == [("db odd", "append", 7)]
    assert other.taken_back == []


@pytest.mark.parametrize("mode", ["append", ""])
def test_what_an_earlier_attempt_of_the_same_driver_put_into_a_table_is_taken_back_once(mode):
    base = Base("db")
    driver = Driver(MemoryStorage(), {}, 1)
    for table in ("odd", "even"):
        driver.begin(7)
        base.write(driver, table, mode=mode)
    driver.writes.settle()
    driver.begin(8)
    driver.writes.settle()
    assert base.taken_back == [("db odd", mode, 7)]


def test_without_a_way_into_the_database_a_write_is_taken_back_with_the_next_one_to_its_table():
    checkpoint, base, other = MemoryStorage(), Base("db"), Base("other")
    dead = Driver(checkpoint, {}, 1)
    dead.begin(7)
    base.write(dead, "odd")
    driver = Driver(checkpoint, {}, 2)
    driver.begin(7)
    other.write(driver, "even")
    driver.writes.settle()
    driver.begin(8)
    base.write(driver, "odd")
    assert base.taken_back == [("db odd", "append", 7)]


def test_a_write_of_a_journal_that_names_no_mode_waits_for_the_next_one_to_its_table():
    checkpoint, base = MemoryStorage(), Base("db")
    dead = Driver(checkpoint, {}, 1)
    dead.begin(7)
    base.write(dead, "odd", mode="")
    driver = Driver(checkpoint, {}, 2)
    driver.begin(7)
    base.write(driver, "even")
    driver.writes.settle()
    assert base.taken_back == []
    driver.begin(8)
    base.write(driver, "odd")
    assert base.taken_back == [("db odd", "", 7)]


class Lake:
    """A lake table, of which every driver knows a way to take writes back."""

    def __init__(self):
        self.taken_back = []

    def driver(self, checkpoint, token, batch_id):
        driver = Driver(checkpoint, {}, token)
        driver.writes.takes_back("iceberg", self.undo)
        driver.begin(batch_id)
        return driver

    def append(self, driver, ctx="sink"):
        write = Write("iceberg", "table", ctx)
        assert driver.writes.claim(write)
        driver.writes.announce(write, driver.batch_id)

    def undo(self, write, key):
        self.taken_back.append((write.ctx, key.batch_id))
        return True


def test_an_append_to_a_lake_table_that_a_dead_driver_made_is_taken_back_without_another_write_to_it():
    checkpoint, lake = MemoryStorage(), Lake()
    lake.append(lake.driver(checkpoint, 1, 7))
    driver = lake.driver(checkpoint, 2, 7)
    driver.writes.settle()
    driver.begin(8)
    driver.writes.settle()
    assert lake.taken_back == [("sink", 7)]


def test_an_append_may_claim_a_write_of_an_earlier_attempt_once_and_what_nobody_claims_is_taken_back():
    checkpoint, lake = MemoryStorage(), Lake()
    dead = lake.driver(checkpoint, 1, 7)
    for ctx in ("sink", "sink.2"):
        lake.append(dead, ctx)
    assert dead.writes.attempted("iceberg", "table") == frozenset()
    driver = lake.driver(checkpoint, 2, 7)
    writes = {one.ctx: one for one in driver.writes.attempted("iceberg", "table")}
    assert sorted(writes) == ["sink", "sink.2"]
    assert driver.writes.attempted("iceberg", "other table") == driver.writes.attempted("delta", "table") == frozenset()
    assert [driver.writes.claim(writes["sink.2"]) for _ in range(2)] == [True, False]
    assert [one.ctx for one in driver.writes.attempted("iceberg", "table")] == ["sink"]
    driver.writes.settle()
    assert lake.taken_back == [("sink", 7)]


def test_what_is_taken_back_before_the_end_of_the_batch_is_not_taken_back_again():
    checkpoint, lake = MemoryStorage(), Lake()
    lake.append(lake.driver(checkpoint, 1, 7))
    driver = lake.driver(checkpoint, 2, 7)
    driver.writes.take_back_from("iceberg", "table")
    driver.writes.settle()
    assert lake.taken_back == [("sink", 7)]


def test_writes_of_earlier_batches_are_known():
    lake = Lake()
    driver = lake.driver(MemoryStorage(), 1, 7)
    lake.append(driver, "sink.2")
    driver.begin(8)
    assert driver.writes.knows(Write("iceberg", "table", "sink.2"))
    assert not driver.writes.knows(Write("iceberg", "table", "sink.3"))


# --- long chains


def batches_of(driver, numbers, place="table"):
    for batch_id in numbers:
        driver.begin(batch_id)
        driver.write(place)
        driver.writes.settle()


def manifest(driver, batch_id, place="table"):
    return commit_key(CommitKey(driver.query_id, batch_id, "sink", place_digest(place)), 1)


@pytest.mark.parametrize("first", [3, 4])
def test_a_query_that_finds_its_manifests_whole_goes_on(first):
    tables = {}
    batches_of(Driver(MemoryStorage(), tables, 1), range(4))
    batches_of(Driver(MemoryStorage(), tables, 2), range(first, 6))
    links = [one.previous for one in live(tables["table"])]
    assert links == [-1, 0, 1, 2, 3, 4]


def test_a_query_whose_manifest_was_deleted_by_hand_is_refused():
    tables = {}
    batches_of(Driver(MemoryStorage(), tables, 1), range(4))
    driver = Driver(MemoryStorage(), tables, 2)
    tables["table"].delete([manifest(driver, 1)])
    driver.begin(4)
    table = driver.open("table")
    planned = Manifest(CommitKey("query-1", 4, "sink"), token=2)
    with pytest.raises(
        CheckpointError, match=r"lacks the manifest _gluepot/commits/[^.]+\.\*\.json: batch 2 .* batch 1 as"
    ):
        table.check(planned, Origin("checkpoint"))
    table.check(planned, Origin("checkpoint", allow_overlap=True))


def test_a_query_rolls_its_manifests_up_while_it_runs():
    tables = {}
    driver = Driver(MemoryStorage(), tables, 1)
    batches_of(driver, range(998, 1000))
    assert not driver.writes.has_to_roll_up()
    batches_of(driver, [1000])
    assert driver.writes.has_to_roll_up()
    driver.writes.roll_up(with_gaps=False)
    assert not driver.writes.has_to_roll_up()
    assert [one.key.batch_id for one in live(tables["table"]).tail] == [1000]
    assert [one.key.batch_id for one in live(tables["table"])] == [998, 999, 1000]
    batches_of(driver, range(1001, 1102))
    assert not driver.writes.has_to_roll_up()


def test_rolling_up_that_fails_is_tried_again_some_batches_later():
    tables = {}
    driver = Driver(MemoryStorage(), tables, 1)
    batches_of(driver, [997, 998, 999, 1000])
    tables["table"].delete([manifest(driver, 998)])
    with pytest.raises(CheckpointError, match="lacks the manifest of batch 998"):
        driver.writes.roll_up(with_gaps=False)
    assert not driver.writes.has_to_roll_up()
    batches_of(driver, range(1001, 1101))
    assert driver.writes.has_to_roll_up()


def test_a_checkpoint_that_was_put_back_reads_what_was_rolled_up_and_replaces_it():
    tables = {}
    driver = Driver(MemoryStorage(), tables, 1)
    batches_of(driver, [998, 999, 1000])
    driver.writes.roll_up(with_gaps=False)
    again = Driver(MemoryStorage(), tables, 2)
    again.begin(999)
    assert ("sink", 999) in again.open("table").history.inputs
    assert len(live(tables["table"]).tail) == 3


@pytest.mark.parametrize(
    ("removed", "looks_again", "opened"), [(True, True, 1), (True, False, 0), (False, True, 0), (False, False, 0)]
)
def test_a_table_whose_folder_was_removed_begins_anew_where_that_is_looked_for(removed, looks_again, opened):
    tables, seen = {}, []
    driver = Driver(MemoryStorage(), tables, 1)
    driver.begin(0)
    driver.write("t", "first")
    if removed:
        tables["t"].files.clear()

    for _ in range(2):
        table = driver.open("t", "second", lambda found: seen.append(len(found)), looks_again=looks_again)

    assert seen == [0] * opened
    assert (table.tally.open_rows == {}) is bool(opened)


def test_the_manifests_of_another_query_are_not_of_this_ones_chain():
    tables = {}
    other = Driver(MemoryStorage(), tables, 1)
    batches_of(other, range(4))
    tables["table"].delete([manifest(other, 1)])
    driver = Driver(MemoryStorage(), tables, 2, query_id="query-2")
    driver.begin(5)
    assert driver.open("table").gone == []
    driver.write("table")
    assert [one.previous for one in live(tables["table"]) if one.key.query_id == "query-2"] == [-1]


def test_a_batch_that_is_fenced_keeps_what_is_published_and_takes_no_more():
    checkpoint, tables = MemoryStorage(), {}
    slow = Driver(checkpoint, tables, 1)
    slow.begin(3)
    slow.write("a")
    slow.writes.announce(Write(FILES, "b", "sink"), 3)
    slow.writes.announce(Write("postgresql", "db odd", "sink", mode="append"), 3, Base("db").undo)
    Driver(checkpoint, tables, 2).writes.fence(3)
    for place in ("a", "b"):
        with pytest.raises(LeaseHeld):
            slow.write(place)
    with pytest.raises(LeaseHeld):
        slow.write("c")
    assert manifest_rows(tables["a"]) == visible(tables["a"]) == records(*RANGES)
    assert manifest_rows(tables["b"]) == []
    assert not any(key for key in tables["b"].list("") if "commits" not in key)
    assert "db odd" not in tables


def test_a_fence_gives_way_to_a_later_driver():
    checkpoint, tables = MemoryStorage(), {}
    late = Driver(checkpoint, tables, 2)
    late.begin(3)
    late.write("a")
    key = CommitKey("query-1", 3, "sink", place_digest("a"))
    with pytest.raises(LeaseHeld, match="published by a later driver"):
        fence(Target(tables["a"], tables["a"]), key, 1)
    fence(Target(tables["a"], tables["a"]), key, 2)
    assert len(tables["a"].list("_gluepot/commits")) == 1
