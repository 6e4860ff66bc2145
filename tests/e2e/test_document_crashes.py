"""A job that is killed while it writes to a store of documents: each row is there once, each refused record, too."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Any
from uuid import uuid4

import boto3
import duckdb
import pymongo
import pytest
from opensearchpy import OpenSearch

from tests.e2e.conftest import new_topic_at
from tests.e2e.jobs import GLUEPOT, SCRIPTS, Launcher, arguments, rest

KILLED = 128 + 9
SECS = 300.0
BATCH_RECORDS = 20
# Each start first finishes the batch in which the start before it was killed, and is then killed in the next one.
KILLS = ("documents.put", "batch.staged@2", "publish.created@2", "batch.settled@2")
RANDOM_KILLS = 20
ALIVE_SECS = (2.0, 8.0)
"""How long a job lives before a random kill; it writes its first batch after some four seconds."""


@dataclass(frozen=True)
class Store:
    """A store as a job is told of it.

    Args:
        connection_type: of the script.
        options: of the script.
        numbers: returns the field `n` of everything in the store, by a client that is not the product's.
    """

    connection_type: str
    options: dict[str, Any]
    numbers: Callable[[], list[int]]


def dynamodb_store(request) -> Store:
    url = request.getfixturevalue("kinesis")
    made = boto3.resource("dynamodb", endpoint_url=url, region_name="us-east-1").create_table(
        TableName=f"numbers-{uuid4().hex[:8]}",
        KeySchema=[{"AttributeName": "n", "KeyType": "HASH"}],
        AttributeDefinitions=[{"AttributeName": "n", "AttributeType": "N"}],
        BillingMode="PAY_PER_REQUEST",
    )

    def numbers() -> list[int]:
        pages = made.meta.client.get_paginator("scan").paginate(TableName=made.name)
        return sorted(int(one["n"]) for page in pages for one in page["Items"])

    options = {"dynamodb.output.tableName": made.name, "region": "us-east-1", "endpointUrl": url}
    return Store("dynamodb", options, numbers)


def mongodb_store(request) -> Store:
    uri, name = request.getfixturevalue("mongodb"), f"numbers-{uuid4().hex[:8]}"

    def numbers() -> list[int]:
        with pymongo.MongoClient(uri) as client:
            return sorted(one["n"] for one in client[name]["numbers"].find())

    return Store("mongodb", {"connection.uri": uri, "database": name, "collection": "numbers"}, numbers)


def opensearch_store(request) -> Store:
    url, index = request.getfixturevalue("opensearch"), f"numbers-{uuid4().hex[:8]}"
    client = OpenSearch([url])

    def numbers() -> list[int]:
        if not client.indices.exists(index):
            return []
        client.indices.refresh(index)
        found = client.search(index=index, body={"size": 10_000, "query": {"match_all": {}}})
        return sorted(one["_source"]["n"] for one in found["hits"]["hits"])

    return Store("opensearch", {"opensearch.nodes": url, "opensearch.resource": index}, numbers)


STORES = [
    mongodb_store,  # its ids are ours, so a row that gets another id would be there twice
    pytest.param(dynamodb_store, marks=pytest.mark.long),
    pytest.param(opensearch_store, marks=pytest.mark.long),
]


@pytest.fixture(params=STORES)
def store(request) -> Store:
    made: Store = request.param(request)
    return made


@pytest.fixture
def start(launch: Launcher, kafka: str, store: Store, tmp_path):
    """Starts the job over a topic whose last record is no JSON."""
    topic = new_topic_at(kafka, partitions=1)

    def run(**env: str):
        return launch(
            *GLUEPOT, "run", SCRIPTS / "put_documents.py", "--master", "local[2]", "--until-caught-up",
            "--stream-option", f"maxOffsetsPerTrigger={BATCH_RECORDS}", "--",
            *arguments(JOB_NAME="put", TempDir=tmp_path / "temp", bootstrap=topic.bootstrap, topic=topic.name),
            *arguments(connection_type=store.connection_type, connection_options=json.dumps(store.options)), env=env,
        )  # fmt: skip

    run.topic = topic
    return run


def refused(folder) -> list[bytes]:
    files = [str(path) for path in folder.rglob("*.rejects")]
    return [raw for (raw,) in duckdb.sql(f"SELECT raw FROM read_parquet({files!r})").fetchall()] if files else []


def test_a_job_killed_while_it_puts_rows_leaves_each_there_once(start, store, tmp_path):
    numbers = range(BATCH_RECORDS * (len(KILLS) + 1) - 1)
    start.topic.send([*(json.dumps({"n": n}).encode() for n in numbers), b"{ no json"])
    fired = tmp_path / "fired"

    for number, point in enumerate(KILLS):
        killed = start(GLUEPOT_FAILPOINT=point, GLUEPOT_FAILPOINT_LOG=str(fired))
        assert killed.exit_code(SECS) == KILLED, killed.err
        assert fired.read_text().splitlines()[number:] == [point.partition("@")[0]]
        found = store.numbers()
        assert len(set(found)) == len(found)
        assert set(found) <= set(numbers)
    again = start()
    assert again.exit_code(SECS) == 0, again.err

    assert store.numbers() == list(numbers)
    assert refused(tmp_path / "temp") == [b"{ no json"]


@pytest.mark.long
@pytest.mark.parametrize("seed", [1])
def test_random_kills_lose_and_double_nothing(start, store, tmp_path, seed):
    chance, kills, sent = Random(seed), 0, 0
    start.topic.send([b"{ no json"])
    while kills < RANDOM_KILLS:
        start.topic.send_numbers(range(sent, sent + 4 * BATCH_RECORDS))
        sent += 4 * BATCH_RECORDS
        running = start()
        rest(chance.uniform(*ALIVE_SECS))
        if running.runs():
            running.kill()
            kills += 1
    again = start()
    assert again.exit_code(SECS) == 0, again.err

    assert store.numbers() == list(range(sent))
    assert refused(tmp_path / "temp") == [b"{ no json"]
