from __future__ import annotations

from dataclasses import replace

import pytest

from gluepot.ops.health import STUCK_SECS, STUCK_WINDOWS, liveness, readiness
from gluepot.streaming.observe.status import QueryStatus

RUNNING = QueryStatus(
    "clicks", window_secs=10.0, lease="held", source_reached=True, batch_id=3, batch_began_epoch=1_000.0
)


def lives(query: QueryStatus, now_epoch: float) -> bool:
    return all(check.ok for check in liveness([query], now_epoch))


def ready(*queries: QueryStatus, stopping: bool = False) -> bool:
    return all(check.ok for check in readiness(queries, stopping=stopping))


def test_a_job_without_streams_lives_and_is_not_ready():
    assert all(check.ok for check in liveness([], 0.0))
    assert not ready()


def test_a_batch_may_run_long_and_not_for_ever():
    assert lives(RUNNING, 1_000.0 + STUCK_SECS)
    assert not lives(RUNNING, 1_001.0 + STUCK_SECS)


def test_a_long_window_gives_a_batch_more_time():
    slow = replace(RUNNING, window_secs=3_600.0)
    assert lives(slow, 1_000.0 + STUCK_WINDOWS * 3_600.0)


def test_a_stream_that_has_waited_a_week_for_records_lives():
    assert lives(replace(RUNNING, batch_began_epoch=None, last_commit_epoch=0.0), 604_800.0)


def test_a_stream_with_lease_and_source_is_ready():
    assert ready(RUNNING)


def test_being_told_to_end_makes_unready_at_once_while_the_batch_runs_on():
    assert not ready(RUNNING, stopping=True)
    assert lives(RUNNING, 1_001.0)


@pytest.mark.parametrize(
    "change", [{"lease": "lost"}, {"lease": "none"}, {"source_reached": False}, {"failures_in_a_row": 1}]
)
def test_one_stream_that_does_not_do_its_work_makes_the_job_unready(change):
    assert not ready(RUNNING, replace(RUNNING, query="orders", **change))


def test_a_stream_that_ended_is_asked_no_more_unless_it_was_the_last():
    ended = replace(RUNNING, query="orders", lease="none", ended=True)
    assert ready(RUNNING, ended)
    assert not ready(ended)
