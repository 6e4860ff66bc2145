"""Which batch the tasks of a thread pool work for."""

from __future__ import annotations

import threading
from multiprocessing.pool import ThreadPool

import pytest

from gluepot.streaming.micro_batch import scopes
from gluepot.streaming.micro_batch.scopes import Scope, running


class Trouble(Exception):
    """What a write raises."""


@pytest.fixture
def pool():
    with ThreadPool(1) as pool:
        yield pool


@pytest.mark.parametrize("method", ["apply_async", "map_async"])
def test_a_batch_waits_for_what_it_has_given_to_a_pool(pool, method):
    scope, goes_on, seen = Scope(), threading.Event(), []

    def task(*_):
        goes_on.wait(20)
        seen.append(scope.batch)

    with running(scope, "batch 7"):
        getattr(pool, method)(task, [1])
        threading.Timer(0.1, goes_on.set).start()
    assert seen == ["batch 7"]


def test_a_write_that_fails_in_a_pool_that_nobody_asks_fails_the_batch(pool):
    scope = Scope()

    def task():
        with scope.write():
            raise Trouble

    def give():
        with running(scope, "batch 7"):
            pool.apply_async(task)

    with pytest.raises(Trouble):
        give()


def test_a_task_of_a_pool_that_never_ends_is_not_waited_for_for_ever(pool, monkeypatch):
    monkeypatch.setattr(scopes, "LONGEST_WAIT_SECS", 0.01)
    scope, over = Scope(), threading.Event()
    with running(scope, "batch 7"):
        pool.apply_async(over.wait, (20,))
    over.set()
