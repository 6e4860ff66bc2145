"""A script as Glue Studio generates it for stores is accepted by `gluepot check`, and does what it says."""

from __future__ import annotations

import json
import subprocess
from uuid import uuid4

import boto3
import duckdb
import pymongo
import pytest
from opensearchpy import OpenSearch

from tests.e2e.jobs import GLUEPOT, SCRIPTS, Launcher, arguments
from tests.mariadb import mariadb_server, new_schema, sql

SCRIPT = SCRIPTS / "studio_stores.py"
ROWS = [{"n": n, "name": f"row {n}"} for n in range(20)]


@pytest.fixture
def shop():
    with mariadb_server() as port, new_schema(port) as url:
        yield url


@pytest.fixture
def table(kinesis):
    name, client = f"studio-{uuid4().hex[:8]}", boto3.client("dynamodb", endpoint_url=kinesis, region_name="us-east-1")
    client.create_table(
        TableName=name,
        KeySchema=[{"AttributeName": "n", "KeyType": "HASH"}],
        AttributeDefinitions=[{"AttributeName": "n", "AttributeType": "N"}],
        BillingMode="PAY_PER_REQUEST",
    )
    client.update_continuous_backups(
        TableName=name, PointInTimeRecoverySpecification={"PointInTimeRecoveryEnabled": True}
    )
    boto3.client("s3", endpoint_url=kinesis, region_name="us-east-1").create_bucket(Bucket=name)
    return name


def test_nothing_of_a_script_from_studio_is_refused():
    said = subprocess.run([*GLUEPOT, "check", SCRIPT], capture_output=True, text=True, check=True, timeout=120).stdout
    assert "0 partly, 0 not supported, 0 warning" in said


@pytest.mark.long
def test_a_script_from_studio_writes_to_stores_and_reads_from_them(
    launch: Launcher, kinesis, mongodb, opensearch, shop, table, tmp_path
):
    (tmp_path / "rows").mkdir()
    (tmp_path / "rows" / "part.json").write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    connections = {
        "documents": {"type": "mongodb", "properties": {"CONNECTION_URL": mongodb}},
        "shop": {"type": "jdbc", "properties": {"JDBC_CONNECTION_URL": shop, "USERNAME": "root"}},
        "search": {
            "type": "opensearch",
            "properties": {"SparkProperties": json.dumps({"opensearch.nodes": opensearch})},
        },
    }
    described = tmp_path / "connections.yaml"
    described.write_text(json.dumps({"connections": connections}))
    described.chmod(0o600)
    job = launch(
        *GLUEPOT, "run", SCRIPT, "--master", "local[2]", "--",
        *arguments(JOB_NAME="studio", rows=tmp_path / "rows", table=table, out=tmp_path / "out", index=table),
        env={
            "GLUEPOT_CONNECTIONS": str(described), "GLUEPOT_STATE": str(tmp_path / "state"),
            "AWS_ENDPOINT_URL": kinesis, "AWS_REGION": "us-east-1",
            "AWS_ACCESS_KEY_ID": "testing", "AWS_SECRET_ACCESS_KEY": "testing",
        },
    )  # fmt: skip
    assert job.exit_code(300) == 0, job.err

    with pymongo.MongoClient(mongodb) as client:
        found = [{"n": one["n"], "name": one["name"]} for one in client[table]["orders"].find().sort("n")]
    assert found == ROWS
    assert sql(shop, "SELECT n, name FROM orders ORDER BY n") == [(row["n"], row["name"]) for row in ROWS]
    search = OpenSearch([opensearch])
    search.indices.refresh(table)
    hits = search.search(index=table, body={"size": 100, "query": {"match_all": {}}})["hits"]["hits"]
    assert {one["_id"]: one["_source"] for one in hits} == {str(row["n"]): row for row in ROWS}
    exported = duckdb.sql(f"SELECT n, name FROM read_json('{tmp_path}/out/*') ORDER BY CAST(n AS INT)").fetchall()
    assert [(int(n), name) for n, name in exported] == [(row["n"], row["name"]) for row in ROWS]
