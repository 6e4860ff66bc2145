"""The driver dies before each change in turn; afterwards there is exactly one copy of every record."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from pathlib import Path

import pytest

from gluepot.commit import Target, publish, recover
from gluepot.core.storage import LocalStorage, Storage
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

FIRST, SECOND, LONGER = offsets(0, 3, "0"), offsets(0, 2, "1"), offsets(0, 4, "0")
NewStorage = Callable[[int], Storage]


@pytest.fixture(params=["memory", "disk"])
def new_storage(request: pytest.FixtureRequest, tmp_path: Path) -> NewStorage:
    return {"memory": lambda _: MemoryStorage(), "disk": lambda number: LocalStorage(tmp_path / str(number))}[
        request.param
    ]


def crashes(storage: Storage, changes: int, action: Callable[[Target], object]) -> bool:
    """Run an action that dies before change number `changes`; tell whether it got that far."""
    crashing = CrashingStorage(storage, changes)
    try:
        action(Target(crashing, crashing))
    except Crash:
        return True
    return False


def test_after_a_crash_anywhere_in_publishing_a_replay_leaves_one_copy(new_storage):
    for changes in count():
        storage = new_storage(changes)
        target = Target(storage, storage)
        manifest = staged(target, [FIRST, SECOND], attempt="a", rejected={"malformed_json": 1})
        crashed = crashes(storage, changes, lambda at, manifest=manifest: publish(at, manifest))
        recover(target, KEY.query_id, 1)
        assert visible(storage) in ([], records(FIRST, SECOND))
        publish(target, staged(target, [FIRST, SECOND], attempt="b", rejected={"malformed_json": 1}))
        assert visible(storage) == records(FIRST, SECOND)
        assert leftovers(storage) == []
        if not crashed:
            break
    assert changes >= 7  # intent, four files, manifest, removal of the intent


def test_a_crash_anywhere_in_replacing_leaves_the_old_copy_or_the_new_one(new_storage):
    for changes in count():
        storage = new_storage(changes)
        target = Target(storage, storage)
        publish(target, staged(target, [FIRST, SECOND], attempt="a"))
        manifest = staged(target, [LONGER, SECOND], attempt="b")
        crashed = crashes(storage, changes, lambda at, manifest=manifest: publish(at, manifest))
        recover(target, KEY.query_id, 1)
        assert visible(storage) in (records(FIRST, SECOND), records(LONGER, SECOND))
        publish(target, staged(target, [LONGER, SECOND], attempt="c"))
        assert visible(storage) == records(LONGER, SECOND)
        assert leftovers(storage) == []
        if not crashed:
            break
    assert changes >= 7


def test_a_try_that_follows_without_recovery_leaves_one_copy_even_with_fewer_files(new_storage):
    for changes in count():
        storage = new_storage(changes)
        target = Target(storage, storage)
        manifest = staged(target, [FIRST, SECOND], attempt="a")
        crashed = crashes(storage, changes, lambda at, manifest=manifest: publish(at, manifest))
        publish(target, staged(target, [LONGER], attempt="b"))
        recover(target, KEY.query_id, 1)
        assert visible(storage) == records(LONGER)
        assert leftovers(storage) == []
        if not crashed:
            break
    assert changes >= 5


@pytest.mark.parametrize("first_crash", range(10))
def test_a_crash_anywhere_in_recovery_is_recovered_from(new_storage, first_crash):
    for changes in count():
        storage = new_storage(changes)
        target = Target(storage, storage)
        publish(target, staged(target, [FIRST, SECOND], attempt="a"))
        manifest = staged(target, [LONGER], attempt="b")
        crashes(storage, first_crash, lambda at, manifest=manifest: publish(at, manifest))
        crashed = crashes(storage, changes, lambda at: recover(at, KEY.query_id, 1))
        recover(target, KEY.query_id, 1)
        assert visible(storage) in (records(FIRST, SECOND), records(LONGER))
        assert leftovers(storage) == []
        if not crashed:
            break


def test_leftovers_of_tasks_that_died_while_staging_are_removed(new_storage):
    storage = new_storage(0)
    target = Target(storage, storage)
    staged(target, [FIRST, SECOND], attempt="a/17")
    recover(target, KEY.query_id, 1)
    assert storage.list("") == []
