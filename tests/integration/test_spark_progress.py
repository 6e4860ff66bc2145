"""What Spark shows of a query whose records we read, and what Spark's own steps took."""

from __future__ import annotations

import pytest

from gluepot.streaming.query.spark_progress import SparkProgress


@pytest.mark.parametrize("way", ["fast", "rows"])
def test_spark_knows_the_name_and_the_records_of_a_batch(topic, job, way):
    seen, phases = [], []
    topic.send_json(*({"id": n} for n in range(5)), partition=0)

    def function(data_frame, batch_id):
        (query,) = job.glue_context.spark_session.streams.active
        if batch_id:
            seen.append((query.name, query.lastProgress["numInputRows"]))
            progress = SparkProgress()
            progress.end(batch_id - 1)
            phases.append(progress.phases(query))
            assert progress.phases(query) == {}
        if way == "rows":
            data_frame = data_frame.filter("1 = 1")
            assert data_frame.count() == data_frame.count()
        job.copy(data_frame, batch_id)

    job.drain(topic.options(maxOffsetsPerTrigger=2), function)

    assert seen == [(job.folder.name, 2)] * 2
    assert all(one["planning"] > 0 and one["checkpoint"] > 0 for one in phases)
