"""`if data_frame.count() > 0`, as Glue's own templates begin a batch function, does not read the batch for it."""

from __future__ import annotations

import pytest

from awsglue import DynamicFrame

BATCHES = 3
EACH = 10
ALL = list(range(BATCHES * EACH))


@pytest.fixture
def counted(monkeypatch):
    """The batches that were counted by reading them."""
    from batch import execute

    seen, count_raw = [], execute.count_raw

    def counting(spark, given):
        seen.append(count_raw(spark, given))
        return seen[-1]

    monkeypatch.setattr(execute, "count_raw", counting)
    return seen


def run(topic, job, function):
    topic.send_json(*({"n": n} for n in ALL), partition=0)
    return job.drain(topic.options(maxOffsetsPerTrigger=EACH), function, smallBatchRecords="0")


def test_a_guard_reads_nothing(topic, job, counted):
    def function(data_frame, batch_id):
        if data_frame.count() > 0:
            job.copy(data_frame, batch_id)

    seen = run(topic, job, function)

    assert counted == []
    assert [stats.rows_in for stats in seen] == [EACH] * BATCHES
    assert sorted(n for (n,) in job.rows("n")) == ALL


def test_what_is_read_again_and_again_is_counted_and_kept(topic, job, counted):
    def function(data_frame, batch_id):
        if data_frame.count() == 0:
            return
        frame = DynamicFrame.fromDF(data_frame, job.glue_context, "frame")
        for folder in ("a", "b"):
            job.write(frame, path=str(job.table / folder))

    run(topic, job, function)

    assert counted == [EACH] * (BATCHES - 1)
    assert sorted(n for (n,) in job.rows("n")) == sorted(2 * ALL)
