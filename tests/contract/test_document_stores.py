"""What every store of documents promises: a repetition changes nothing, and what is refused is told by its index."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Any
from uuid import uuid4

import boto3
import pymongo
import pytest
from bson import Decimal128
from opensearchpy import OpenSearch

from gluepot.connectors.contracts import DocumentStore
from gluepot.connectors.registry import connector
from gluepot.connectors.values import Document
from gluepot.core.errors import ConfigError

# More than any store takes in one call.
DOCUMENTS = 1_200


@dataclass
class Target:
    """An empty target, and what the suite needs to know of it.

    Args:
        store: puts into it.
        nowhere: the same kind of store for a target that does not exist; None if a write makes what is missing.
        held: returns the fields of what it holds, by a client that is not the product's.
        refused: fields that it refuses.
    """

    store: DocumentStore
    nowhere: DocumentStore | None
    held: Callable[[], Sequence[Mapping[str, Any]]]
    refused: Mapping[str, Any]


def dynamodb_target(request) -> Target:
    url, table = request.getfixturevalue("kinesis"), f"contract-{uuid4().hex[:8]}"
    client = boto3.resource("dynamodb", endpoint_url=url, region_name="us-east-1")
    made = client.create_table(
        TableName=table,
        KeySchema=[{"AttributeName": "n", "KeyType": "HASH"}],
        AttributeDefinitions=[{"AttributeName": "n", "AttributeType": "N"}],
        BillingMode="PAY_PER_REQUEST",
    )

    def store(name: str) -> DocumentStore:
        options = {"dynamodb.output.tableName": name, "region": "us-east-1", "endpointUrl": url}
        return connector("dynamodb").new_document_store(options)

    def held() -> list[Mapping[str, Any]]:
        asked: dict[str, Any] = {}
        found: list[Mapping[str, Any]] = []
        while True:
            page = made.scan(ConsistentRead=True, **asked)
            found += page["Items"]
            if "LastEvaluatedKey" not in page:
                return found
            asked = {"ExclusiveStartKey": page["LastEvaluatedKey"]}

    return Target(store(table), store("nowhere"), held, {"n": "no number"})


def mongodb_target(request) -> Target:
    uri, name = request.getfixturevalue("mongodb"), f"contract-{uuid4().hex[:8]}"
    collection = pymongo.MongoClient(uri)[name]["numbers"]

    def held() -> list[Mapping[str, Any]]:
        found = collection.find()
        return [
            {key: one.to_decimal() if isinstance(one, Decimal128) else one for key, one in row.items()} for row in found
        ]

    options = {"connection.uri": uri, "database": name, "collection": "numbers"}
    return Target(connector("mongodb").new_document_store(options), None, held, {"n": 17, "huge": Decimal("1" * 40)})


def opensearch_target(request) -> Target:
    url, index = request.getfixturevalue("opensearch"), f"contract-{uuid4().hex[:8]}"
    client = OpenSearch([url])
    client.indices.create(index, body={"mappings": {"dynamic": False, "properties": {"n": {"type": "long"}}}})
    request.addfinalizer(lambda: client.indices.delete(index))

    def held() -> list[Mapping[str, Any]]:
        client.indices.refresh(index)
        found = client.search(index=index, body={"size": 10_000, "query": {"match_all": {}}})
        return [one["_source"] for one in found["hits"]["hits"]]

    options = {"opensearch.nodes": url, "opensearch.resource": index}
    return Target(connector("opensearch").new_document_store(options), None, held, {"n": "no number"})


@pytest.fixture(params=[dynamodb_target, mongodb_target, opensearch_target])
def target(request) -> Target:
    made: Target = request.param(request)
    return made


def documents(numbers: Sequence[int], **more: Any) -> list[Document]:
    return [Document(f"{n:032x}", {"n": n, "text": f"row {n}", **more}) for n in numbers]


def numbers(target: Target) -> list[int]:
    return sorted(int(one["n"]) for one in target.held())


def test_every_document_is_there_once_after_a_repetition(target):
    target.store.check()
    for _ in range(2):
        assert not target.store.put(documents(range(DOCUMENTS)))
    assert numbers(target) == list(range(DOCUMENTS))


def test_the_last_document_of_an_id_remains(target):
    assert not target.store.put([*documents([1, 2], turn="first"), *documents([1], turn="second")])
    assert not target.store.put(documents([2], turn="third"))
    assert {int(one["n"]): one["turn"] for one in target.held()} == {1: "second", 2: "third"}


def test_values_keep_their_types(target):
    given = {
        "n": 7, "flag": True, "ratio": 0.5, "price": Decimal("12.50"), "day": date(2026, 2, 28), "bytes": b"\x00\xff",
        "list": [1, None, "x"], "inner": {"deep": {"a": 1}, "none": None}, "empty": "", "euro": "€ 😀",
    }  # fmt: skip
    assert not target.store.put([Document("a" * 32, given)])
    (found,) = target.held()
    assert found["flag"] is True
    assert float(found["ratio"]) == 0.5
    assert (found["empty"], found["euro"]) == ("", "€ 😀")
    assert [one if one is None or isinstance(one, str) else int(one) for one in found["list"]] == [1, None, "x"]
    assert int(found["inner"]["deep"]["a"]) == 1
    assert "none" not in found["inner"]
    assert Decimal(str(found["price"])) == Decimal("12.5")


def test_what_is_refused_is_told_and_the_others_are_there(target):
    given = documents(range(60))
    given[17] = Document("b" * 32, {**target.refused, "text": "refused"})
    (refusal,) = target.store.put(given)
    assert refusal.index == 17
    assert refusal.reason
    assert refusal.message.endswith(".")
    assert numbers(target) == [n for n in range(60) if n != 17]


def test_a_missing_target_is_told_before_data_flows(target):
    if target.nowhere is None:
        return
    with pytest.raises(ConfigError, match="nowhere"):
        target.nowhere.check()


def test_a_store_reaches_its_tasks_and_says_where_it_is(target):
    again = pickle.loads(pickle.dumps(target.store))
    assert again == target.store
    assert all([again.place, again.guarantee, again.dataset.name])
    assert not again.put([])
