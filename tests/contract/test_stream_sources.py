"""What every stream source promises, whatever system is behind it."""

import json
import pickle
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import pairwise
from pathlib import Path
from uuid import uuid4

import boto3
import pytest
from kafka import KafkaProducer

from gluepot.connectors.contracts import Planner, StreamSource
from gluepot.connectors.kafka.settings import KafkaReadSettings
from gluepot.connectors.kafka.source import KafkaSource
from gluepot.connectors.kinesis.positions import Note, behind, fingerprint, position
from gluepot.connectors.kinesis.settings import KinesisReadSettings
from gluepot.connectors.kinesis.source import KinesisSource
from gluepot.connectors.positions import StreamPositions
from gluepot.connectors.registry import connector, positions_class
from gluepot.connectors.values import SourceRange, ranges_digest
from gluepot.core.checkpoint import Checkpoint, OffsetEntry
from gluepot.core.clock import SystemClock
from gluepot.core.errors import CheckpointError, DataLoss, TransientError
from gluepot.engine.task_ranges import cut
from gluepot.servers.topics import create_topic


@dataclass
class Stream:
    """A stream of one shard with records 0..n-1, and what the suite needs to know of it."""

    source: StreamSource
    unreachable: StreamSource | None
    ranged: Callable[[int, int], SourceRange]
    positions: Callable[[int, int], list[int]]
    records: list[bytes]


CLOCK = SystemClock()
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
        options = {"bootstrap.servers": where, "topicName": topic, "startingOffsets": "earliest"}
        settings = KafkaReadSettings.from_options(options)
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
        options = {"streamName": name, "endpointUrl": where, "startingPosition": "earliest"}
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


def tail_stream(request):
    """The stream of a package of its own, found by its entry point."""
    request.getfixturevalue("added_connector")
    folder = request.getfixturevalue("tmp_path_factory").mktemp("tail")
    (folder / "one.log").write_bytes(b"".join(record + b"\n" for record in RECORDS))
    source = connector("tail").new_stream_source({"path": str(folder)}, lambda *_: None)

    def ranged(a, b):
        return SourceRange("tail", str(folder), "", "one.log", a, b)

    return Stream(source, None, ranged, lambda a, b: list(range(a, b)), RECORDS)


localstack_stream = partial(kinesis_stream, server="localstack")


@pytest.fixture(
    scope="module",
    params=[kafka_stream, kinesis_stream, localstack_stream, tail_stream],
    ids=["kafka", "kinesis", "localstack", "added"],
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
    if stream.unreachable is None:
        return  # the source has no server
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


@pytest.fixture
def query(stream, tmp_path):
    """The source of one query, and the planners that it has made; they are closed afterwards."""
    folder = tmp_path / "query"
    folder.mkdir()
    made = Query(stream.source.in_folder(folder), tmp_path / "checkpoint")
    yield made
    for planner in made.planners:
        planner.close()


@dataclass
class Query:
    """A query over a stream, whose offset log is written as Spark writes it."""

    source: StreamSource
    checkpoint: Path
    planners: list[Planner] = field(default_factory=list)
    log: list[StreamPositions] = field(default_factory=list)

    def start(self) -> Planner:
        self.planners.append(self.source.planner(Checkpoint(str(self.checkpoint)), CLOCK))
        return self.planners[-1]

    def note(self, batch: StreamPositions) -> None:
        entry = self.checkpoint / "offsets" / str(len(self.log))
        entry.parent.mkdir(parents=True, exist_ok=True)
        entry.write_text("\n".join(["v1", "{}", json.dumps(batch.to_json())]))
        self.log.append(batch)

    def run_to_the_end(self, planner: Planner, records: int, deadline_secs: float = 30.0) -> list[bytes]:
        """Note and read every batch, until there are as many records; return them in the order of the batches."""
        found: list[bytes] = []
        deadline = CLOCK.monotonic() + deadline_secs
        while len(found) < records and CLOCK.monotonic() < deadline:
            batch = planner.latest()
            if self.log and batch == self.log[-1]:
                CLOCK.sleep(0.02)
                continue
            self.note(batch)
            found += self.read(batch)
            planner.committed(batch)
        return found

    def read(self, batch: StreamPositions) -> list[bytes]:
        reading = self.source.reading()
        ranges = reading.remaining(self.source.split(batch))
        found = [value for one in ranges for raw in reading.reader.read(one) for value in raw.values]
        reading.confirm(ranges)
        return found


def test_the_batches_of_a_query_hold_every_record_once_in_order(stream, query):
    planner = query.start()

    assert query.run_to_the_end(planner, len(stream.records)) == stream.records
    assert planner.latest() == query.log[-1]  # nothing is left


def test_a_planned_batch_is_as_large_as_it_says_and_knows_where_it_is(stream, query):
    query.run_to_the_end(query.start(), len(stream.records))

    assert sum(batch.records() for batch in query.log) >= len(stream.records)
    for batch, follower in pairwise(query.log):
        assert follower.after == batch.check
    assert query.source.admin.any_record([one for batch in query.log for one in query.source.split(batch)])
    query.source.admin.check_position(query.log[-1])


def test_a_query_that_starts_again_plans_nothing_twice(stream, query):
    query.run_to_the_end(query.start(), len(stream.records))

    again = query.start().latest()

    assert again == query.log[-1] or again.width() == 0


def test_a_query_starts_where_it_said_it_would(query):
    planner = query.start()

    assert planner.initial() == planner.initial()
    assert planner.initial().width() == 0


def test_a_batch_survives_the_offset_log(stream, query):
    query.run_to_the_end(query.start(), len(stream.records))
    codec, checkpoint = query.source.codec, Checkpoint(str(query.checkpoint))

    for number, batch in enumerate(query.log):
        plain = json.loads(json.dumps(batch.to_json()))
        assert codec.decode(plain) == codec.find(checkpoint.offsets(number), checkpoint.location) == batch
        kind = positions_class(plain["source"])
        assert kind is not None
        assert kind.from_json(plain) == batch


def test_an_entry_that_was_changed_or_belongs_to_another_stream_is_refused(stream, query):
    query.run_to_the_end(query.start(), len(stream.records))
    codec, plain = query.source.codec, query.log[-1].to_json()

    with pytest.raises(CheckpointError):
        codec.decode({**plain, "after": "0badc0de"})
    with pytest.raises(CheckpointError):
        codec.decode({**plain, "source": "another"})
    with pytest.raises(CheckpointError):
        codec.find(OffsetEntry(0, ({**plain, "source": "another"},)), "/checkpoint")


def test_a_bounded_read_holds_every_record_once(stream, query):
    reading = query.source.reading()

    found = [value for one in query.source.bounded() for raw in reading.reader.read(one) for value in raw.values]

    assert found == stream.records


def test_the_driver_sees_single_records_the_backlog_and_the_ends(stream, query):
    query.run_to_the_end(query.start(), len(stream.records))
    admin, last = query.source.admin, query.log[-1]

    (original,) = admin.originals([stream.ranged(17, 18)])
    assert (original.value, original.position) == (stream.records[17], stream.positions(17, 18)[0])
    assert list(admin.originals([stream.ranged(5, 5)])) == []
    assert sum(admin.backlog(last).values()) == 0
    ends = admin.ends_at(0.0)
    assert ends is not None
    assert {shard: last.ends_by_id()[shard] >= (end or 0) for shard, end in ends.items()} == dict.fromkeys(ends, True)
    (name,) = last.streams()
    assert name in admin.dataset(name).name


def test_small_batches_are_read_as_others_are(stream):
    small = stream.source.small_reading()

    assert [value for raw in small.reader.read(stream.ranged(3, 9)) for value in raw.values] == stream.records[3:9]
    assert pickle.loads(pickle.dumps(small)) == small
