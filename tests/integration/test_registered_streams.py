"""Streams whose records name schemas of a registry: both headers, three formats, schemas that change."""

import json
import os
import zlib
from collections import Counter
from uuid import uuid4

import pytest
from aws_schema_registry import DataAndSchema, SchemaRegistryClient
from aws_schema_registry.adapter.kafka import KafkaSerializer
from aws_schema_registry.avro import AvroSchema
from aws_schema_registry.jsonschema import JsonSchema
from confluent_kafka.schema_registry import SchemaRegistryClient as ConfluentClient
from confluent_kafka.schema_registry.avro import AvroSerializer
from confluent_kafka.schema_registry.json_schema import JSONSerializer
from confluent_kafka.schema_registry.protobuf import ProtobufSerializer
from confluent_kafka.serialization import MessageField, SerializationContext
from google.protobuf.descriptor_pb2 import FileDescriptorProto
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message_factory import GetMessageClass

from gluepot.catalog.values import Table
from gluepot.core.clock import SystemClock
from gluepot.service.server import ServeOptions, client_environment, service
from tests import confluent_registry
from tests.service_answers import checking_client

ID = {"name": "id", "type": "int"}
LONG_ID = {"name": "id", "type": "long"}
PAGE = {"name": "page", "type": ["null", "string"], "default": None}
AT = {"name": "at", "type": ["null", {"type": "long", "logicalType": "timestamp-millis"}], "default": None}


def until(reached):
    clock = SystemClock()
    deadline = clock.monotonic() + 120
    while not reached():
        assert clock.monotonic() < deadline
        clock.sleep(0.2)


def click(*fields):
    return json.dumps({"type": "record", "name": "Click", "fields": list(fields)})


@pytest.fixture
def registry():
    with confluent_registry.running() as running:
        yield running


@pytest.fixture
def client(registry):
    return ConfluentClient({"url": registry.url})


def written(serializer, topic, *documents):
    at = SerializationContext(topic.name, MessageField.VALUE)
    return [serializer(document, at) for document in documents]


def confluent(topic, registry, **more):
    plain = topic.options(**{"schema.registry.url": registry.url, **more})
    return {name: value for name, value in plain.items() if name not in {"classification", "inferSchema"}}


def test_a_new_schema_of_avro_adds_its_columns_while_the_query_runs(topic, job, registry, client):
    old, new = (AvroSerializer(client, click(*fields)) for fields in ((ID,), (LONG_ID, PAGE, AT)))
    topic.send(*written(old, topic, *({"id": n} for n in range(50))), partition=0)

    def another_schema():
        until(lambda: job.published() >= 50)
        topic.send(*written(new, topic, {"id": 2**40, "page": "/", "at": 1000}), partition=0)
        topic.send(*written(old, topic, {"id": 51}), partition=0)
        until(lambda: job.published() >= 52)

    job.run_beside(another_schema, confluent(topic, registry))
    # A column whose type has changed is continued beside the old one, as for any other drift.
    found = job.rows('id, id_long, page, epoch_ms("at")')
    assert found[:50] == [(n, None, None, None) for n in sorted(range(50), key=str)]
    assert found[50:] == [(None, 2**40, "/", 1000), (None, 51, None, None)]
    lookups = [path for path in registry.asked if path.startswith("/schemas")]
    assert lookups == ["/schemas/ids/1", "/schemas/ids/2"]


UNION = {
    "name": "value",
    "type": [
        "null",
        "int",
        "string",
        {"type": "record", "name": "Money", "fields": [{"name": "cents", "type": "int"}]},
    ],
}
MIXED = [5, "five", ("Money", {"cents": 500}), None]


def test_unions_of_avro_with_the_header_of_confluent_become_a_table_without_loss(topic, job, registry, client):
    serializer = AvroSerializer(client, click(ID, UNION))
    topic.send(*written(serializer, topic, *({"id": n, "value": one} for n, one in enumerate(MIXED))), partition=0)
    (report,) = job.drain(confluent(topic, registry))
    # A table holds a choice as text.
    assert job.rows("id, value") == [(0, "5"), (1, "five"), (2, '{"cents":500}'), (3, None)]
    assert report.rejected == {}


def test_a_choice_of_a_union_is_resolved_by_its_types(topic, job, registry, client):
    serializer = AvroSerializer(client, click(ID, UNION))
    topic.send(*written(serializer, topic, *({"id": n, "value": one} for n, one in enumerate(MIXED))), partition=0)

    def resolved(data_frame, _):
        from awsglue import DynamicFrame

        frame = DynamicFrame.fromDF(data_frame, job.glue_context, "frame")
        job.write(frame.resolveChoice(specs=[("value", "make_cols")]))

    job.drain(confluent(topic, registry), resolved)
    columns = "id, value_int, value_string, value_struct"
    money = {"cents": 500}
    assert job.rows(columns) == [
        (0, 5, None, None),
        (1, None, "five", None),
        (2, None, None, money),
        (3,) + (None,) * 3,
    ]


def test_a_declared_schema_of_avro_is_what_all_records_become(topic, job, registry, client):
    old, new = (AvroSerializer(client, click(*fields)) for fields in ((ID,), (LONG_ID, PAGE, AT)))
    topic.send(*written(old, topic, {"id": 1}), *written(new, topic, {"id": 2, "page": "/", "at": 5}))
    job.drain(confluent(topic, registry, schema=click(LONG_ID, PAGE)))
    assert job.rows() == [(1, None), (2, "/")]


def test_records_that_cannot_be_decoded_are_kept_as_they_came(topic, job, registry, client):
    good = written(AvroSerializer(client, click(ID)), topic, {"id": 1}, {"id": 2})
    bad = [b"", b'{"id": 3}', good[0][:5], b"\0\0\0\x03\xe7" + good[0][5:], None]
    topic.send(*good, *bad)
    (report,) = job.drain(confluent(topic, registry))
    assert job.rows() == [(1,), (2,)]
    assert Counter(one["raw"] for one in job.rejects()) == Counter(bad)
    assert report.rejected == {"no_schema_header": 2, "malformed_avro": 1, "unknown_schema": 1, "null_value": 1}


def test_large_batches_are_decoded_in_tasks_and_bounded_reads_alike(topic, job, registry, client, glue_context):
    old, new = (AvroSerializer(client, click(*fields)) for fields in ((LONG_ID,), (LONG_ID, PAGE)))
    first, second = written(old, topic, {"id": 1}), written(new, topic, {"id": 2, "page": "/"})
    for partition in (0, 1):
        topic.send(*first * 6000, *second * 6000, partition=partition)
    # More than the driver reads by itself.
    (report,) = job.drain(confluent(topic, registry))
    assert report.rows_in == 24_000
    counts = Counter(job.rows("id, page"))
    assert counts == {(1, None): 12_000, (2, "/"): 12_000}
    options = confluent(topic, registry)
    frame = glue_context.create_dynamic_frame.from_options(connection_type="kafka", connection_options=options)
    rows = frame.toDF().groupBy("id", "page").count().collect()
    assert {(row["id"], row["page"]): row["count"] for row in rows} == counts


def test_rows_of_a_dataframe_are_json_and_become_equal_records(topic, job, registry, client):
    from awsglue import DynamicFrame

    topic.send(*written(AvroSerializer(client, click(LONG_ID, PAGE)), topic, {"id": 1, "page": "/"}), b"junk")

    def by_rows(data_frame, _):
        rows = data_frame.filter("1 = 1")
        job.write(DynamicFrame.fromDF(rows, job.glue_context, "frame"))

    job.drain(confluent(topic, registry), by_rows)
    assert job.documents() == ['{"id": 1, "page": "/"}']
    assert [one["raw"] for one in job.rejects()] == [b"junk"]


def test_json_records_drift_as_they_do_without_a_registry(topic, job, registry, client):
    schema = json.dumps({"title": "Click", "type": "object", "properties": {"id": {"type": "integer"}}})
    serializer = JSONSerializer(schema, client)
    topic.send(*written(serializer, topic, {"id": 1}, {"id": 2, "more": {"tags": ["a"]}}))
    job.drain(confluent(topic, registry))
    assert job.documents() == ['{"id": 1}', '{"id": 2, "more": {"tags": ["a"]}}']


def messages(*fields, nested=()):
    """The class of a message, and of a second one in the same file."""
    file = FileDescriptorProto(name=f"{uuid4().hex}.proto", package="shop", syntax="proto3")
    view = file.message_type.add(name="View")
    view.field.add(name="url", number=1, type="TYPE_STRING", label="LABEL_OPTIONAL")
    order = file.message_type.add(name="Order")
    for number, (name, kind, label) in enumerate(fields, 1):
        order.field.add(name=name, number=number, type=kind, label=label)
    pool = DescriptorPool()
    found = pool.Add(file) or pool.FindFileByName(file.name)
    return tuple(GetMessageClass(found.message_types_by_name[name]) for name in ("Order", "View"))


FIRST = [("id", "TYPE_INT64", "LABEL_OPTIONAL"), ("tags", "TYPE_STRING", "LABEL_REPEATED")]
SECOND = [*FIRST, ("total", "TYPE_DOUBLE", "LABEL_OPTIONAL")]


def test_messages_of_protocol_buffers_become_columns(topic, job, registry, client):
    (old, view), (new, _) = messages(*FIRST), messages(*SECOND)
    as_old, as_new, as_view = (
        ProtobufSerializer(kind, client, {"use.deprecated.format": False}) for kind in (old, new, view)
    )
    topic.send(
        *written(as_old, topic, old(id=1, tags=["a", "b"])),
        *written(as_new, topic, new(id=2, total=2.5)),
        *written(as_view, topic, view(url="/")),
    )
    job.drain(confluent(topic, registry))
    assert job.rows("id, tags, total, url") == [
        (1, ["a", "b"], None, None),
        (2, [], 2.5, None),
        (None, None, None, "/"),
    ]


def test_a_registry_that_is_away_fails_the_batch_and_loses_nothing(topic, job, registry, client, monkeypatch):
    topic.send(*written(AvroSerializer(client, click(ID)), topic, {"id": 1}))
    monkeypatch.setattr("gluepot.connectors.streams.registries.lookup.DEADLINE_SECS", 1.0)
    registry.away = True
    with pytest.raises(Exception, match="The schema registry is away") as failure:
        job.drain(confluent(topic, registry), batchMaxRetries=0)
    assert job.rows() == []
    registry.away = False
    job.drain(confluent(topic, registry))
    assert job.rows() == [(1,)]
    del failure


@pytest.fixture(scope="module")
def glue(tmp_path_factory):
    environ = {**os.environ, "GLUEPOT_STATE": str(tmp_path_factory.mktemp("service"))}
    with service(ServeOptions(port=0), environ, SystemClock()) as serving:
        yield serving


@pytest.fixture
def serializer(glue, monkeypatch):
    """A serializer of AWS's registry that other people have written, and the environment in which jobs find it."""
    for name, value in client_environment(glue.url, glue.region, glue.key).items():
        monkeypatch.setenv(name, value)
    return KafkaSerializer(SchemaRegistryClient(checking_client(glue), max_wait_attempts=1, wait_interval_seconds=0.1))


def by_glue(topic, **more):
    return {**topic.options(schemaRegistry="glue", **more), "inferSchema": "false"}


def compressed(record):
    return bytes([3, 5]) + record[2:18] + zlib.compress(record[18:])


def test_records_of_glues_serializers_are_decoded_compressed_or_not(topic, job, serializer):
    old = serializer.serialize(topic.name, DataAndSchema({"id": 1}, AvroSchema(click(ID))))
    new = serializer.serialize(topic.name, DataAndSchema({"id": 2, "page": "/"}, AvroSchema(click(ID, PAGE))))
    document = JsonSchema(json.dumps({"type": "object", "properties": {"id": {"type": "integer"}}}))
    third = serializer.serialize(f"{topic.name}-json", DataAndSchema({"id": 3, "note": "x"}, document))
    topic.send(old, compressed(new), third, b"\x03\x05" + old[2:])
    job.drain(by_glue(topic))
    assert job.rows("id, page, note") == [(1, None, None), (2, "/", None), (3, None, "x")]
    assert [one["reason"] for one in job.rejects()] == ["no_schema_header"]


def test_unions_of_avro_with_the_header_of_glue_become_a_table_without_loss(topic, job, serializer):
    schema = AvroSchema(click(ID, UNION))
    for n, one in enumerate(MIXED):
        topic.send(serializer.serialize(topic.name, DataAndSchema({"id": n, "value": one}, schema)), partition=0)
    (report,) = job.drain(by_glue(topic))
    assert job.rows("id, value") == [(0, "5"), (1, "five"), (2, '{"cents":500}'), (3, None)]
    assert report.rejected == {}


def test_records_of_kinesis_are_decoded_alike(kinesis_stream, job, serializer):
    records = [
        serializer.serialize(kinesis_stream.name, DataAndSchema(document, AvroSchema(click(*fields))))
        for document, fields in (({"id": 1}, [ID]), ({"id": 2, "page": "/"}, [ID, PAGE]))
    ]
    kinesis_stream.send(*records, b"junk")
    job.drain({**kinesis_stream.options(schemaRegistry="glue"), "inferSchema": "false"}, connection_type="kinesis")
    assert job.rows() == [(1, None), (2, "/")]
    assert [one["raw"] for one in job.rejects()] == [b"junk"]


def test_a_table_that_refers_to_a_schema_is_read_by_it(topic, job, serializer, glue):
    from awsglue.options import stream_source
    from gluepot.catalog.streams import stream_read

    for document, fields in (({"id": 1}, [ID]), ({"id": 2, "page": "/"}, [ID, PAGE])):
        topic.send(serializer.serialize(topic.name, DataAndSchema(document, AvroSchema(click(*fields)))))
    name = {"RegistryName": "default-registry", "SchemaName": f"{topic.name}-value"}
    storage = {
        "Parameters": {"typeOfData": "kafka", "topicName": topic.name, "bootstrap.servers": topic.bootstrap},
        "SchemaReference": {"SchemaId": name, "SchemaVersionNumber": 1},
    }
    table = Table("shop", "clicks", {"StorageDescriptor": storage, "Parameters": {"classification": "avro"}})
    read = stream_read(table, {"startingOffsets": "earliest", "inferSchema": "false"})
    assert stream_source(read.kind, read.options).shape.declared.schema.names == ["id"]
    job.drain(dict(read.options), connection_type=read.kind)
    assert job.rows() == [(1,), (2,)]
