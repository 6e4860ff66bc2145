"""A write that is new is published without asking the table; what is left to be removed is removed meanwhile."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field

import pytest

from gluepot.commit import FILES, Background, Journal, QueryWrites, Target, Write, place_digest
from gluepot.connectors.files.sink.layout import STAGING
from gluepot.connectors.values import AlreadyCommitted, CommitKey, Committed, Manifest
from gluepot.core.errors import LeaseHeld, TransientError
from tests.unit.commit.explore import must_hold_once
from tests.unit.commit.worlds import MemoryStorage, leftovers, offsets, staged

READ = (offsets(0, 2),)


@dataclass
class CountingStorage(MemoryStorage):
    asked: list[str] = field(default_factory=list)
    refuses_deletes: bool = False

    def get(self, key):
        if not key.startswith(STAGING):  # which a move in memory reads
            self.asked.append(key)
        return super().get(key)

    def delete(self, keys):
        doomed = list(keys)
        if self.refuses_deletes and doomed:
            raise TransientError("no answer")
        super().delete(doomed)


class Driver:
    def __init__(self, storage, token=1, background=None):
        self.storage, self.token = storage, token
        checkpoint = MemoryStorage()
        self.writes = QueryWrites("query-1", token, Journal(checkpoint, token), background=background)

    def write(self, batch_id, ctx="sink"):
        target = Target(self.storage, self.storage)
        key = CommitKey("query-1", batch_id, ctx, place_digest(self.storage.url))
        planned = Manifest(key, ranges=READ, token=self.token)
        table = self.writes.open(target, planned, Write(FILES, self.storage.url, ctx), lambda _: None)
        self.storage.asked.clear()
        if (found := table.adopted(planned)) is not None:
            return found
        return table.publish(staged(target, READ, attempt="a", key=key, token=self.token))

    def batch(self, batch_id, ctx="sink"):
        self.writes.begin_attempt(batch_id)
        return self.write(batch_id, ctx)


def test_a_new_write_asks_nothing_and_a_repeated_one_does():
    storage = CountingStorage()
    driver = Driver(storage)
    for batch_id in (0, 1):
        assert isinstance(driver.batch(batch_id), Committed)
        assert storage.asked == []
    again = driver.batch(1)
    assert again.key.batch_id == 1
    assert storage.asked


def test_another_write_of_a_batch_is_new_until_it_is_made():
    storage = CountingStorage()
    driver = Driver(storage)
    driver.batch(0, "first")
    assert isinstance(driver.write(0, "second"), Committed)
    assert storage.asked == []
    driver.write(0, "first")
    assert storage.asked


def test_a_batch_before_one_that_was_tried_is_not_new():
    storage = CountingStorage()
    driver = Driver(storage)
    driver.batch(5)
    driver.batch(4)
    assert storage.asked


def test_a_driver_asks_for_what_it_found_when_it_opened_the_table():
    storage = CountingStorage()
    Driver(storage).batch(0)
    after = Driver(storage, token=2).batch(0)
    assert (after.key.batch_id, after.token) == (0, 2)
    assert storage.asked
    must_hold_once(storage, [offsets(0, 2)], "after a second driver")


def test_what_is_left_over_is_removed_in_the_background_and_the_next_attempt_of_the_batch_waits_for_that():
    storage, background, goes_on = CountingStorage(), Background(), threading.Event()
    driver = Driver(storage, background=background)
    background(lambda: bool(goes_on.wait()) and None)
    driver.batch(0)
    assert leftovers(storage)
    threading.Timer(0.01, goes_on.set).start()
    driver.writes.begin_attempt(0)
    assert not leftovers(storage)


def test_the_next_batch_does_not_wait():
    storage, background, goes_on = CountingStorage(), Background(), threading.Event()
    driver = Driver(storage, background=background)
    background(lambda: bool(goes_on.wait()) and None)
    driver.batch(0)
    driver.batch(1)
    assert leftovers(storage)
    goes_on.set()
    background.finish()
    assert not leftovers(storage)


def test_what_cannot_be_removed_fails_a_later_attempt_and_is_tried_again_then():
    storage, background = CountingStorage(), Background()
    driver = Driver(storage, background=background)
    storage.refuses_deletes = True
    driver.batch(0)
    for _ in range(2):
        with pytest.raises(TransientError, match="no answer"):
            driver.writes.begin_attempt(0)
    storage.refuses_deletes = False
    assert isinstance(driver.batch(1), Committed)
    background.finish()
    assert not leftovers(storage)


def test_manifests_are_not_rolled_up_before_what_is_left_over_is_removed():
    storage, background = CountingStorage(), Background()
    driver = Driver(storage, background=background)
    storage.refuses_deletes = True
    driver.batch(0)
    with pytest.raises(TransientError, match="no answer"):
        driver.writes.roll_up(with_gaps=False)


def test_a_write_that_is_published_again_at_once_finds_itself():
    storage, background = CountingStorage(), Background()
    driver = Driver(storage, background=background)
    target = Target(storage, storage)
    key = CommitKey("query-1", 0, "sink", place_digest(storage.url))
    driver.writes.begin_attempt(0)
    table = driver.writes.open(target, Manifest(key), Write(FILES, storage.url, "sink"), lambda _: None)
    made = staged(target, READ, attempt="a", key=key)
    assert isinstance(table.publish(made), Committed)
    assert isinstance(table.publish(staged(target, READ, attempt="b", key=key)), AlreadyCommitted)


def test_too_many_actions_that_wait_are_waited_for():
    background, done = Background(), []
    for number in range(40):
        background(lambda number=number: done.append(number))
    assert len(background._waiting) <= 16
    background.finish()
    assert done == list(range(40))


def test_a_driver_that_was_replaced_while_its_tasks_ran_publishes_nothing():
    storage = CountingStorage()
    answers = [None, None, LeaseHeld("another driver has taken over")]

    def confirm():
        if (answer := answers.pop(0)) is not None:
            raise answer

    writes = QueryWrites("query-1", 1, Journal(MemoryStorage(), 1), confirm=confirm)
    target = Target(storage, storage)
    key = CommitKey("query-1", 0, "sink", place_digest(storage.url))
    writes.begin_attempt(0)
    for _ in range(2):
        table = writes.open(target, Manifest(key), Write(FILES, storage.url, "sink"), lambda _: None)
    with pytest.raises(LeaseHeld, match="taken over"):
        table.publish(staged(target, READ, attempt="a", key=key))
    assert not storage.list("_gluepot/commits")
