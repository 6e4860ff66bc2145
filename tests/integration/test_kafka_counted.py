"""A batch that was counted is not fetched a second time."""

from __future__ import annotations

from uuid import uuid4

import pytest
from kafka import KafkaProducer

from gluepot.connectors.kafka.settings import KafkaReadSettings
from gluepot.connectors.kafka.task_reader import KafkaTaskReader
from gluepot.connectors.values import SourceRange
from gluepot.core.errors import DataLoss
from gluepot.servers.topics import create_topic

RECORDS = [b"%d" % number for number in range(5_000)]


@pytest.fixture(scope="module")
def topic(kafka):
    """A topic of one partition that holds the records."""
    name = f"counted-{uuid4().hex[:8]}"
    create_topic(kafka, name, 1)
    producer = KafkaProducer(bootstrap_servers=kafka, acks="all")
    for record in RECORDS:
        producer.send(name, record, headers=[("n", record)])
    producer.flush()
    producer.close()
    return name


@pytest.fixture
def reader(topic, tmp_path):
    """Open the topic at an address, with a folder for what was counted."""

    def at(bootstrap):
        options = {"includeHeaders": "true", "addRecordTimestamp": "true"}
        settings = KafkaReadSettings.from_options({"bootstrap.servers": bootstrap, "topicName": topic, **options})
        return KafkaTaskReader(settings, tmp_path)

    return at


def ranged(topic, start, end):
    return SourceRange("kafka", topic, "", "0", start, end)


def read(reader, wanted):
    return [
        (value, position, *(column[at].as_py() for column in raw.columns.values()))
        for raw in reader.read(wanted)
        for at, (value, position) in enumerate(zip(raw.values, raw.positions, strict=True))
    ]


def test_a_counted_range_is_read_where_no_broker_is(kafka, topic, reader):
    wanted = ranged(topic, 10, 4_990)
    fetched = read(reader(kafka), wanted)
    assert reader(kafka).count(wanted) == 4_980
    counted = read(reader("127.0.0.1:1"), wanted)
    assert counted == fetched
    assert [row[0] for row in counted] == RECORDS[10:4_990]


def test_each_range_is_counted_where_the_last_one_ended(kafka, topic, reader):
    there = reader(kafka)
    for start in range(0, 5_000, 1_000):
        wanted = ranged(topic, start, start + 1_000)
        assert there.count(wanted) == 1_000
        assert [row[0] for row in read(there, wanted)] == RECORDS[start : start + 1_000]


def test_a_count_of_records_that_are_not_there_keeps_nothing(kafka, topic, reader, tmp_path):
    with pytest.raises(DataLoss):
        reader(kafka).count(ranged(topic, 6_000, 6_010))
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []
