"""OpenSearch from scripts: indexes are read by slices and written under ids; its own client looks at what is there."""

from __future__ import annotations

import json
from random import Random
from uuid import uuid4

import pyarrow.parquet as pq
import pytest
from opensearchpy import OpenSearch
from opensearchpy.helpers import bulk

from awsglue import DynamicFrame
from gluepot.connectors.registry import connector
from gluepot.connectors.values import Document
from gluepot.core.errors import ConfigError, PermanentError, TransientError
from gluepot.frames.rows import rows
from gluepot.servers.ports import free_port


@pytest.fixture
def client(opensearch):
    return OpenSearch([opensearch])


@pytest.fixture
def index(client):
    name = f"orders-{uuid4().hex[:8]}"
    yield name
    client.indices.delete(name, ignore_unavailable=True)


@pytest.fixture
def where(opensearch, index):
    return {"opensearch.nodes": opensearch, "opensearch.resource": index}


def held(client, index):
    client.indices.refresh(index)
    found = client.search(index=index, body={"size": 10_000, "query": {"match_all": {}}})
    return {one["_id"]: one["_source"] for one in found["hits"]["hits"]}


def fill(client, index, documents, shards=1):
    client.indices.create(index, body={"settings": {"number_of_shards": shards, "number_of_replicas": 0}})
    bulk(client, [{"_index": index, "_id": str(n), "_source": one} for n, one in enumerate(documents)], refresh=True)


def write(glue_context, rows, schema, where, **more):
    frame = DynamicFrame.fromDF(glue_context.spark_session.createDataFrame(rows, schema), glue_context, "rows")
    options = {**where, **{f"opensearch.{name}": value for name, value in more.items()}}
    glue_context.write_dynamic_frame.from_options(frame=frame, connection_type="opensearch", connection_options=options)


def test_an_index_is_read_by_slices_with_the_types_of_its_documents(glue_context, client, index, where):
    documents = [
        {"n": n, "ratio": n / 4, "inner": {"list": [n, n + 1]}, "mixed": n if n % 2 else f"t{n}"} for n in range(500)
    ]
    # The type of a field is that of its first document, so one that holds texts and numbers is not indexed.
    client.indices.put_template(index, body={
        "index_patterns": [index], "mappings": {"properties": {"mixed": {"type": "object", "enabled": False}}},
    })  # fmt: skip
    fill(client, index, documents, shards=3)
    client.indices.delete_template(index)

    read = connector("opensearch").new_batch_read({**where, "opensearch.scroll.size": "70"})
    assert len(read.splits) == 3
    found = [[row["n"] for chunk in read.source.read(split) for row in rows(chunk)] for split in read.splits]
    assert sorted(n for part in found for n in part) == list(range(500))
    assert all(found)

    frame = glue_context.create_dynamic_frame.from_options(connection_type="opensearch", connection_options=where)
    table = {row["n"]: row.asDict(recursive=True) for row in frame.toDF().collect()}
    assert (table[6]["ratio"], table[6]["inner"]["list"]) == (1.5, [6, 7])
    assert (table[6]["mixed"]["string"], table[7]["mixed"]["long"]) == ("t6", 7)


def test_more_slices_than_shards_divide_the_documents(client, index, where):
    fill(client, index, [{"n": n} for n in range(100)])
    read = connector("opensearch").new_batch_read({**where, "opensearch.max.docs.per.partition": "30"})
    assert len(read.splits) == 4
    found = [row["n"] for split in read.splits for chunk in read.source.read(split) for row in rows(chunk)]
    assert sorted(found) == list(range(100))


def test_a_query_chooses_documents_and_fields(client, index, where):
    fill(client, index, [{"n": n, "kind": "even" if n % 2 == 0 else "odd"} for n in range(20)])
    options = {
        **where, "opensearch.query": "?q=kind:even", "opensearch.read.field.include": "n", "opensearch.read.metadata": "true",
    }  # fmt: skip
    read = connector("opensearch").new_batch_read(options)
    found = [row for split in read.splits for chunk in read.source.read(split) for row in rows(chunk)]
    assert sorted(row["n"] for row in found) == list(range(0, 20, 2))
    assert all(row["_metadata"]["_id"] == str(row["n"]) and row.keys() == {"n", "_metadata"} for row in found)


def test_rows_are_put_under_their_ids_and_replace_what_was_there(glue_context, client, index, where):
    write(glue_context, [("a", 1), ("b", 2)], "k string, n int", where, **{"mapping.id": "k"})
    write(glue_context, [("b", 3), ("c", 4)], "k string, n int", where, **{"mapping.id": "k"})
    assert {key: one["n"] for key, one in held(client, index).items()} == {"a": 1, "b": 3, "c": 4}


def test_an_upsert_keeps_the_fields_that_the_row_lacks(glue_context, client, index, where):
    client.index(index, {"k": "a", "kept": "yes", "n": 1}, id="a")
    more = {"mapping.id": "k", "write.operation": "upsert"}
    write(glue_context, [("a", 2), ("b", 3)], "k string, n int", where, **more)
    assert held(client, index) == {"a": {"k": "a", "kept": "yes", "n": 2}, "b": {"k": "b", "n": 3}}


def test_an_update_of_a_document_that_is_not_there_is_refused(client, index, where):
    client.index(index, {"k": "a", "n": 1}, id="a")
    options = {**where, "opensearch.mapping.id": "k", "opensearch.write.operation": "update"}
    (refusal,) = (
        connector("opensearch")
        .new_document_store(options)
        .put([Document("x", {"k": "a", "n": 2}), Document("y", {"k": "b", "n": 3})])
    )
    assert (refusal.index, "document_missing" in refusal.message) == (1, True)
    assert held(client, index) == {"a": {"k": "a", "n": 2}}


def test_rows_that_do_not_fit_the_mapping_are_kept_with_the_reason_of_the_server(
    glue_context, client, index, where, tmp_path
):
    client.indices.create(index, body={"mappings": {"properties": {"n": {"type": "integer"}}}})
    write(
        glue_context, [("a", "1"), ("b", "two"), ("c", "3")], "k string, n string",
        {**where, "rejectsPath": str(tmp_path / "aside")}, **{"mapping.id": "k"},
    )  # fmt: skip
    assert held(client, index).keys() == {"a", "c"}
    (file,) = (tmp_path / "aside").rglob("*.rejects")
    (kept,) = pq.read_table(file).to_pylist()
    assert json.loads(kept["raw"]) == {"k": "b", "n": "two"}
    assert kept["reason"] == "refused_by_store"
    assert "mapper_parsing_exception" in kept["message"]


def test_an_index_that_is_not_there_is_told_by_a_read(where):
    with pytest.raises(ConfigError, match=r"The index nowhere at .* is not there"):
        connector("opensearch").new_batch_read({**where, "opensearch.resource": "nowhere"})


def test_a_query_that_the_server_does_not_accept_is_told(client, index, where):
    fill(client, index, [{"n": 1}])
    with pytest.raises(PermanentError, match="does not accept the query"):
        connector("opensearch").new_batch_read({**where, "opensearch.query": '{"no_such_query": {}}'})


def test_a_server_that_is_away_is_told(where):
    away = {**where, "opensearch.nodes": f"127.0.0.1:{free_port(Random())}"}
    with pytest.raises(TransientError, match="does not answer"):
        connector("opensearch").new_document_store(away).check()
