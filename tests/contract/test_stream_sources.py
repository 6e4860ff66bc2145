"""What every stream source promises, whatever system is behind it."""

import json
import pickle
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from uuid import uuid4

import boto3
import pytest
from kafka import KafkaProducer

from gluepot.connectors.contracts import StreamSource
from gluepot.connectors.kafka.settings import KafkaReadSettings
from gluepot.connectors.kafka.source import KafkaSource
from gluepot.connectors.kinesis.positions import Note, behind, fingerprint, position
from gluepot.connectors.kinesis.settings import KinesisReadSettings
from gluepot.connectors.kinesis.source import KinesisSource
from gluepot.connectors.values import SourceRange, ranges_digest
from gluepot.core.errors import DataLoss, TransientError
from gluepot.engine.task_ranges import cut
from gluepot.servers.topics import create_topic


@dataclass
class Stream:
    """A stream of one shard with records 0..n-1, and what the suite needs to know of it."""

    source: StreamSource
    unreachable: StreamSource
    ranged: Callable[[int, int], SourceRange]
    positions: Callable[[int, int], list[int]]
    records: list[bytes]


RECORDS = [json.dumps({"n": n, "pad": "x" * (n % 50)}).encode() for n in range(3000)]


def kafka_stream(request):
    bootstrap = request.getfixturevalue("kafka")
    topic = f"contract-{uuid4().hex[:8]}"
    create_topic(bootstrap, topic, 1)
    producer = KafkaProducer(bootstrap_servers=bootstrap, acks="all")
    for record in RECORDS:
        producer.send(topic, record)
    producer.flush()
    producer.close()

    def source(where):
        settings = KafkaReadSettings.from_options({"bootstrap.servers": where, "topicName": topic})
        return KafkaSource(settings, check_deadline_secs=2)

    def ranged(a, b):
        return SourceRange("kafka", topic, "", "0", a, b)

    return Stream(source(bootstrap), source("127.0.0.1:1"), ranged, lambda a, b: list(range(a, b)), RECORDS)


def kinesis_stream(request, server="kinesis"):
    """The stream read again by sequence numbers, as on a machine that has no spool."""
    url = request.getfixturevalue(server)
    name = f"contract-{uuid4().hex[:8]}"
    client = boto3.client("kinesis", endpoint_url=url, region_name="us-east-1")
    client.create_stream(StreamName=name, ShardCount=1)
    client.get_waiter("stream_exists").wait(StreamName=name, WaiterConfig={"Delay": 1})
    numbers = []
    for at in range(0, len(RECORDS), 500):
        pending = [{"Data": record, "PartitionKey": "k"} for record in RECORDS[at : at + 500]]
        answer = client.put_records(StreamName=name, Records=pending)["Records"]
        numbers += [int(one["SequenceNumber"]) for one in answer]
    shard = answer[0]["ShardId"]

    def source(where):
        options = {"streamName": name, "endpointUrl": where}
        return KinesisSource(KinesisReadSettings.from_options(options), check_deadline_secs=2)

    def ranged(a, b):
        if b > len(numbers):
            far = numbers[-1] + 10 * a
            return SourceRange("kinesis", name, "", shard, position(far), behind(far + b - a))
        start = behind(numbers[a - 1]) if a else position(numbers[0])
        proof = Note(records=b - a, total=fingerprint(map(str, numbers[a:b]), RECORDS[a:b]))
        end = behind(numbers[b - 1]) if b > a else start
        text = replace(proof, first=numbers[a]).to_text() if b > a else ""
        return SourceRange("kinesis", name, "", shard, start, end, text)

    return Stream(
        source(url), source("http://127.0.0.1:1"), ranged, lambda a, b: [position(n) for n in numbers[a:b]], RECORDS
    )


localstack_stream = partial(kinesis_stream, server="localstack")


@pytest.fixture(
    scope="module",
    params=[kafka_stream, kinesis_stream, localstack_stream],
    ids=["kafka", "kinesis", "localstack"],
)
def stream(request):
    return request.param(request)


def values(stream, start, end):
    return [value for raw in stream.source.reading().reader.read(stream.ranged(start, end)) for value in raw.values]


def test_a_range_holds_exactly_its_records_in_order(stream):
    assert values(stream, 0, 3000) == stream.records
    assert values(stream, 17, 18) == stream.records[17:18]


def test_an_empty_range_holds_nothing(stream):
    assert values(stream, 5, 5) == []


def test_where_positions_are_records_a_range_can_be_read_in_pieces(stream):
    positions = stream.positions(0, 3000)
    dense = positions == list(range(positions[0], positions[0] + 3000))

    assert (stream.source.reading().least_piece is not None) == dense

    if dense:
        (pieces,) = cut([stream.ranged(0, 3000)], slots=3, least_piece=900)
        later_first = [
            value
            for one in reversed(pieces)
            for raw in stream.source.reading().reader.read(one)
            for value in raw.values
        ]
        assert later_first == [*stream.records[2000:], *stream.records[1000:2000], *stream.records[:1000]]


def test_a_count_agrees_with_the_records(stream):
    assert stream.source.reading().reader.count(stream.ranged(17, 1717)) == 1700
    assert stream.source.reading().reader.count(stream.ranged(5, 5)) == 0


def test_the_same_range_read_again_holds_the_same_records(stream):
    assert values(stream, 100, 900) == values(stream, 100, 900) == stream.records[100:900]


@pytest.mark.parametrize("cuts", [(0, 1000, 2000, 3000), (2000, 3000, 0, 2000), (0, 10, 5, 3000, 0, 1)])
def test_ranges_read_in_any_order_hold_their_own_records(stream, cuts):
    for start, end in zip(cuts[::2], cuts[1::2], strict=True):
        assert values(stream, start, end) == stream.records[start:end]


def test_positions_ascend_and_lie_within_the_range(stream):
    positions = [p for raw in stream.source.reading().reader.read(stream.ranged(10, 60)) for p in raw.positions]

    assert positions == sorted(set(positions))
    assert positions == stream.positions(10, 60)


def test_a_reader_that_was_left_half_way_does_not_disturb_the_next(stream):
    next(iter(stream.source.reading().reader.read(stream.ranged(0, 3000))))

    assert values(stream, 50, 70) == stream.records[50:70]


def test_batches_are_bounded(stream):
    assert all(len(raw.values) <= 20_000 for raw in stream.source.reading().reader.read(stream.ranged(0, 3000)))


def test_a_range_that_is_not_there_is_a_loss_and_not_an_empty_answer(stream):
    gone = stream.ranged(10_000, 10_010)

    with pytest.raises(DataLoss):
        list(stream.source.reading().reader.read(gone))


def test_check_passes_for_a_stream_that_is_there(stream):
    stream.source.admin.check()


def test_an_unreachable_server_is_transient_and_named(stream):
    with pytest.raises(TransientError, match=r"127\.0\.0\.1:1"):
        stream.unreachable.admin.check()


def test_a_source_survives_pickling_and_shows_what_it_guarantees(stream):
    again = pickle.loads(pickle.dumps(stream.source))

    assert again == stream.source
    assert again.guarantee


def test_ranges_survive_json_and_sort(stream):
    first, second = stream.ranged(0, 5), stream.ranged(5, 9)

    assert SourceRange.from_json(json.loads(json.dumps(first.to_json()))) == first
    assert ranges_digest([second, first]) == ranges_digest([first, second])
