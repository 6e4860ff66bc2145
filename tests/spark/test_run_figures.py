"""What a run knows of its own work: what Spark's tasks did, and what ours read."""

import json

import pytest

from gluepot.engine.readings import READINGS
from gluepot.job.glue_metrics.figures import Counts
from gluepot.job.glue_metrics.spark_status import SparkStatus

ROWS = 100
NOW_MS = 4_000_000_000_000


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "rows.json").write_text("\n".join(json.dumps({"id": number}) for number in range(ROWS)))
    return str(tmp_path)


def counted(work):
    """Return what a piece of work added to the counts of Spark and to our own."""
    status = SparkStatus()
    before, own_before = status.read(NOW_MS)[0], READINGS.records_and_bytes()
    work()
    after, gauges = status.read(NOW_MS + 5)
    records, size_bytes = READINGS.records_and_bytes()
    own = Counts(records_read=records - own_before[0], bytes_read=size_bytes - own_before[1])
    assert status.read(NOW_MS + 5)[0] == after
    return after.since(before).plus(own), gauges


def test_stages_and_tasks_of_spark_are_counted(glue_context, tmp_path):
    context = glue_context.spark_session.sparkContext

    def work():
        pairs = context.parallelize(range(10), 2).map(lambda one: (one % 3, one)).groupByKey(3)
        assert pairs.count() == 3
        with pytest.raises(Exception, match="no such number"):
            context.parallelize([1], 1).map(refused).collect()

    def refused(_):
        raise ValueError("no such number")

    counts, gauges = counted(work)
    assert (counts.stages, counts.tasks, counts.failed_tasks, counts.elapsed_ms) == (2, 5, 1, 5)
    assert counts.shuffle_bytes_written == counts.shuffle_local_bytes_read > 0
    assert (gauges.executors, gauges.slots, gauges.one_process) == (1, 2, True)
    assert 0 < gauges.heap.used_bytes < gauges.heap.size_bytes


def test_what_spark_reads_itself_is_counted(glue_context, folder):
    def work():
        assert len(glue_context.spark_session.read.schema("id INT").json(folder).collect()) == ROWS

    assert counted(work)[0].records_read == ROWS


@pytest.mark.parametrize("large", [False, True])
def test_what_our_tasks_read_is_counted_in_the_driver_and_in_workers(glue_context, folder, tmp_path, large):
    frame = glue_context.create_dynamic_frame.from_options("s3", {"paths": [folder]}, "json")
    if large:
        frame = frame.map(lambda record: record)  # a script's function runs in workers
    target = tmp_path / "target"

    def work():
        glue_context.write_dynamic_frame.from_options(frame, "s3", {"path": str(target)}, "json")

    counts, _ = counted(work)
    assert (counts.records_read, counts.tasks > 0) == (ROWS, large)
    assert counts.bytes_read > 0


def test_rows_that_become_a_dataframe_are_counted(glue_context, folder):
    frame = glue_context.create_dynamic_frame.from_options("s3", {"paths": [folder]}, "json")
    rows = frame.toDF()  # reads them once to learn the schema
    assert counted(rows.collect)[0].records_read == ROWS
