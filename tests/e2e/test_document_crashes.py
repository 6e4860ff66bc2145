"""A job that is killed while it writes to a store of documents: each row is there once, each refused record, too.

A target of notifications may get a row twice, but only under the id that it had before; a FIFO queue gets it once.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
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
from tests.notifications import TARGETS, Aws, fifo_sqs

KILLED = 128 + 9
SECS = 300.0
BATCH_RECORDS = 20
# Each start first finishes the batch in which the start before it was killed, and is then killed in the next one. A
# batch is two calls of most services, so that a kill after the first call leaves half of a batch.
FEW_KILLS = ("documents.sent", "documents.put@2", "publish.created@2")
"""Between two calls, after all of them, and when the batch is committed. `make test-long` also kills at the other points:
at `batch.staged` the store holds what it holds at `documents.put`, and at `batch.settled` nothing is left to do."""
KILLS = ("documents.sent", "documents.put@2", "batch.staged@2", "publish.created@2", "batch.settled@2")
RANDOM_KILLS = 20
ALIVE_SECS = (2.0, 8.0)
"""How long a job lives before a random kill; it writes its first batch after some four seconds."""


@dataclass(frozen=True)
class Store:
    """A store as a job is told of it.

    Args:
        connection_type: of the script.
        options: of the script.
        arrived: returns id and field `n` of everything that has come to the store, by a client that is not the
            product's.
        repeats: whether a row may come several times under one id.
    """

    connection_type: str
    options: dict[str, Any]
    arrived: Callable[[], list[tuple[object, int]]]
    repeats: bool = False

    def wrong(self, numbers: Collection[int]) -> dict[str, list[int]]:
        """Return what was lost, invented and doubled if the store should hold these numbers."""
        found = self.arrived()
        found = list(set(found)) if self.repeats else found
        seen = Counter(n for _, n in found)
        lost, invented = set(numbers) - set(seen), set(seen) - set(numbers)
        doubled = [n for n, times in seen.items() if times > 1]
        return {"lost": sorted(lost), "invented": sorted(invented), "doubled": sorted(doubled)}


NOTHING: dict[str, list[int]] = {"lost": [], "invented": [], "doubled": []}


def dynamodb_store(request) -> Store:
    url = request.getfixturevalue("kinesis")
    made = boto3.resource("dynamodb", endpoint_url=url, region_name="us-east-1").create_table(
        TableName=f"numbers-{uuid4().hex[:8]}",
        KeySchema=[{"AttributeName": "n", "KeyType": "HASH"}],
        AttributeDefinitions=[{"AttributeName": "n", "AttributeType": "N"}],
        BillingMode="PAY_PER_REQUEST",
    )

    def arrived() -> list[tuple[object, int]]:
        pages = made.meta.client.get_paginator("scan").paginate(TableName=made.name)
        return [(one["n"], int(one["n"])) for page in pages for one in page["Items"]]

    options = {"dynamodb.output.tableName": made.name, "region": "us-east-1", "endpointUrl": url}
    return Store("dynamodb", options, arrived)


def mongodb_store(request) -> Store:
    uri, name = request.getfixturevalue("mongodb"), f"numbers-{uuid4().hex[:8]}"

    def arrived() -> list[tuple[object, int]]:
        with pymongo.MongoClient(uri) as client:
            return [(one["_id"], one["n"]) for one in client[name]["numbers"].find()]

    return Store("mongodb", {"connection.uri": uri, "database": name, "collection": "numbers"}, arrived)


def opensearch_store(request) -> Store:
    url, index = request.getfixturevalue("opensearch"), f"numbers-{uuid4().hex[:8]}"
    client = OpenSearch([url])

    def arrived() -> list[tuple[object, int]]:
        if not client.indices.exists(index):
            return []
        client.indices.refresh(index)
        found = client.search(index=index, body={"size": 10_000, "query": {"match_all": {}}})
        return [(one["_id"], one["_source"]["n"]) for one in found["hits"]["hits"]]

    return Store("opensearch", {"opensearch.nodes": url, "opensearch.resource": index}, arrived)


def of_target(make) -> Callable[[Any], Store]:
    """Return what makes a store of a target of notifications, whose messages are gone once they were received."""

    def made(request) -> Store:
        target = request.getfixturevalue("targets").enter_context(make(Aws(request.getfixturevalue("kinesis"))))
        return Store(
            target.kind, target.options, lambda: [(one, row["n"]) for one, row in target.received()], target.repeats
        )

    return made


@pytest.fixture
def targets() -> Iterator[ExitStack]:
    with ExitStack() as open_targets:
        yield open_targets


STORES = [
    pytest.param(mongodb_store, id="mongodb"),  # its ids are ours, so a row that gets another id would be there twice
    pytest.param(dynamodb_store, id="dynamodb", marks=pytest.mark.long),
    pytest.param(opensearch_store, id="opensearch", marks=pytest.mark.long),
    *(pytest.param(of_target(make), id=make.__name__, marks=pytest.mark.long) for make in TARGETS),
]


@pytest.fixture(params=STORES)
def store(request) -> Store:
    made: Store = request.param(request)
    return made


EACH_WITH_KILLS = [
    pytest.param(mongodb_store, FEW_KILLS, id="mongodb"),
    pytest.param(mongodb_store, KILLS, id="mongodb-all", marks=pytest.mark.long),
    *(pytest.param(*one.values, KILLS, id=one.id, marks=one.marks) for one in STORES[1:]),
]


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


def finish_although_killed(start, kills: Sequence[str], fired: Path) -> range:
    """Kill a job once in each batch, let it finish, and return the numbers that it was to write."""
    numbers = range(BATCH_RECORDS * (len(kills) + 1) - 1)
    start.topic.send([*(json.dumps({"n": n}).encode() for n in numbers), b"{ no json"])
    for number, point in enumerate(kills):
        killed = start(GLUEPOT_FAILPOINT=point, GLUEPOT_FAILPOINT_LOG=str(fired))
        assert killed.exit_code(SECS) == KILLED, killed.err
        assert fired.read_text().splitlines()[number:] == [point.partition("@")[0]]
    again = start()
    assert again.exit_code(SECS) == 0, again.err
    return numbers


@pytest.mark.parametrize(("store", "kills"), EACH_WITH_KILLS, indirect=["store"])
def test_a_job_killed_while_it_puts_rows_leaves_each_there_once(start, store, kills, tmp_path):
    numbers = finish_although_killed(start, kills, tmp_path / "fired")
    assert store.wrong(numbers) == NOTHING
    assert refused(tmp_path / "temp") == [b"{ no json"]


@pytest.mark.parametrize("store", [of_target(fifo_sqs)], ids=["fifo_sqs"], indirect=True)
def test_a_fifo_queue_gets_no_message_twice_from_a_job_killed_between_two_calls(start, store, tmp_path):
    numbers = finish_although_killed(start, KILLS[:1], tmp_path / "fired")
    assert store.wrong(numbers) == NOTHING


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

    assert store.wrong(range(sent)) == NOTHING
    assert refused(tmp_path / "temp") == [b"{ no json"]
