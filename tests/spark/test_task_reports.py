"""Names of queries in Spark, and events of tasks."""

from __future__ import annotations

import pytest

from gluepot.core.task_events import EVENTS, RETRIED_TASKS, THROTTLED_WRITES
from gluepot.engine.task_reports import REPORTS, TaskReports
from gluepot.streaming.query.spark_progress import name_in_spark, phases_of


def test_a_query_whose_name_is_taken_has_a_number(glue_context, tmp_path):
    spark = glue_context.spark_session
    rows = spark.readStream.format("rate").load().writeStream.format("noop").queryName("orders")
    foreign = rows.option("checkpointLocation", str(tmp_path)).start()
    try:
        with name_in_spark(spark, "orders") as second, name_in_spark(spark, "orders") as third:
            assert (second, third) == ("orders (2)", "orders (3)")
    finally:
        foreign.stop()
    with name_in_spark(spark, "orders") as again:
        assert again == "orders"


def test_steps_of_spark_are_counted_by_phase():
    durations_ms = {"latestOffset": 30, "queryPlanning": 20, "walCommit": 5, "addBatch": 900, "triggerExecution": 990}

    assert phases_of(durations_ms) == {"planning": 0.05, "checkpoint": 0.005}
    assert phases_of({"addBatch": 1}) == {}


def test_events_of_tasks_reach_the_driver(glue_context):
    context = glue_context.spark_session.sparkContext
    reports = TaskReports()
    report = reports.of(context)

    def throttled(numbers):
        from gluepot.core import task_events  # of the worker

        task_events.EVENTS.add(task_events.THROTTLED_WRITES, 2)
        return numbers

    before = reports.counts().get(THROTTLED_WRITES, 0)
    context.parallelize(range(4), 2).mapPartitions(lambda numbers: report.after(throttled(numbers))).collect()

    assert reports.counts()[THROTTLED_WRITES] == before + 4
    assert REPORTS.counts().get(RETRIED_TASKS, 0) == 0


@pytest.mark.parametrize(("attempt", "retried"), [(0, {}), (1, {RETRIED_TASKS: 1})])
def test_a_task_that_succeeds_after_a_retry_is_counted(glue_context, monkeypatch, attempt, retried):
    from pyspark import TaskContext

    context = TaskContext()
    context._attemptNumber = attempt
    monkeypatch.setattr(TaskContext, "get", classmethod(lambda cls: context))
    reports = TaskReports()
    EVENTS.take()

    list(reports.of(glue_context.spark_session.sparkContext).after([1]))

    assert reports.counts() == retried
