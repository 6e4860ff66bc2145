"""Both consumers of Kafka deliver the same: the one of objects, and the compiled one."""

from __future__ import annotations

import time

import pyarrow as pa
import pytest
from confluent_kafka import KafkaError, KafkaException, Producer

from gluepot.connectors.kafka import compiled, reader
from gluepot.connectors.kafka.compiled import CompiledConsumer, can_serve
from gluepot.connectors.kafka.messages import MessageConsumer
from gluepot.connectors.kafka.settings import KafkaReadSettings
from gluepot.connectors.values import SourceRange
from gluepot.frames.payloads import Payloads

BOTH = pytest.mark.parametrize("kind", [MessageConsumer, CompiledConsumer])


@pytest.fixture
def topic(new_topic):
    return new_topic(partitions=1)


@pytest.fixture
def consumer(topic, kind):
    opened = kind({"bootstrap.servers": topic.bootstrap})
    yield opened
    opened.close()


def taken(consumer, until, most=100):
    """What comes until a condition is true of all parts and notices, which it has to be within half a minute."""
    parts, notices, deadline = [], [], time.monotonic() + 30
    while not until(parts, notices):
        assert time.monotonic() < deadline, (parts, notices)
        records, told = consumer.take(most, 0.1)
        parts += [] if records is None else [records]
        notices += told
    return parts, notices


def count(wanted):
    return lambda parts, _: sum(map(len, parts)) >= wanted


def test_a_checkout_on_a_machine_with_a_compiler_has_the_compiled_consumer():
    assert compiled.IS_COMPILED, "run `make setup`"


@BOTH
def test_records_with_their_offsets_and_times(topic, consumer):
    before_ms = time.time() * 1000
    values = [b"", None, "größe".encode(), b"\0", b"x" * 100_000, b"last"]
    topic.send(*values)

    consumer.assign(topic.name, 0, 1)
    parts, notices = taken(consumer, lambda _, told: told)

    assert [value for part in parts for value in part.values] == values[1:]
    assert [at for part in parts for at in part.positions] == [1, 2, 3, 4, 5]
    assert all(part.is_ascending and part.partitions == {0} for part in parts)
    stamps = [stamp for part in parts for stamp in part.epochs_ms.to_pylist()]
    assert all(before_ms - 1000 < stamp < time.time() * 1000 + 1000 for stamp in stamps)
    assert parts[-1].newest_epoch_ms == stamps[-1]
    assert [(one.error.code(), one.partition, one.offset) for one in notices] == [(KafkaError._PARTITION_EOF, 0, 6)]


@BOTH
def test_no_more_records_than_asked_for(topic, consumer):
    topic.send(*(b"%d" % n for n in range(10)))

    consumer.assign(topic.name, 0, 0)
    parts, _ = taken(consumer, count(10), most=3)

    assert max(map(len, parts)) <= 3
    assert [value for part in parts for value in part.values] == [b"%d" % n for n in range(10)]


@BOTH
def test_records_are_cut_at_an_offset(topic, consumer):
    topic.send(*(b"%d" % n for n in range(10)))
    consumer.assign(topic.name, 0, 0)
    parts, _ = taken(consumer, count(10))
    part = parts[0]
    middle = (part.first + part.last + 1) // 2

    before, behind = part.cut(middle)

    assert [*before.values, *behind.values] == list(part.values)
    assert (before.last, behind.first) == (middle - 1, middle)
    assert len(before.epochs_ms) == len(before)
    assert part.cut(part.first) == (None, part)
    assert part.cut(part.last + 1) == (part, None)


@BOTH
def test_offsets_with_gaps(topic, consumer):
    producer = Producer({"bootstrap.servers": topic.bootstrap, "transactional.id": topic.name, "log_level": 0})
    producer.init_transactions(30)
    for number, ends in enumerate([producer.commit_transaction, producer.abort_transaction] * 3):
        producer.begin_transaction()
        producer.produce(topic.name, b"%d" % number, partition=0)
        producer.flush(30)
        ends(30)

    consumer.assign(topic.name, 0, 0)
    parts, notices = taken(consumer, lambda _, told: told)

    assert [value for part in parts for value in part.values] == [b"0", b"2", b"4"]
    assert [at for part in parts for at in part.positions] == [0, 4, 8]
    assert all(part.is_ascending for part in parts)
    before, behind = parts[0].cut(4) if len(parts) == 1 else (parts[0], parts[1])
    assert (list(before.values), behind.first) == ([b"0"], 4)
    assert notices[-1].offset == 12


@BOTH
def test_a_consumer_without_a_partition_delivers_nothing(topic, consumer):
    topic.send(b"1")
    consumer.assign(topic.name, 0, 0)
    taken(consumer, count(1))

    consumer.unassign()

    assert consumer.take(10, 0.3) == (None, [])


@BOTH
def test_offsets_that_the_broker_does_not_have_are_told(topic, consumer):
    topic.send(b"1")

    consumer.assign(topic.name, 0, 50)
    _, notices = taken(consumer, lambda _, told: told)

    assert notices[0].error.code() == KafkaError._AUTO_OFFSET_RESET
    assert notices[0].error.str()


@BOTH
@pytest.mark.parametrize("wrong", [{"no.such.property": "1"}, {"fetch.wait.max.ms": "soon"}])
def test_properties_that_librdkafka_does_not_take_are_refused(kind, wrong):
    with pytest.raises(KafkaException, match=next(iter(wrong))):
        kind({"bootstrap.servers": "127.0.0.1:1", **wrong})


def test_a_compiled_consumer_that_is_closed_says_so(topic):
    consumer = CompiledConsumer({"bootstrap.servers": topic.bootstrap})
    consumer.close()
    consumer.close()

    with pytest.raises(RuntimeError, match="closed"):
        consumer.take(1, 0.1)


def test_tokens_and_headers_need_objects(new_topic):
    topic = new_topic(partitions=1)
    topic.send(b"1", headers=[("from", b"here")])
    wanted = SourceRange("kafka", topic.name, "", "0", 0, 1)

    [plain] = reader.read_range(KafkaReadSettings.from_options(topic.options()), wanted)
    headed = KafkaReadSettings.from_options(topic.options(includeHeaders="true", addRecordTimestamp="true"))
    [whole] = reader.read_range(headed, wanted)

    assert isinstance(plain.values, Payloads)
    assert list(plain.values) == list(whole.values) == [b"1"]
    assert [column.to_pylist()[0] for column in whole.columns.values()][-1] == [{"key": "from", "value": "here"}]
    assert can_serve({"sasl.mechanism": "SCRAM-SHA-512"})
    assert not can_serve({"sasl.mechanism": "OAUTHBEARER", "gluepot.iam": "true"})


@pytest.mark.parametrize("headers", ["false", "true"])
def test_time_stamps_become_a_column(new_topic, headers):
    topic = new_topic(partitions=1)
    topic.send(b"1", b"2")
    settings = KafkaReadSettings.from_options(topic.options(includeHeaders=headers, addRecordTimestamp="true"))

    parts = list(reader.read_range(settings, SourceRange("kafka", topic.name, "", "0", 0, 2)))

    stamps = pa.concat_arrays([part.columns["__src_timestamp"] for part in parts]).cast(pa.int64()).to_pylist()
    assert [stamp // 1000 for stamp in stamps][-1] == parts[-1].newest_epoch_ms
