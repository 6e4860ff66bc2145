"""`gluepot dlq replay` against a real broker; records read back by a client that is not the product's."""

from __future__ import annotations

import pytest
from kafka import KafkaConsumer

from gluepot.cli import dlq
from gluepot.core.errors import ConfigError

BROKEN = [b"{broken", b'{"id": "\xff\xfe"}', b"[1]", b""]


def read_all(topic):
    consumer = KafkaConsumer(
        topic.name, bootstrap_servers=topic.bootstrap, auto_offset_reset="earliest", consumer_timeout_ms=3000
    )
    try:
        return list(consumer)
    finally:
        consumer.close()


@pytest.fixture
def table_with_rejects(topic, job):
    topic.send(*BROKEN, None, b'{"id": 1}', partition=1)
    job.drain(topic.options())
    return str(job.table)


def test_dead_letters_arrive_once_with_the_bytes_they_had(table_with_rejects, topic, new_topic, capsys):
    target = new_topic(partitions=1)

    for _ in range(2):
        dlq.replay(table_with_rejects, topic=target.name, bootstrap=target.bootstrap)

    arrived = read_all(target)
    assert [record.value for record in arrived] == [*BROKEN, None]
    assert dict(arrived[0].headers) == {"gluepot-replayed-from": f"{topic.name}-1 at 0".encode()}
    said = capsys.readouterr().out.splitlines()
    assert said[-2:] == [
        f"5 dead letters sent to {target.name}; 0 were already sent.",
        f"0 dead letters sent to {target.name}; 5 were already sent.",
    ]


def test_a_dead_letter_of_a_batch_function_keeps_its_key_and_its_headers(topic, job, new_topic):
    from awsglue import DynamicFrame

    def function(data_frame, batch_id):
        if DynamicFrame.fromDF(data_frame, job.glue_context, "frame").filter(lambda row: row["id"] == 1).count():
            raise LookupError("1")

    target = new_topic(partitions=1)
    topic.send(b'{"id": 0}', b'{"id": 1}', partition=0, headers=[("trace", b"\x00"), ("trace", b"2")])
    job.drain(topic.options(), function, onBatchFailure="quarantine", batchMaxRetries=0)

    dlq.replay(str(job.checkpoint), topic=target.name, bootstrap=target.bootstrap)

    (record,) = read_all(target)
    assert (record.key, record.value) == (b"1", b'{"id": 1}')
    assert record.headers[:2] == [("trace", b"\x00"), ("trace", b"2")]


def test_a_topic_that_is_not_there_is_said_before_anything_is_sent(table_with_rejects, kafka):
    with pytest.raises(ConfigError, match="has no topic no-such-topic"):
        dlq.replay(table_with_rejects, topic="no-such-topic", bootstrap=kafka)
