"""Topics of fewer partitions than there are task slots (two in these tests), read in pieces."""

from __future__ import annotations

import json

from awsglue import DynamicFrame
from gluepot.connectors.kafka.source import LEAST_PIECE

BATCH = 2 * LEAST_PIECE + 5_000


def test_both_slots_write_the_records_of_one_partition(job, new_topic):
    topic = new_topic(1)
    sent = [b'{"n": %d}' % n for n in range(2 * BATCH)]
    topic.send(*sent)

    def counting(data_frame, batch_id):
        # The count of the first batch keeps the pieces for the write, that of the second stages the write.
        assert data_frame.count() == BATCH
        job.copy(data_frame, batch_id)

    seen = job.drain(topic.options(maxOffsetsPerTrigger=BATCH), counting, smallBatchRecords=0)

    assert [(stats.files, stats.divisible) for stats in seen] == [(2, True)] * 2
    assert job.documents() == sorted(value.decode() for value in sent)
    manifests = [json.loads(path.read_text()) for path in (job.table / "_gluepot/commits").rglob("[!.]*.json")]
    ends = sorted((one["start"], one["end"]) for manifest in manifests for one in manifest["ranges"])
    assert ends == [(0, BATCH), (BATCH, 2 * BATCH)]


def test_records_that_are_sent_on_stay_in_the_order_of_their_partition(job, new_topic):
    topic, target = new_topic(1), new_topic(1)
    topic.send(*(b'{"n": %d}' % n for n in range(BATCH)))

    def send_on(data_frame, batch_id):
        assert data_frame.count() == BATCH
        job.glue_context.write_dynamic_frame.from_options(
            frame=DynamicFrame.fromDF(data_frame, job.glue_context, "frame"),
            connection_type="kafka",
            connection_options={"bootstrap.servers": target.bootstrap, "topic": target.name},
        )

    seen = job.drain(topic.options(), send_on, smallBatchRecords=0)

    assert [stats.divisible for stats in seen] == [False]

    assert [json.loads(one.value)["n"] for one in target.consumed(BATCH)] == list(range(BATCH))
