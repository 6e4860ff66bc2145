from __future__ import annotations

from gluepot.catalog.streams import is_stream, stream_read
from gluepot.catalog.values import Table

COLUMNS = [{"Name": "id", "Type": "bigint"}, {"Name": "a`b", "Type": "struct<x:int>"}]


def table(parameters, classification="json", columns=COLUMNS, **more):
    storage = {"Columns": columns, "Parameters": parameters}
    return Table(
        "web", "clicks", {"StorageDescriptor": storage, "Parameters": {"classification": classification, **more}}
    )


KAFKA = table({"typeOfData": "kafka", "topicName": "clicks", "connectionName": "events"})


def test_a_table_of_kafka_is_read_with_its_topic_connection_and_columns():
    read = stream_read(KAFKA, {})
    assert is_stream(KAFKA)
    assert (read.kind, read.options) == (
        "kafka",
        {
            "topicName": "clicks",
            "connectionName": "events",
            "classification": "json",
            "schema": "`id` bigint, `a``b` struct<x:int>",
        },
    )


def test_a_table_of_kinesis_is_read_with_its_stream():
    read = stream_read(table({"typeOfData": "kinesis", "streamARN": "arn:x"}, columns=[]), {})
    assert (read.kind, read.options) == ("kinesis", {"streamARN": "arn:x", "classification": "json"})


def test_options_of_the_call_go_before_the_tables():
    assert stream_read(KAFKA, {"topicName": "other"}).options["topicName"] == "other"


def test_where_the_schema_is_inferred_the_columns_do_not_count():
    assert "schema" not in stream_read(KAFKA, {"inferSchema": "true"}).options


def test_avro_has_a_schema_of_its_own():
    avro = table({"typeOfData": "kafka"}, "avro", avroSchema='{"type": "record"}')
    assert stream_read(avro, {}).options["schema"] == '{"type": "record"}'


def test_a_table_of_files_is_no_stream():
    assert not is_stream(table({"typeOfData": "file"}))
