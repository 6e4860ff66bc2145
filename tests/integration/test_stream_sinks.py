"""Writing to Kafka and Kinesis by `write_dynamic_frame`, read back with clients that are not the product's."""

import json

import pytest

from awsglue import DynamicFrame
from gluepot.core.errors import ConfigError


def frame_of(glue_context, rows):
    return DynamicFrame.fromDF(glue_context.spark_session.createDataFrame(rows), glue_context, "rows")


def test_rows_become_json_records_with_their_key_in_order(glue_context, topic):
    rows = [{"user": f"u{n % 3}", "n": n} for n in range(300)]

    glue_context.write_dynamic_frame.from_options(
        frame=frame_of(glue_context, rows).coalesce(1),
        connection_type="kafka",
        connection_options={"bootstrap.servers": topic.bootstrap, "topic": topic.name, "key": "user"},
    )

    records = topic.consumed(300)
    assert sorted(json.loads(one.value)["n"] for one in records) == list(range(300))
    for user in ("u0", "u1", "u2"):
        own = [json.loads(one.value)["n"] for one in records if one.key == user.encode()]
        assert own == sorted(own)
        assert len(own) == 100


def test_a_batch_of_a_stream_is_put_into_a_kinesis_stream(job, topic, kinesis_stream):
    topic.send_json(*({"user": f"u{n % 3}", "n": n} for n in range(200)))
    target = {"streamName": kinesis_stream.name, "endpointUrl": kinesis_stream.endpoint, "partitionKey": "user"}

    def put(data_frame, batch_id):
        job.glue_context.write_dynamic_frame.from_options(
            frame=DynamicFrame.fromDF(data_frame, job.glue_context, "frame"),
            connection_type="kinesis",
            connection_options=target,
        )

    seen = job.drain(topic.options(), put)

    assert sum(stats.rows_out for stats in seen) == 200
    found = kinesis_stream.records()
    assert sorted(json.loads(one["Data"])["n"] for one in found) == list(range(200))
    assert {one["PartitionKey"] for one in found} == {"u0", "u1", "u2"}


def test_a_target_that_is_not_there_is_said_before_anything_is_sent(glue_context, kinesis_stream):
    with pytest.raises(ConfigError, match="is not there"):
        glue_context.write_dynamic_frame.from_options(
            frame=frame_of(glue_context, [{"n": 1}]),
            connection_type="kinesis",
            connection_options={"streamName": "nowhere", "endpointUrl": kinesis_stream.endpoint},
        )
