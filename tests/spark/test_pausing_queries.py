"""A pause asked for while a batch runs: it begins behind that batch, with the lease, and ends when somebody says so."""

from __future__ import annotations

from threading import Event, Thread

import pytest

from gluepot.streaming.query import session
from tests.e2e.jobs import rest, wait_until


class PausedInBatch0:
    """A batch function that asks for a pause in its first batch, and somebody who then looks and acts.

    Args:
        act: what ends the pause, given the session and the query's name.
    """

    def __init__(self, act) -> None:
        self.batches: list[int] = []
        self.looks: list[tuple[list[int], bool, str]] = []
        self._act = act
        self._asked = Event()
        self._watching = Thread(target=self._watch)
        self._watching.start()  # here, because a batch waits for threads that its function starts

    def __call__(self, frame, batch_id) -> None:
        self.batches.append(batch_id)
        if batch_id == 0:
            session.current().pauses.ask(self._query().query)
            self._asked.set()

    def _query(self):
        (status,) = session.current().status.queries()
        return status

    def _watch(self) -> None:
        self._asked.wait()
        try:
            wait_until(lambda: self._query().paused, "the pause")
            for _ in range(2):
                now = self._query()
                self.looks.append((list(self.batches), now.paused, now.lease))
                rest(0.5)
        finally:  # else the job would pause for ever
            self._act(session.current(), self._query().query)

    def join(self) -> None:
        self._watching.join()


@pytest.fixture
def paused_twice():
    return [([0], True, "held")] * 2


def test_a_paused_query_begins_no_batch_keeps_its_lease_and_goes_on_where_it_was(numbers, paused_twice):
    function = PausedInBatch0(lambda streams, query: streams.pauses.resume(query))

    streams = numbers.run(function, max_batches=3)

    function.join()
    assert function.looks == paused_twice
    assert function.batches == [0, 1, 2]
    assert [one.paused for one in streams.status.queries()] == [False]


def test_a_paused_query_ends_when_the_job_is_told_to(numbers, paused_twice):
    function = PausedInBatch0(lambda streams, _: streams.stop.set())

    streams = numbers.run(function, max_batches=None)

    function.join()
    assert function.looks == paused_twice
    assert function.batches == [0]
    assert [(one.paused, one.ended) for one in streams.status.queries()] == [(False, True)]
