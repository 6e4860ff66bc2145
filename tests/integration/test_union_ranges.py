"""A query over two sources: a batch holds what is new, not what an idle topic had before."""

import pytest

from gluepot.commit import live
from gluepot.core.storage import open_storage


def test_a_topic_without_news_is_no_part_of_the_next_batch(new_topic, job, glue_context):
    from gluepot.streaming.query import session

    first, second = new_topic(partitions=1), new_topic(partitions=1)
    first.send_json({"id": 1})
    second.send_json({"id": 2})

    def drain():
        session.install(session.StreamSession(drain=session.Drain(until_caught_up=True)))
        read = glue_context.create_data_frame.from_options
        one, other = (read(connection_type="kafka", connection_options=topic.options()) for topic in (first, second))
        # A union keeps the magic column, so the script's function is as it was.
        glue_context.forEachBatch(
            frame=one.union(other),
            batch_function=job.copy,
            options={"windowSize": "1 second", "checkpointLocation": str(job.checkpoint)},
        )

    drain()
    first.send_json({"id": 3})
    drain()

    held = [
        [(one.stream, one.start, one.end) for one in record.ranges] for record in live(open_storage(str(job.table)))
    ]
    assert held == [sorted([(first.name, 0, 1), (second.name, 0, 1)]), [(first.name, 1, 2)]]
    assert job.rows("id") == [(1,), (2,), (3,)]


@pytest.mark.long
def test_a_topic_and_a_kinesis_stream_in_one_frame(new_topic, kinesis_stream, job, glue_context):
    from gluepot.streaming.query import session

    topic = new_topic(partitions=1)

    def drain():
        session.install(session.StreamSession(drain=session.Drain(until_caught_up=True)))
        read = glue_context.create_data_frame.from_options
        of_kafka = read(connection_type="kafka", connection_options=topic.options())
        of_kinesis = read(connection_type="kinesis", connection_options=kinesis_stream.options())
        glue_context.forEachBatch(
            frame=of_kafka.union(of_kinesis),
            batch_function=job.copy,
            options={"windowSize": "1 second", "checkpointLocation": str(job.checkpoint)},
        )

    topic.send_json({"id": 1})
    kinesis_stream.send_json({"id": 2}, {"id": 3})
    drain()
    kinesis_stream.send_json({"id": 4})
    drain()
    topic.send_json({"id": 5})
    drain()

    assert job.rows("id") == [(1,), (2,), (3,), (4,), (5,)]
