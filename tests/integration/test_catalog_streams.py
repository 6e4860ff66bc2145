"""Tables of Kafka and Kinesis in the catalog, read by a job with bookmarks that makes known what it writes."""

from __future__ import annotations

import json

import pytest

from awsglue import DynamicFrame
from awsglue.data_catalog import current_catalog
from awsglue.job import Job
from gluepot.bookmarks import jobrun
from gluepot.catalog.values import Database, Table
from gluepot.streaming.query import session
from gluepot.streaming.query.ledger_positions import StreamMark


@pytest.fixture
def catalog(tmp_path, monkeypatch, topic):
    monkeypatch.setenv("GLUEPOT_STATE", str(tmp_path / "state"))
    monkeypatch.delenv("GLUEPOT_CATALOG", raising=False)
    monkeypatch.delenv("GLUEPOT_LEDGER", raising=False)
    opened = current_catalog()
    opened.add_database(Database("web"))
    about = {
        "typeOfData": "kafka",
        "topicName": topic.name,
        "bootstrap.servers": topic.bootstrap,
        "startingOffsets": "earliest",
    }
    columns = [{"Name": "id", "Type": "bigint"}, {"Name": "day", "Type": "string"}]
    body = {
        "StorageDescriptor": {"Columns": columns, "Parameters": about},
        "Parameters": {"classification": "json"},
    }
    opened.add_table(Table("web", "clicks", body))
    yield opened
    jobrun.end("the test ended")
    session.install(session.StreamSession())


def run(glue_context, tmp_path, table="clicks"):
    """Read the table to its end and write it to another table."""
    job = Job(glue_context)
    job.init("copy", {"job_bookmark_option": "job-bookmark-enable"})
    session.install(session.StreamSession(drain=session.Drain(until_caught_up=True)))

    def work(data_frame, batch_id):
        sink = glue_context.getSink(
            "s3",
            path=str(tmp_path / "copy"),
            enableUpdateCatalog=True,
            partitionKeys=["day"],
            transformation_ctx="sink0",
        )
        sink.setFormat("glueparquet")
        sink.setCatalogInfo("web", "copy")
        sink.writeFrame(DynamicFrame.fromDF(data_frame, glue_context, "frame"))

    frame = glue_context.create_data_frame.from_catalog("web", table, transformation_ctx="source0")
    assert frame.schema.simpleString() == "struct<id:bigint,day:string>"
    options = {"windowSize": "1 second", "checkpointLocation": str(tmp_path / "copier")}
    glue_context.forEachBatch(frame=frame, batch_function=work, options=options)
    ledger = jobrun.current().bookmarks.ledger
    marks = [StreamMark.from_body(change.body) for change in ledger.history("copy", "copier")]
    job.commit()
    return marks


def test_a_stream_of_the_catalog_registers_its_partitions_and_is_mirrored_in_the_ledger(
    glue_context, catalog, topic, tmp_path
):
    topic.send_json({"id": 1, "day": "a"}, {"id": 2, "day": "b"}, partition=0)
    first = run(glue_context, tmp_path)
    topic.send_json({"id": 3, "day": "c"}, partition=0)
    newest, *_ = run(glue_context, tmp_path)
    (place,) = newest.places
    assert place["topics"][topic.name]["spans"]["0"] == [2, 3]
    assert (first[0].checkpoint, newest.batch_id) == (str(tmp_path / "copier"), first[0].batch_id + 1)
    table = catalog.table("web", "copy")
    assert [one.values for one in catalog.partitions(table)] == [("a",), ("b",), ("c",)]
    copied = glue_context.create_dynamic_frame.from_catalog("web", "copy").toDF().select("id").collect()
    assert sorted(row.id for row in copied) == [1, 2, 3]
    assert json.loads(json.dumps(table.to_json()))["Parameters"]["classification"] == "parquet"


def test_a_kinesis_table_is_read_with_its_columns_on_from_where_the_last_run_ended(
    glue_context, catalog, kinesis_stream, tmp_path
):
    about = {
        "typeOfData": "kinesis",
        "streamName": kinesis_stream.name,
        "endpointUrl": kinesis_stream.endpoint,
        "startingPosition": "TRIM_HORIZON",
    }
    columns = [{"Name": "id", "Type": "bigint"}, {"Name": "day", "Type": "string"}]
    storage = {"Columns": columns, "Parameters": about}
    catalog.add_table(Table("web", "events", {"StorageDescriptor": storage, "Parameters": {"classification": "json"}}))
    kinesis_stream.send_json({"id": 1, "day": "a"}, {"id": 2, "day": "b"})
    run(glue_context, tmp_path, "events")
    kinesis_stream.send_json({"id": 3, "day": "c"})
    newest, *_ = run(glue_context, tmp_path, "events")
    assert newest.places[0]["source"] == "kinesis"
    copied = glue_context.create_dynamic_frame.from_catalog("web", "copy").toDF().select("id").collect()
    assert sorted(row.id for row in copied) == [1, 2, 3]
