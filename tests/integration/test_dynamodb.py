"""DynamoDB from scripts: tables are read by scans and written by batches of streams; boto3 looks at what is there."""

from __future__ import annotations

import json
from decimal import Decimal
from random import Random
from uuid import uuid4

import boto3
import pyarrow.parquet as pq
import pytest

from awsglue import DynamicFrame
from awsglue.data_catalog import current_catalog
from gluepot.cli.exit_codes import DONE
from gluepot.cli.main import app, outcome
from gluepot.connectors.registry import connector
from gluepot.core.errors import ConfigError, PermanentError
from gluepot.crawl.run import crawl
from gluepot.crawl.settings import crawl_settings
from gluepot.frames.rows import rows


@pytest.fixture
def table(kinesis):
    resource = boto3.resource("dynamodb", endpoint_url=kinesis, region_name="us-east-1")
    made = resource.create_table(
        TableName=f"orders-{uuid4().hex[:8]}",
        KeySchema=[{"AttributeName": "n", "KeyType": "HASH"}],
        AttributeDefinitions=[{"AttributeName": "n", "AttributeType": "N"}],
        BillingMode="PAY_PER_REQUEST",
    )
    yield made
    made.delete()


@pytest.fixture
def where(kinesis):
    return {"region": "us-east-1", "endpointUrl": kinesis}


def held(table):
    asked, found = {}, []
    while True:
        page = table.scan(**asked)
        found += page["Items"]
        if "LastEvaluatedKey" not in page:
            return sorted(found, key=lambda one: one["n"])
        asked = {"ExclusiveStartKey": page["LastEvaluatedKey"]}


def write(glue_context, frame, table, where, **more):
    glue_context.write_dynamic_frame.from_options(
        frame=frame,
        connection_type="dynamodb",
        connection_options={"dynamodb.output.tableName": table.name, **where, **more},
    )


def frame_of(glue_context, rows):
    return DynamicFrame.fromDF(glue_context.spark_session.createDataFrame(rows), glue_context, "rows")


def test_a_table_is_read_by_segments_with_the_types_of_its_items(glue_context, table, where):
    with table.batch_writer() as batch:
        for n in range(500):
            more = {"odd": True} if n % 2 else {"price": Decimal("2.5")}
            batch.put_item({"n": n, "text": "x" * 1000, "inner": {"list": [1, "a"]}, **more})

    frame = glue_context.create_dynamic_frame.from_options(
        connection_type="dynamodb",
        connection_options={"dynamodb.input.tableName": table.name, "dynamodb.splits": "3", **where},
    )

    found = {row["n"]: row.asDict(recursive=True) for row in frame.toDF().collect()}
    assert sorted(found) == list(range(500))
    assert (found[1]["odd"], found[1]["price"], found[2]["price"]) == (True, None, 2.5)
    assert frame.toDF().schema["n"].dataType.typeName() == "long"


def test_a_batch_job_writes_and_replaces_items(glue_context, table, where):
    write(glue_context, frame_of(glue_context, [{"n": n, "text": f"row {n}"} for n in range(100)]), table, where)
    write(glue_context, frame_of(glue_context, [{"n": 7, "text": "again"}]), table, where)

    found = held(table)
    assert [int(one["n"]) for one in found] == list(range(100))
    assert found[7]["text"] == "again"


def test_without_a_folder_for_it_a_refused_row_ends_the_job_with_a_sentence(glue_context, table, where):
    with pytest.raises(Exception, match="rejectsPath") as failed:
        write(glue_context, frame_of(glue_context, [{"n": "one"}]), table, where)
    assert "its n is not a number, as the table's key wants it" in str(failed.value)


def test_with_a_folder_for_it_a_refused_row_is_kept_there(glue_context, table, where, tmp_path):
    given = [{"n": 1, "ratio": 0.5}, {"n": 2, "ratio": float("nan")}]
    write(glue_context, frame_of(glue_context, given), table, where, rejectsPath=str(tmp_path))

    assert [int(one["n"]) for one in held(table)] == [1]
    (file,) = tmp_path.rglob("*.rejects")
    (kept,) = pq.read_table(file).to_pylist()
    assert kept["reason"] == "bad_value"
    assert kept["message"].endswith("cannot hold it: ratio is nan, which no number of DynamoDB can be.")


def test_a_missing_table_is_told_before_anything_is_read_or_written(glue_context, table, where):
    with pytest.raises(ConfigError, match="DynamoDB table nowhere is not there"):
        glue_context.create_dynamic_frame.from_options("dynamodb", {"dynamodb.input.tableName": "nowhere", **where})
    with pytest.raises(ConfigError, match="DynamoDB table nowhere is not there"):
        glue_context.write_dynamic_frame.from_options(
            frame_of(glue_context, [{"n": 1}]), "dynamodb", {"dynamodb.output.tableName": "nowhere", **where}
        )


def test_a_batch_that_is_tried_again_leaves_each_row_once_and_each_refused_record_once(job, topic, table, where):
    topic.send_json(*({"n": n} for n in range(200)), {"text": "no key"}, {"n": 200})
    topic.send(b"{ no json")
    failed = []

    def put(data_frame, batch_id):
        frame = DynamicFrame.fromDF(data_frame, job.glue_context, "frame")
        write(job.glue_context, frame, table, where)
        if not failed:
            failed.append(batch_id)
            raise RuntimeError("once")

    seen = job.drain(topic.options(), put, batchMaxRetries=1)

    assert sum(stats.rows_out for stats in seen) == 201
    assert [int(one["n"]) for one in held(table)] == list(range(201))
    kept = [row for file in job.checkpoint.rglob("*.rejects") for row in pq.read_table(file).to_pylist()]
    assert sorted((one["reason"], one["raw"]) for one in kept) == [
        ("bad_key", json.dumps({"text": "no key"}).encode()),
        ("malformed_json", b"{ no json"),
    ]
    assert {one["stream"] for one in kept} == {topic.name}


@pytest.fixture
def bucket(kinesis, monkeypatch):
    monkeypatch.setenv("AWS_ENDPOINT_URL_S3", kinesis)
    monkeypatch.setenv("AWS_REGION", "us-east-1")
    name = f"exports-{uuid4().hex[:8]}"
    boto3.client("s3", endpoint_url=kinesis, region_name="us-east-1").create_bucket(Bucket=name)
    return name


def backed_up(table, kinesis):
    boto3.client("dynamodb", endpoint_url=kinesis, region_name="us-east-1").update_continuous_backups(
        TableName=table.name, PointInTimeRecoverySpecification={"PointInTimeRecoveryEnabled": True}
    )


def items(read):
    return [row for split in read.splits for chunk in read.source.read(split) for row in rows(chunk)]


@pytest.mark.parametrize(
    ("shape", "first"),
    [
        ({}, {"Item": {"inner": {"M": {"a": {"N": "0"}}}, "n": {"N": "0"}, "text": {"S": "row 0"}}}),
        ({"dynamodb.simplifyDDBJson": True}, {"inner": {"a": "0"}, "n": "0", "text": "row 0"}),
        ({"dynamodb.unnestDDBJson": True}, {"inner.a": "0", "n": "0", "text": "row 0"}),
    ],
)
def test_a_table_is_read_through_an_export(kinesis, table, where, bucket, shape, first):
    backed_up(table, kinesis)
    for n in range(20):
        table.put_item(Item={"n": n, "text": f"row {n}", "inner": {"a": n}})
    options = {
        "dynamodb.export": "ddb",
        "dynamodb.tableArn": table.table_arn,
        "dynamodb.s3.bucket": bucket,
        "dynamodb.s3.prefix": "exports",
    }

    found = items(connector("dynamodb").new_batch_read({**options, **shape, **where}))
    again = {"dynamodb.export": "s3", "dynamodb.s3.bucket": bucket, "dynamodb.s3.prefix": "exports"}

    assert len(found) == len(items(connector("dynamodb").new_batch_read(again))) == 20
    assert first in found


def test_an_export_that_fails_is_told(kinesis, table, where):
    backed_up(table, kinesis)
    with pytest.raises(PermanentError, match=r"failed \(S3NoSuchBucket: The specified bucket does not exist\)"):
        connector("dynamodb").new_batch_read(
            {
                "dynamodb.export": "ddb",
                "dynamodb.tableArn": table.table_arn,
                "dynamodb.s3.bucket": "nowhere",
                **where,
            }
        )


@pytest.fixture
def catalog(kinesis, tmp_path, monkeypatch):
    for name, value in {
        "GLUEPOT_STATE": str(tmp_path / "state"), "AWS_ENDPOINT_URL_DYNAMODB": kinesis, "AWS_REGION": "us-east-1",
    }.items():  # fmt: skip
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("GLUEPOT_CATALOG", raising=False)
    return current_catalog()


def crawled(catalog, table, **target):
    targets = {"DynamoDBTargets": [{"Path": table.name, **target}]}
    settings = crawl_settings({"Name": "items", "DatabaseName": "shop", "Targets": targets})
    return crawl(settings, catalog, Random(1), make_database=True)


def test_a_crawled_table_is_read_and_written_by_name_and_deprecated_when_it_is_gone(glue_context, catalog, kinesis):
    made = boto3.resource("dynamodb", endpoint_url=kinesis, region_name="us-east-1").create_table(
        TableName=f"Crawled-{uuid4().hex[:8]}",
        KeySchema=[{"AttributeName": "n", "KeyType": "HASH"}],
        AttributeDefinitions=[{"AttributeName": "n", "AttributeType": "N"}],
        BillingMode="PAY_PER_REQUEST",
    )
    for n in range(3):
        made.put_item(Item={"n": n, "text": "a", "inner": {"x": Decimal("0.5")}})

    (action,) = crawled(catalog, made).tables
    assert (action.outcome, action.table) == ("created", made.name.lower().replace("-", "_"))
    table = catalog.table("shop", action.table)
    assert {one["Name"]: one["Type"] for one in table.storage.body["Columns"]} == {
        "n": "bigint", "text": "string", "inner": "struct<x:double>",
    }  # fmt: skip
    by_name = {"database": "shop", "table_name": action.table}
    # A catalog entry has no endpoint, and Spark's processes have the environment from before this test.
    where = {"endpointUrl": kinesis, "region": "us-east-1"}
    assert glue_context.create_dynamic_frame.from_catalog(**by_name, additional_options=where).count() == 3
    glue_context.write_dynamic_frame.from_catalog(
        frame_of(glue_context, [{"n": 7}]), **by_name, additional_options=where
    )
    assert [int(one["n"]) for one in held(made)] == [0, 1, 2, 7]

    assert [one.outcome for one in crawled(catalog, made, scanAll=False).tables] == ["unchanged"]
    made.delete()
    assert [one.outcome for one in crawled(catalog, made).tables] == ["deprecated"]


def test_the_command_line_crawls_a_table_by_its_name(catalog, table, capsys):
    for n in range(2):
        table.put_item(Item={"n": n, "text": "a"})
    assert outcome(app, ["crawl", f"dynamodb://{table.name}", "--database", "shop", "--sample-items"]) == DONE
    capsys.readouterr()
    (found,) = catalog.tables("shop")
    assert {one["Name"]: one["Type"] for one in found.storage.body["Columns"]} == {"n": "bigint", "text": "string"}


def test_an_item_that_no_row_can_be_is_set_aside(table, where):
    table.put_item(Item={"n": 1, "vast": Decimal("1." + "1" * 37 + "E+100")})  # no decimal of a column has 101 digits
    table.put_item(Item={"n": 2, "text": "fits"})
    read = connector("dynamodb").new_batch_read({"dynamodb.input.tableName": table.name, **where})
    chunks = [chunk for split in read.splits for chunk in read.source.read(split)]
    assert [row["n"] for chunk in chunks for row in rows(chunk)] == [2]
    (error,) = [one for chunk in chunks for one in chunk.errors]
    assert error.reason == "unfit_document"
