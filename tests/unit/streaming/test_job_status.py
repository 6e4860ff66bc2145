from __future__ import annotations

from gluepot.streaming.observe.status import JobStatus, QueryStatus


def test_what_a_query_tells_adds_to_what_it_told():
    status = JobStatus()
    status.tell("clicks", window_secs=5.0)
    status.tell("clicks", lease="held")
    assert status.queries() == (QueryStatus("clicks", window_secs=5.0, lease="held"),)


def test_a_snapshot_stays_as_it_was():
    status = JobStatus()
    status.tell("clicks")
    before = status.queries()
    status.tell("orders")
    assert [one.query for one in before] == ["clicks"]
    assert [one.query for one in status.queries()] == ["clicks", "orders"]
