"""MongoDB from scripts: collections are read by partitions and written under their ids; pymongo looks at what is there."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from decimal import Decimal
from random import Random
from uuid import uuid4

import pyarrow.parquet as pq
import pymongo
import pytest
from bson import Decimal128, Int64, ObjectId
from pyspark.errors import PythonException

from awsglue import DynamicFrame
from awsglue.data_catalog import current_catalog
from gluepot.cli.exit_codes import DONE
from gluepot.cli.main import app, outcome
from gluepot.connectors.mongodb.partitions import bounds
from gluepot.connectors.mongodb.source import _paginated
from gluepot.connectors.registry import connector
from gluepot.connectors.values import Document
from gluepot.core.errors import ConfigError, TransientError
from gluepot.frames.rows import rows
from gluepot.servers.ports import free_port

HEX = "0123456789abcdef01234567"


@pytest.fixture
def collection(mongodb):
    with pymongo.MongoClient(mongodb) as client:
        made = client[f"shop-{uuid4().hex[:8]}"]["orders"]
        yield made
        client.drop_database(made.database.name)


@pytest.fixture
def where(mongodb, collection):
    return {"connection.uri": mongodb, "database": collection.database.name, "collection": "orders"}


def write(glue_context, frame, where, **more):
    glue_context.write_dynamic_frame.from_options(
        frame=frame, connection_type="mongodb", connection_options={**where, **more}
    )


def read(glue_context, where, **more):
    return glue_context.create_dynamic_frame.from_options(
        connection_type="mongodb", connection_options={**where, **more}
    )


def frame_of(glue_context, rows, schema=None):
    return DynamicFrame.fromDF(glue_context.spark_session.createDataFrame(rows, schema), glue_context, "rows")


def test_documents_of_many_types_are_read_as_they_are(glue_context, collection, where):
    collection.insert_many(
        [
            {
                "_id": ObjectId(HEX), "n": 1, "price": Decimal128("2.50"), "at": datetime(2026, 1, 2, tzinfo=UTC),
                "inner": {"list": [1, 2]}, "mixed": 5, "ref": ObjectId(HEX),
            },
            {"_id": "text", "n": Int64(2**40), "mixed": "five"},
        ]
    )  # fmt: skip
    frame = read(glue_context, where)
    one, other = sorted((row.asDict(recursive=True) for row in frame.toDF().collect()), key=lambda row: row["n"])
    assert (one["_id"], one["price"], one["ref"]) == (HEX, Decimal("2.50"), HEX)
    assert one["inner"] == {"list": [1, 2]}
    assert (one["mixed"], other["mixed"]) == ({"long": 5, "string": None}, {"long": None, "string": "five"})
    assert (other["_id"], other["n"]) == ("text", 2**40)


def test_what_was_read_is_written_back_under_the_same_ids(glue_context, collection, where):
    given = [{"_id": ObjectId(), "n": n} for n in range(20)] + [{"_id": f"t{n}", "n": n} for n in range(20)]
    collection.insert_many([*given, {"_id": 7, "n": 100}])
    before = sorted(map(str, collection.find()))
    frame = read(glue_context, where)
    write(glue_context, frame, where)
    assert sorted(map(str, collection.find())) == before


@pytest.mark.parametrize(
    "options",
    [
        {"partitioner": "MongoPaginateByCountPartitioner", "partitionerOptions.numberOfPartitions": "4"},
        {
            "partitioner": "MongoPaginateByCountPartitioner",
            "partitionerOptions.numberOfPartitions": "3",
            "partitionerOptions.partitionKey": "group",
        },
        {"partitioner": "MongoSinglePartitioner"},
        {},
    ],
)
def test_partitions_hold_every_document_once_whatever_the_types_of_the_key(collection, where, options):
    keys = [
        *range(300),
        *(f"t{n}" for n in range(100)),
        *(n + 0.5 for n in range(100)),
        *(ObjectId() for _ in range(50)),
    ]
    collection.insert_many([{"_id": key, "n": n, **({"group": n % 70} if n % 3 else {})} for n, key in enumerate(keys)])
    made = connector("mongodb").new_batch_read({**where, **options})
    wanted = int(options.get("partitionerOptions.numberOfPartitions", 1))
    assert len(made.splits) == wanted
    found = [[row["n"] for chunk in made.source.read(split) for row in rows(chunk)] for split in made.splits]
    assert sorted(n for part in found for n in part) == list(range(len(keys)))
    assert all(found)


def test_a_key_that_is_a_list_in_some_documents_makes_one_partition(collection, where):
    collection.insert_many([{"n": n, "tags": [n, n + 50] if n % 2 else n} for n in range(100)])
    options = {
        "partitioner": "MongoPaginateByCountPartitioner",
        "partitionerOptions.numberOfPartitions": "4",
        "partitionerOptions.partitionKey": "tags",
    }
    made = connector("mongodb").new_batch_read({**where, **options})
    (split,) = made.splits
    assert sorted(row["n"] for chunk in made.source.read(split) for row in rows(chunk)) == list(range(100))


def test_an_update_keeps_the_fields_that_the_row_lacks(glue_context, collection, where):
    collection.insert_one({"_id": 1, "kept": "yes", "n": 1})
    write(glue_context, frame_of(glue_context, [(1, 2)], "_id int, n int"), where, replaceDocument="false")
    assert list(collection.find()) == [{"_id": 1, "kept": "yes", "n": 2}]
    write(glue_context, frame_of(glue_context, [(1, 3)], "_id int, n int"), where)
    assert list(collection.find()) == [{"_id": 1, "n": 3}]


def test_a_row_that_another_index_refuses_is_kept_with_the_reason_of_the_server(
    glue_context, collection, where, tmp_path
):
    collection.create_index("n", unique=True)
    collection.insert_one({"_id": "there", "n": 5})
    given = [(f"k{n}", n) for n in range(10)]
    frame = frame_of(glue_context, given, "_id string, n int")
    write(glue_context, frame, where, rejectsPath=str(tmp_path / "aside"))
    assert sorted(one["n"] for one in collection.find()) == list(range(10))
    assert collection.find_one({"n": 5})["_id"] == "there"
    (file,) = (tmp_path / "aside").rglob("*.rejects")
    (kept,) = pq.read_table(file).to_pylist()
    assert json.loads(kept["raw"]) == {"_id": "k5", "n": 5}
    assert kept["reason"] == "duplicate_key"
    assert "E11000" in kept["message"]


def test_without_a_folder_a_refused_row_ends_the_job_with_a_sentence(glue_context, collection, where):
    collection.create_index("n", unique=True)
    collection.insert_one({"_id": "there", "n": 5})
    with pytest.raises(PythonException, match=r"refuses a row: .*E11000.* rejectsPath"):
        write(glue_context, frame_of(glue_context, [("k", 5)], "_id string, n int"), where)


def test_a_field_that_the_server_does_not_allow_is_told(collection, where):
    store = connector("mongodb").new_document_store(where)
    found = store.put([Document("a", {"n": 1}), Document("b", {"$n": 2}), Document("c", {"_id": [1]})])
    assert [(one.index, one.reason) for one in found] == [(1, "refused_by_store"), (2, "bad_id")]
    assert [one["n"] for one in collection.find()] == [1]


def test_a_collection_that_is_not_there_is_told(glue_context, where):
    with pytest.raises(ConfigError, match=r"nowhere at .* is not there"):
        read(glue_context, {**where, "collection": "nowhere"})


def test_a_server_that_is_away_is_told(where, monkeypatch):
    monkeypatch.setattr("gluepot.connectors.mongodb.client.CONNECT_SECS", 1)
    away = {**where, "connection.uri": f"mongodb://127.0.0.1:{free_port(Random())}"}
    with pytest.raises(TransientError, match="does not answer"):
        connector("mongodb").new_document_store(away).check()


def test_a_write_that_nobody_acknowledges_is_refused(where):
    options = {**where, "connection.uri": f"{where['connection.uri']}/?w=0"}
    with pytest.raises(ConfigError, match="w=0"):
        connector("mongodb").new_document_store(options).check()


@pytest.fixture
def crawled(mongodb, collection, tmp_path, monkeypatch, capsys):
    """Crawls collections of the database by the command line; returns its report."""
    connections = tmp_path / "connections.yaml"
    properties = {"CONNECTION_URL": mongodb}
    connections.write_text(json.dumps({"connections": {"documents": {"type": "mongodb", "properties": properties}}}))
    connections.chmod(0o600)
    monkeypatch.setenv("GLUEPOT_CONNECTIONS", str(connections))
    monkeypatch.setenv("GLUEPOT_STATE", str(tmp_path / "state"))
    monkeypatch.delenv("GLUEPOT_CATALOG", raising=False)

    def crawl(path, *arguments):
        command = ["crawl", "--connection", "documents", "--database", "web", "--output", "json"]
        assert outcome(app, [*command, f"{collection.database.name}/{path}", *arguments]) == DONE
        return {one["table"]: one["outcome"] for one in json.loads(capsys.readouterr().out)["tables"]}

    return crawl


def test_a_crawled_collection_is_read_and_written_by_name_and_deprecated_when_it_is_gone(
    glue_context, collection, crawled
):
    late = {"_id": "late", "extra": True}  # behind a sample
    collection.insert_many([{"_id": str(n), "n": n, "inner": {"x": 0.5}} for n in range(5000)] + [late])
    collection.database["other"].insert_one({"_id": "1"})
    name = f"{collection.database.name}_orders".replace("-", "_")
    assert crawled("orders", "--sample-items") == {name: "created"}
    table = current_catalog().table("web", name)
    sampled = {"_id": "string", "n": "bigint", "inner": "struct<x:double>"}
    assert {one["Name"]: one["Type"] for one in table.storage.body["Columns"]} == sampled
    assert crawled("ord%") == {name: "updated"}
    table = current_catalog().table("web", name)
    assert {one["Name"]: one["Type"] for one in table.storage.body["Columns"]} == {**sampled, "extra": "boolean"}
    assert table.parameters["recordCount"] == "5001"

    by_name = {"database": "web", "table_name": name}
    assert glue_context.create_dynamic_frame.from_catalog(**by_name).count() == 5001
    glue_context.write_dynamic_frame.from_catalog(frame_of(glue_context, [{"_id": "new", "n": 7}]), **by_name)
    assert collection.find_one({"_id": "new"}) == {"_id": "new", "n": 7}

    collection.drop()
    assert crawled("orders") == {name: "deprecated"}


def test_a_server_without_samples_tells_bounds_though_most_documents_lack_the_field(collection):
    collection.insert_many([{"n": n, **({"group": n // 10} if n >= 400 else {})} for n in range(600)])

    found = bounds(_paginated(collection, "group", 20), 4)

    assert len(found) == 3
    assert found == sorted(found)
