"""From batch to batch a stream remembers the columns of its own records, and of nothing else that its function writes."""

from __future__ import annotations

import json

import pytest

from awsglue.data_catalog import current_catalog
from awsglue.dynamicframe import DynamicFrame
from gluepot.catalog.formats import new_storage
from gluepot.catalog.values import Database, Table
from gluepot.connectors.contracts import StreamReading
from gluepot.connectors.values import RawBatch, SourceRange
from gluepot.engine.pipeline import Pipeline, RangeInput
from gluepot.frames.magic import magic_column
from gluepot.streaming.micro_batch.context import current_batch
from tests.duck import duck

DOCUMENTS = f"to_json(struct(value)) AS `{magic_column('json')}`"
OTHERS = [{"value": "ten", "name": "a"}, {"value": "five", "name": "b"}]


def other_topic():
    """Records of another stream than the one whose batch runs."""

    class Topic:
        def read(self, wanted):
            yield RawBatch([b'{"value": "ten", "name": "a"}'], [0], wanted.stream, wanted.shard)

    return Topic()


def files(glue_context, folder, _):
    return glue_context.create_dynamic_frame.from_options("s3", {"paths": [str(folder)]}, "json")


def table(glue_context, folder, _):
    catalog = current_catalog()
    catalog.add_database(Database("web"))
    columns = [{"Name": name, "Type": "string"} for name in ("value", "name")]
    storage = {**new_storage("json", str(folder)).body, "Columns": columns}
    body = {"StorageDescriptor": storage, "PartitionKeys": [], "Parameters": {"classification": "json"}}
    catalog.add_table(Table("web", "others", body))
    return glue_context.create_dynamic_frame.from_catalog("web", "others")


def another_stream(glue_context, *_):
    given = RangeInput(StreamReading(other_topic()), (SourceRange("kafka", "orders", "", "0", 0, 1),))
    return DynamicFrame(Pipeline(given), glue_context)


def sample(glue_context, folder, _):
    stream = glue_context.spark_session.readStream.schema("value string, name string").json(str(folder))
    documents = stream.selectExpr(f"to_json(struct(*)) AS `{magic_column('json')}`")
    options = {"windowSize": "0 seconds", "recordPollingLimit": 1}
    return glue_context.getSampleStreamingDynamicFrame(documents, options)


def query(glue_context, folder, _):
    rows = files(glue_context, folder, _).toDF()
    return DynamicFrame.fromDF(rows.groupBy("value").agg({"name": "max"}), glue_context, "query")


def join(glue_context, folder, own):
    return own.join(["value"], ["value"], files(glue_context, folder, own).resolveChoice([("value", "cast:long")]))


@pytest.mark.parametrize("read", [files, table, another_stream, sample, query, join])
def test_a_stream_learns_its_columns_from_its_own_records_only(numbers, tmp_path, monkeypatch, read):
    monkeypatch.setenv("GLUEPOT_STATE", str(tmp_path / "state"))
    (tmp_path / "others").mkdir()
    (tmp_path / "others" / "a").write_text("\n".join(map(json.dumps, OTHERS)))
    glue_context, learned, columns = numbers.glue_context, [], []

    def write(frame, name):
        target = {"path": str(tmp_path / name)}
        glue_context.write_dynamic_frame.from_options(frame, "s3", target, "glueparquet", transformation_ctx=name)

    def function(data_frame, batch_id):
        own = DynamicFrame.fromDF(data_frame, glue_context, "own")
        columns.append(own.toDF().dtypes)
        write(own, "numbers")
        write(read(glue_context, tmp_path / "others", own), "copies")
        learned.append(current_batch().totals.schema.known.names)

    numbers.run(function, max_batches=2, frame=numbers.frame().selectExpr(DOCUMENTS))

    assert learned == [["value"]] * 2
    assert columns == [[("value", "bigint")]] * 2


def test_an_empty_list_stays_one_in_batches_that_do_not_know_its_type(numbers, glue_context, tmp_path):
    """Only the first batch has a list with a value; a restart forgets what the stream has learned."""
    lists = "if(value = 5, array(1), array()) AS l"
    documents = (
        numbers.frame().selectExpr("value", lists).selectExpr(f"to_json(struct(value, l)) AS `{magic_column('json')}`")
    )

    def write(data_frame, _):
        frame = DynamicFrame.fromDF(data_frame, glue_context, "frame")
        save(frame, "records")
        rows = frame.toDF()
        save(frame, "kept")
        save(DynamicFrame.fromDF(rows, glue_context, "rows"), "rows")

    def save(frame, name):
        glue_context.write_dynamic_frame.from_options(
            frame, "s3", {"path": str(tmp_path / name)}, "glueparquet", transformation_ctx=name
        )

    for batches in (2, 1):
        numbers.run(write, frame=documents, max_batches=batches)
    for name in ("records", "kept", "rows"):
        files = f"{tmp_path / name}/*.parquet"
        found = (
            duck().sql(f"SELECT value, l FROM read_parquet('{files}', union_by_name=true) ORDER BY value").fetchall()
        )
        known = 20 if name == "rows" else 30  # a DataFrame has only what its stream has learned since it was started
        assert (name, found[:known]) == (name, [(number, [1] if number == 5 else []) for number in range(known)])
