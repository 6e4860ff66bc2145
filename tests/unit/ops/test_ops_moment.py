from __future__ import annotations

import pytest
from prometheus_client import CollectorRegistry

from gluepot.core.clock import FakeClock
from gluepot.ops.jvm import JavaHeap
from gluepot.ops.memory import Usage
from gluepot.ops.moment import Moment
from gluepot.streaming.observe.metric_names import AT_SCRAPE, COUNTED_AT_SCRAPE
from gluepot.streaming.observe.status import JobStatus

HEAPS = {(7,): JavaHeap(1_000, 4_000, 0.25)}


@pytest.fixture
def clock():
    return FakeClock(1_000.0)


@pytest.fixture
def status():
    status = JobStatus()
    status.tell("clicks", lease="held", failures_in_a_row=2)
    return status


@pytest.fixture
def value(status, clock):
    registry = CollectorRegistry()
    registry.register(
        Moment(
            "shop",
            status.queries,
            lambda: {"jvm": Usage(1, 4_096, 2.5, (7,))},
            lambda pids: HEAPS[tuple(pids)],
            clock.epoch,
            lambda: {"throttled_writes": 3},
            lambda: {"load": 90.0},
        )
    )

    def value(name: str, **labels: str) -> float | None:
        return registry.get_sample_value(f"gluepot_{name}", {"job": "shop", **labels})

    value.registry = registry
    return value


def test_age_of_the_last_commit_grows_without_any_batch(value, status, clock):
    status.tell("clicks", last_commit_epoch=995.0)
    assert value("last_commit_age_seconds", query="clicks") == 5.0
    clock.sleep(60.0)
    assert value("last_commit_age_seconds", query="clicks") == 65.0


def test_before_the_first_commit_the_age_is_that_of_the_page(value, clock):
    clock.sleep(30.0)
    assert value("last_commit_age_seconds", query="clicks") == 30.0


def test_a_running_batch_is_seen_while_it_runs(value, status, clock):
    assert value("running_batch_seconds", query="clicks") == 0.0
    status.tell("clicks", batch_id=1, batch_began_epoch=clock.epoch())
    clock.sleep(7.0)
    assert value("running_batch_seconds", query="clicks") == 7.0


def test_lease_and_failures_are_shown(value, status):
    assert (value("lease_held", query="clicks"), value("failures_in_a_row", query="clicks")) == (1.0, 2.0)
    status.tell("clicks", lease="lost")
    assert value("lease_held", query="clicks") == 0.0


def test_refused_reads_are_shown_where_a_source_refuses_any(value, status):
    assert value("throttled_reads_total", query="clicks") is None
    status.tell("clicks", throttled_reads=3)
    assert value("throttled_reads_total", query="clicks") == 3.0


def test_memory_is_shown_by_role(value):
    assert value("resident_memory_bytes", role="jvm") == 4_096
    assert value("processes", role="jvm") == 1


def test_heap_and_collections_are_those_of_the_java_process(value):
    assert (value("jvm_heap_used_bytes"), value("jvm_heap_capacity_bytes")) == (1_000, 4_000)
    assert value("jvm_gc_seconds_total") == 0.25


def test_processor_time_is_shown_by_role(value):
    assert value("cpu_seconds_total", role="jvm") == 2.5


def test_the_start_of_the_run_stays_what_it_was(value, clock):
    clock.sleep(30.0)
    assert value("run_start_timestamp_seconds") == 1_000.0


def test_every_number_of_the_moment_is_there(value):
    assert {family.name for family in value.registry.collect()} == {
        f"gluepot_{one.name}" for one in (*AT_SCRAPE, *COUNTED_AT_SCRAPE)
    }


def test_the_lag_behind_an_upstream_job_is_shown(value):
    assert value("upstream_commit_age_seconds", upstream="load") == 90.0


def test_events_of_tasks_are_counted_from_zero(value):
    assert (value("throttled_writes_total"), value("retried_tasks_total")) == (3, 0)
