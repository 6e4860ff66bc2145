"""What a crawl reads from the metadata of Delta Lake and Iceberg, as their specifications write them down."""

from __future__ import annotations

import gzip
import json

import pyarrow as pa
import pytest
from pyarrow import parquet

from gluepot.core.errors import ConfigError, PermanentError
from gluepot.core.storage import open_source
from gluepot.crawl.lakes import lake_table

DELTA = json.dumps(
    {
        "type": "struct",
        "fields": [
            {"name": "id", "type": "long"},
            {"name": "at", "type": "timestamp_ntz"},
            {"name": "tags", "type": {"type": "array", "elementType": "string"}},
            {"name": "more", "type": {"type": "map", "keyType": "string", "valueType": "double"}},
            {"name": "who", "type": {"type": "struct", "fields": [{"name": "age", "type": "integer"}]}},
        ],
    }
)
MEANT_DELTA = [
    ("id", pa.int64()),
    ("at", pa.timestamp("us", "UTC")),
    ("tags", pa.list_(pa.string())),
    ("more", pa.map_(pa.string(), pa.float64())),
    ("who", pa.struct([pa.field("age", pa.int32())])),
]
ICEBERG = {
    "schema-id": 1,
    "fields": [
        {"name": "id", "type": "uuid"},
        {"name": "price", "type": "decimal(9, 2)"},
        {"name": "hash", "type": "fixed[16]"},
        {"name": "tags", "type": {"type": "list", "element": "string"}},
        {"name": "more", "type": {"type": "map", "key": "string", "value": "long"}},
        {"name": "who", "type": {"type": "struct", "fields": [{"name": "age", "type": "int"}]}},
    ],
}
MEANT_ICEBERG = [
    ("id", pa.string()),
    ("price", pa.decimal128(9, 2)),
    ("hash", pa.binary()),
    ("tags", pa.list_(pa.string())),
    ("more", pa.map_(pa.string(), pa.int64())),
    ("who", pa.struct([pa.field("age", pa.int32())])),
]


@pytest.fixture
def crawled(tmp_path):
    def crawl(form: str, files: dict[str, bytes]):
        for name, data in files.items():
            path = tmp_path / "lake" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        return lake_table(open_source(str(tmp_path)), "s3://bucket", "lake", form)

    return crawl


def columns(found):
    return [(one.name, one.type) for one in found.kind.schema]


def commit(schema: str) -> bytes:
    actions = [{"commitInfo": {}}, {"metaData": {"schemaString": schema}}]
    return "\n".join(map(json.dumps, actions)).encode()


def test_the_newest_commit_of_a_delta_log_that_has_a_schema_counts(crawled):
    old = json.dumps({"type": "struct", "fields": []})
    log = {f"_delta_log/{0:020}.json": commit(old), f"_delta_log/{1:020}.json": commit(DELTA)}
    assert columns(crawled("delta", log | {f"_delta_log/{2:020}.json": b'{"add": {}}'})) == MEANT_DELTA


def test_a_delta_log_whose_commits_are_gone_is_read_from_its_checkpoint(crawled):
    rows = pa.table({"metaData": [None, {"schemaString": DELTA}], "add": [{"path": "a"}, None]})
    sink = pa.BufferOutputStream()
    parquet.write_table(rows, sink)
    found = crawled("delta", {f"_delta_log/{10:020}.checkpoint.parquet": sink.getvalue().to_pybytes()})
    assert columns(found) == MEANT_DELTA


@pytest.mark.parametrize("packed", [bytes, gzip.compress], ids=["plain", "gzip"])
def test_the_newest_metadata_of_iceberg_count(crawled, packed):
    old = {"current-schema-id": 0, "schemas": [{"schema-id": 0, "fields": []}]}
    new = {"current-schema-id": 1, "schemas": [*old["schemas"], ICEBERG]}
    files = {"00009-a.metadata.json": json.dumps(old), "00010-b.metadata.json": json.dumps(new)}
    found = crawled("iceberg", {f"metadata/{name}": packed(text.encode()) for name, text in files.items()})
    assert columns(found) == MEANT_ICEBERG
    assert found.parameters["metadata_location"].endswith("/metadata/00010-b.metadata.json")


def test_metadata_of_the_first_version_of_iceberg_have_one_schema(crawled):
    found = crawled("iceberg", {"metadata/v1.metadata.json": json.dumps({"schema": ICEBERG}).encode()})
    assert columns(found) == MEANT_ICEBERG


@pytest.mark.parametrize(
    ("form", "files"),
    [
        ("delta", {f"_delta_log/{0:020}.json": b'{"add": {}}'}),
        ("delta", {f"_delta_log/{0:020}.json": commit('{"fields": [{"name": "a", "type": {"type": "odd"}}]}')}),
        ("iceberg", {"metadata/v1.metadata.json": b"{"}),
        ("iceberg", {"metadata/v1.metadata.json": b'{"schema": {"fields": [{"name": "a", "type": {"type": "odd"}}]}}'}),
    ],
    ids=["no schema", "an odd type", "no JSON", "an odd type of Iceberg"],
)
def test_metadata_that_are_not_understood_are_named(crawled, form, files):
    with pytest.raises(PermanentError, match=f"^s3://bucket/lake has metadata of {form} that are not understood"):
        crawled(form, files)


def test_other_formats_are_not_crawled(crawled):
    with pytest.raises(ConfigError, match=r"^s3://bucket/lake is a table of hudi, which cannot be crawled yet$"):
        crawled("hudi", {".hoodie/hoodie.properties": b""})
