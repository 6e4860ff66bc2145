"""What every sink of records promises: all records are acknowledged, or an error says that they are not."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from dataclasses import dataclass
from uuid import uuid4

import boto3
import pytest
from kafka import KafkaConsumer, TopicPartition

from gluepot.connectors.contracts import RecordSink
from gluepot.connectors.registry import connector
from gluepot.connectors.values import Outgoing, RecordShape
from gluepot.core.errors import ConfigError, EtlError
from gluepot.servers.topics import create_topic

# More than Kinesis takes in one call, which is 500.
RECORDS = 600
TOO_LARGE_BYTES = 11 << 20


@dataclass
class Target:
    """An empty target of one shard, and what the suite needs to know of it.

    Args:
        sink: sends to it.
        nowhere: the same kind of sink for a target that does not exist.
        received: returns the values that the target holds, in order, by a client that is not the product's.
        refused: a record that the target refuses; None if it takes any.
    """

    sink: RecordSink
    nowhere: RecordSink
    received: Callable[[], list[bytes]]
    refused: Outgoing | None


def kafka_target(request) -> Target:
    bootstrap, topic = request.getfixturevalue("kafka"), f"contract-{uuid4().hex[:8]}"
    create_topic(bootstrap, topic, 1)

    def sink(name: str) -> RecordSink:
        return connector("kafka").new_record_sink({"bootstrap.servers": bootstrap, "topic": name})

    def received() -> list[bytes]:
        consumer = KafkaConsumer(bootstrap_servers=bootstrap, auto_offset_reset="earliest")
        try:
            partition = TopicPartition(topic, 0)
            consumer.assign([partition])
            end = consumer.end_offsets([partition])[partition]
            found: list[bytes] = []
            while consumer.position(partition) < end:
                found += [one.value for some in consumer.poll(1000).values() for one in some]
            return found
        finally:
            consumer.close()

    return Target(sink(topic), sink("nowhere"), received, Outgoing(b"x" * TOO_LARGE_BYTES))


def kinesis_target(request) -> Target:
    url, stream = request.getfixturevalue("kinesis"), f"contract-{uuid4().hex[:8]}"
    client = boto3.client("kinesis", endpoint_url=url, region_name="us-east-1")
    client.create_stream(StreamName=stream, ShardCount=1)

    def sink(name: str) -> RecordSink:
        return connector("kinesis").new_record_sink({"streamName": name, "endpointUrl": url})

    def received() -> list[bytes]:
        (shard,) = client.list_shards(StreamName=stream)["Shards"]
        start = {"StreamName": stream, "ShardId": shard["ShardId"], "ShardIteratorType": "TRIM_HORIZON"}
        at, found = client.get_shard_iterator(**start)["ShardIterator"], []
        while (answer := client.get_records(ShardIterator=at))["Records"]:
            found += [one["Data"] for one in answer["Records"]]
            at = answer["NextShardIterator"]
        return found

    return Target(sink(stream), sink("nowhere"), received, Outgoing(None, b"a key without a value"))


def added_target(request) -> Target:
    """The sink of a package of its own, found by its entry point."""
    request.getfixturevalue("added_connector")
    folder = request.getfixturevalue("tmp_path")
    kind, path = connector("dial"), folder / "lines"

    def received() -> list[bytes]:
        return path.read_bytes().splitlines() if path.exists() else []

    return Target(
        kind.new_record_sink({"path": str(path)}), kind.new_record_sink({"path": "/nowhere/lines"}), received, None
    )


@pytest.fixture(params=[kafka_target, kinesis_target, added_target], ids=["kafka", "kinesis", "added"])
def target(request) -> Target:
    return request.param(request)


def records(count: int) -> list[Outgoing]:
    return [Outgoing(b'{"n": %d}' % n, b"key") for n in range(count)]


def test_a_sink_survives_pickling_and_says_what_it_guarantees_and_how_rows_become_records(target):
    again = pickle.loads(pickle.dumps(target.sink))

    assert again == target.sink
    assert again.guarantee
    assert isinstance(again.shape, RecordShape)


def test_check_passes_for_a_target_that_is_there_and_sends_nothing(target):
    target.sink.check()

    assert target.received() == []


def test_check_names_a_target_that_is_not_there(target):
    with pytest.raises(ConfigError, match="nowhere"):
        target.nowhere.check()


def test_all_records_have_arrived_in_order_when_the_call_returns(target):
    sent = records(RECORDS)

    assert target.sink.send(iter(sent)) == RECORDS
    assert target.received() == [one.value for one in sent]


def test_no_records_are_none(target):
    assert target.sink.send(iter([])) == 0
    assert target.received() == []


def test_records_of_several_calls_add_up(target):
    copy = pickle.loads(pickle.dumps(target.sink))  # as each task gets one

    assert [target.sink.send(iter(records(2))), copy.send(iter(records(3)))] == [2, 3]
    assert target.received() == [one.value for one in (*records(2), *records(3))]


def test_a_record_that_the_target_refuses_is_an_error(target):
    if target.refused is None:
        return

    with pytest.raises(EtlError):
        target.sink.send(iter([*records(3), target.refused]))


def test_an_error_of_what_makes_the_records_is_passed_on(target):
    def broken():
        yield from records(3)
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        target.sink.send(broken())
