"""What is told of a run, and that nobody who listens can harm it."""

from __future__ import annotations

import threading

import pytest

from gluepot.core.clock import FakeClock
from gluepot.core.datasets import Dataset
from gluepot.engine.write_totals import Output
from gluepot.job.lineage import emitter
from gluepot.job.lineage.emitter import Lineage
from gluepot.job.lineage.events import Names, Versions
from gluepot.quality.outcomes import RuleOutcome
from gluepot.quality.results import Checked, Result, Source
from gluepot.streaming.progress import BatchStats
from gluepot.streaming.side_tasks import warn

TOPIC, TABLE = Dataset("kafka://broker:9092", "clicks"), Dataset("s3://lake", "clicks")


CHECK = Checked(Result(Source("clicks", "node 1"), "q/0/node 1/1", "jr_1", 0, 5, [RuleOutcome("RowCount > 1", True)]))


def batch(batch_id: int) -> BatchStats:
    return BatchStats("q", batch_id, 1.0, 10.0, 0.5, inputs=[TOPIC], outputs=[Output(TABLE, 5)], checks=[CHECK])


def lineage(send, failed=warn) -> Lineage:
    return Lineage(send, Names("gluepot", "clicks", "jr_1"), Versions("0.1.0", "4.1.0"), FakeClock(now=20.0), failed)


@pytest.fixture
def told():
    return []


def test_a_run_begins_each_batch_of_a_stream_is_told_and_stream_and_run_end(told):
    run = lineage(told.append)
    run.began()
    for batch_id in range(2):
        run.update(batch(batch_id))
    run.ended([], [], None)
    assert [(one.job.name, one.eventType.value) for one in told] == [
        ("clicks", "START"),
        ("clicks.q", "START"),
        ("clicks.q", "RUNNING"),
        ("clicks.q", "RUNNING"),
        ("clicks.q", "COMPLETE"),
        ("clicks", "COMPLETE"),
    ]


def test_a_batch_job_ends_with_what_it_read_and_wrote(told):
    run = lineage(told.append)
    run.began()
    run.ended([TOPIC], [Output(TABLE, 5)], None)
    assert [one.name for one in told[-1].inputs] == ["clicks"]
    assert told[-1].outputs[0].outputFacets["outputStatistics"].rowCount == 5


def test_batches_and_the_end_of_a_run_tell_what_checks_found(told):
    run = lineage(told.append)
    run.began()
    run.update(batch(0))
    run.ended([TABLE], [], None, [CHECK])
    inputs = [event.inputs[0].inputFacets.keys() for event in (told[1], told[2], told[-1])]
    assert inputs == [set(), {"dataQualityAssertions"}, {"dataQualityAssertions"}]


def test_a_failed_run_fails_its_streams_too_and_keeps_secrets(told):
    run = lineage(told.append)
    run.began()
    run.update(batch(0))
    run.ended([], [], ValueError("password=hunter2"))
    assert [one.eventType.value for one in told[-2:]] == ["FAIL", "FAIL"]
    assert "hunter2" not in told[-1].run.facets["errorMessage"].message


def test_a_listener_that_fails_costs_events_and_nothing_else(told):
    answers = iter([ConnectionError("away"), None, None, None, None])

    def send(one):
        if failed := next(answers):
            raise failed
        told.append(one)

    failures = []
    run = lineage(send, lambda *told: failures.append(told[:2]))
    run.began()
    run.update(batch(0))
    run.ended([], [], None)
    assert [one.eventType.value for one in told] == ["START", "RUNNING", "COMPLETE", "COMPLETE"]
    assert failures == [("", "lineage")]


def test_a_listener_that_hangs_holds_up_neither_a_batch_nor_the_end(monkeypatch):
    monkeypatch.setattr(emitter, "END_SECS", 0.05)
    hangs = threading.Event()
    failures = []
    run = lineage(lambda _: hangs.wait(), lambda *told: failures.append(told[:2]))
    run.began()
    for batch_id in range(emitter.MOST_WAITING + 10):
        run.update(batch(batch_id))
    run.ended([], [], None)
    hangs.set()
    assert set(failures) == {("q", "lineage"), ("", "lineage")}
