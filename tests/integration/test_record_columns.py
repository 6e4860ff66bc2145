"""`addRecordColumns`: a frame over several topics or streams, routed by the columns of their records."""

from __future__ import annotations

import json
from io import BytesIO

import fastavro
import pytest

from awsglue import DynamicFrame
from gluepot.cli import dlq
from gluepot.core.errors import ConfigError
from gluepot.streaming.query import session

ALL = "topic, partition, offset, timestamp, key"
AVRO = {"type": "record", "name": "Click", "fields": [{"name": "id", "type": "long"}]}


def fast(job, data_frame):
    return DynamicFrame.fromDF(data_frame, job.glue_context, "fast")


def by_rows(job, data_frame):
    """The rows as Spark reads them, which is the other way to the same records."""
    rows = data_frame.filter("topic IS NOT NULL")
    assert type(rows) is not type(data_frame)
    return DynamicFrame.fromDF(rows, job.glue_context, "rows")


WAYS = [fast, by_rows]
LONG = pytest.mark.long


@pytest.fixture
def two(new_topic):
    """Two topics with two records each; the last one is broken."""
    topics = new_topic(partitions=2), new_topic(partitions=1)
    for number, topic in enumerate(topics):
        topic.send_json({"id": number}, partition=0)
        topic.send(b"{broken", partition=0)
    return topics


def over(topics, **more):
    names = ",".join(topic.name for topic in topics)
    return {**topics[0].options(), "topicName": "", "subscribe": names, **more}


def as_sent(topics):
    """Each good record as a client reads it that is not the product's."""
    records = [record for topic in topics for record in topic.consumed(2)]
    good = [one for one in records if one.value != b"{broken"]
    return sorted((one.topic, one.partition, one.offset, one.timestamp, one.key) for one in good)


@pytest.mark.parametrize("way", WAYS)
def test_rows_know_the_record_that_they_were_on_both_ways(two, job, way):
    job.drain(over(two, addRecordColumns=ALL), lambda frame, _: job.write(way(job, frame)))

    rows = job.rows('topic, partition, "offset", epoch_ms(timestamp), key')
    assert rows == as_sent(two)
    assert len(job.rejects()) == 2


def test_rows_are_routed_by_topic_in_filters_and_in_sql(two, job):
    first, second = (topic.name for topic in two)
    seen = {}

    def route(data_frame, batch_id):
        data_frame.createOrReplaceTempView("events")
        of_sql = data_frame.sparkSession.sql(f"SELECT topic FROM events WHERE topic = '{first}'")
        frame = DynamicFrame.fromDF(data_frame, job.glue_context, "frame")
        of_second = frame.filter(lambda row: row["topic"] == second).toDF()
        seen.update(sql=of_sql.count(), filtered=[row.id for row in of_second.collect()], all=data_frame.count())

    job.drain(over(two, addRecordColumns="topic"), route)

    assert seen == {"sql": 2, "filtered": [1], "all": 4}


@pytest.mark.parametrize(
    ("kind", "way"),
    [pytest.param("json", by_rows, marks=LONG), ("csv", fast), pytest.param("avro", by_rows, marks=LONG)],
)
def test_declared_columns_have_the_columns_of_the_record_beside_them(new_topic, job, kind, way):
    topic = new_topic(partitions=1)
    datum = BytesIO()
    fastavro.schemaless_writer(datum, AVRO, {"id": 7})
    topic.send({"json": b'{"id": 7}', "csv": b"7", "avro": datum.getvalue()}[kind])
    schema = json.dumps(AVRO) if kind == "avro" else "id BIGINT"
    options = topic.options(classification=kind, inferSchema="false", schema=schema, addRecordColumns="topic, key AS k")

    job.drain(options, lambda frame, _: job.write(way(job, frame)))

    assert job.rows("id, topic, k") == [(7, topic.name, b"0")]


@pytest.mark.parametrize("subscription", [pytest.param("subscribePattern", marks=LONG), "assign"])
def test_a_pattern_and_assigned_partitions_have_them_too(two, job, subscription):
    names = [topic.name for topic in two]
    text = "|".join(names) if subscription == "subscribePattern" else json.dumps({name: [0] for name in names})
    options = {**two[0].options(), "topicName": "", subscription: text, "addRecordColumns": "topic AS source"}

    job.drain(options)

    assert job.rows("id, source") == [(0, names[0]), (1, names[1])]


@pytest.mark.parametrize(("way", "field"), [(by_rows, "topic"), pytest.param(fast, "Topic", marks=LONG)])
def test_a_field_of_a_record_never_takes_the_place_of_the_column(topic, job, way, field):
    topic.send_json({"id": 1, field: "from the payload"})
    options = topic.options(addRecordColumns="topic")

    with pytest.raises(Exception, match="addRecordColumns adds a column 'topic'"):
        job.drain(options, lambda frame, _: job.write(way(job, frame)), batchMaxRetries=0)
    assert job.rows() == []

    renamed = {**options, "addRecordColumns": "topic AS source"}
    job.drain(renamed, job.copy if way is fast else lambda frame, _: job.copy(frame.filter("source != ''"), 0))
    assert job.rows("id, source") == [(1, topic.name)]


def test_names_that_the_frame_has_are_refused_before_data_flows(topic, job):
    for options in (
        {"addRecordColumns": "topic", "inferSchema": "false", "schema": "Topic STRING"},
        {"addRecordColumns": "topic AS data", "inferSchema": "false"},
        {"addRecordColumns": "timestamp AS __src_timestamp", "addRecordTimestamp": "true"},
    ):
        with pytest.raises(ConfigError, match="addRecordColumns"):
            job.drain(topic.options(**options))


@LONG
def test_counted_records_keep_the_columns(topic, job):
    topic.send_json(*({"id": n} for n in range(30)), partition=1)

    def count_first(data_frame, batch_id):
        assert data_frame.count() == 30
        job.copy(data_frame, batch_id)

    job.drain(topic.options(addRecordColumns="offset, key"), count_first)

    assert job.rows('id, "offset", key') == sorted(((n, n, str(n).encode()) for n in range(30)), key=repr)


def test_a_bounded_read_takes_the_option(two, job):
    session.install(session.StreamSession())

    read = job.glue_context.getSource("kafka", **over(two, addRecordColumns="topic")).getFrame()

    assert sorted((row.id, row.topic) for row in read.toDF().collect()) == [(0, two[0].name), (1, two[1].name)]


def test_dead_letters_go_back_to_the_topics_from_which_they_came(two, job, capsys):
    job.drain(over(two, addRecordColumns="topic"))

    dlq.replay(str(job.table), bootstrap=two[0].bootstrap)

    assert [[one.value for one in topic.consumed(3)][2] for topic in two] == [b"{broken"] * 2
    said = capsys.readouterr().out.splitlines()
    assert sorted(said) == sorted(f"1 dead letters sent to {one.name}; 0 were already sent." for one in two)


def test_records_of_kinesis_know_their_stream(kinesis_stream, job):
    kinesis_stream.send(b'{"id": 1}', b'{"id": 2}', keys=["a", "b"])
    columns = "streamName, partitionKey, sequenceNumber, approximateArrivalTimestamp AS arrived"

    job.drain(kinesis_stream.options(addRecordColumns=columns), connection_type="kinesis")

    sent = [
        (kinesis_stream.name, one["PartitionKey"], one["SequenceNumber"], arrived_ms(one))
        for one in kinesis_stream.records()
    ]
    assert job.rows("streamName, partitionKey, sequenceNumber, epoch_ms(arrived)") == sorted(sent, key=repr)


@LONG
def test_streams_of_kinesis_that_are_united_tell_their_rows_apart(new_kinesis_stream, job):
    streams = [new_kinesis_stream(shards=1) for _ in range(2)]
    for number, stream in enumerate(streams):
        stream.send_json({"id": number})
    session.install(session.StreamSession(drain=session.Drain(until_caught_up=True)))
    first, second = (
        job.glue_context.create_data_frame.from_options("kinesis", stream.options(addRecordColumns="streamName"))
        for stream in streams
    )

    options = {"windowSize": "1 second", "checkpointLocation": str(job.checkpoint)}
    job.glue_context.forEachBatch(frame=first.unionByName(second), batch_function=job.copy, options=options)

    assert job.rows("id, streamName") == [(number, stream.name) for number, stream in enumerate(streams)]


def arrived_ms(record):
    return round(record["ApproximateArrivalTimestamp"].timestamp() * 1000)
