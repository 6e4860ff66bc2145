"""A table in S3, read through its manifests."""

from __future__ import annotations

from collections.abc import Iterator

import boto3
import pytest
from moto.server import ThreadedMotoServer

import gluepot.table
from gluepot.core.clock import FakeClock
from gluepot.core.errors import TransientError
from gluepot.core.storage import open_storage
from gluepot.tables.compact import CompactSettings, compact
from gluepot.tables.verify import verify
from tests.unit.tables.tables import Writer

TABLE = "s3://lake/tables/clicks"


@pytest.fixture(scope="module")
def endpoint() -> Iterator[str]:
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    yield f"http://{host}:{port}"
    server.stop()


@pytest.fixture
def client(endpoint: str, monkeypatch: pytest.MonkeyPatch):
    for name in ("AWS_PROFILE", "AWS_SESSION_TOKEN", "AWS_ENDPOINT_URL_S3", "AWS_DEFAULT_REGION"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_ENDPOINT_URL", endpoint)
    monkeypatch.setenv("AWS_REGION", "us-east-1")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "testing")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "testing")
    client = boto3.client("s3", endpoint_url=endpoint, region_name="us-east-1")
    client.create_bucket(Bucket="lake")
    yield client
    for entry in client.list_objects_v2(Bucket="lake").get("Contents", []):
        client.delete_object(Bucket="lake", Key=entry["Key"])
    client.delete_bucket(Bucket="lake")
    client.close()


@pytest.mark.parametrize("name", ["glueparquet", "json", "csv"])
def test_a_table_in_s3_reads_like_a_local_one(client, name):
    writer = Writer("s3a://lake/tables/clicks", name, {"compression": "gzip"}, partition_keys=["k"])
    writer.publish(0, [{"a": 1, "k": "a/b"}, {"a": 2, "k": None}], bad=[b"{"])
    writer.publish(1, [{"a": 3.5, "k": "a/b"}])
    client.put_object(Bucket="lake", Key="tables/clicks/k=x/stray", Body=b"stray")
    table = gluepot.table.open(TABLE)
    expected = [{"a": 1.0, "k": "a/b"}, {"a": 2.0, "k": None}, {"a": 3.5, "k": "a/b"}]
    assert table.to_arrow().to_pylist() == expected
    assert table.rejects()["raw"].to_pylist() == [b"{"]
    with table.duckdb(name="t") as db:
        assert db.sql("FROM t ORDER BY a").to_arrow_table().to_pylist() == expected
        assert db.sql("SELECT count(*) FROM t WHERE k = 'a/b'").fetchall() == [(2,)]


def test_reading_a_batch_that_was_published_anew_says_to_open_again(client):
    writer = Writer(TABLE)
    writer.publish(0, [{"a": 1}])
    table = gluepot.table.open(TABLE)
    writer.publish(0, [{"a": 1}, {"a": 2}], start=0)
    with pytest.raises(TransientError, match="open it again"):
        table.to_arrow()


def test_verify_finds_what_is_wrong_in_a_bucket(client):
    writer = Writer(TABLE, "json")
    for batch_id in range(3):
        writer.publish(batch_id, [{"a": batch_id}])
    storage = open_storage(TABLE)
    assert verify(storage, None).findings == []
    one, other, _ = (file.path for file in gluepot.table.open(TABLE).files())
    client.delete_object(Bucket="lake", Key=f"tables/clicks/{one}")
    client.put_object(Bucket="lake", Key=f"tables/clicks/{other}", Body=b'{"a":9}\n')
    client.put_object(Bucket="lake", Key="tables/clicks/stray", Body=b"")
    assert [(finding.kind, finding.where) for finding in verify(storage, None).findings] == [
        ("missing", one),
        ("checksum", other),
        ("unknown_file", "stray"),
    ]


def test_a_large_object_is_read_in_parts(client):
    content = bytes(range(256)) * 20_000
    client.put_object(Bucket="lake", Key="large", Body=content)
    with open_storage("s3://lake").reader("large") as file:
        assert file.seek(-10, 2) == len(content) - 10
        assert file.read() == content[-10:]
        file.seek(1_000_000)
        assert file.read(3_000_000) == content[1_000_000:4_000_000]
        assert file.read() == content[4_000_000:]
        assert file.read(1) == b""


def test_an_object_that_is_not_there_is_file_not_found(client):
    with pytest.raises(FileNotFoundError):
        open_storage("s3://lake").reader("nothing")


def test_a_table_in_s3_is_compacted(client):
    writer = Writer("s3://lake/tables/clicks", partition_keys=["k"])
    for batch_id in range(4):
        writer.publish(batch_id, [{"a": batch_id, "k": "x"}, {"a": -batch_id, "k": "y"}])
    rows = gluepot.table.open(TABLE).to_arrow().sort_by("a")

    done = list(compact(open_storage(TABLE), CompactSettings(), FakeClock(1.0), "a"))

    assert [(one.folder, one.files) for one in done] == [("k=x", 3), ("k=y", 3)]
    assert gluepot.table.open(TABLE).to_arrow().sort_by("a") == rows
    assert verify(open_storage(TABLE), None).findings == []
    keys = [entry["Key"] for entry in client.list_objects_v2(Bucket="lake")["Contents"]]
    assert len([key for key in keys if key.endswith(".parquet")]) == 4
    assert not [key for key in keys if "staging" in key or "intents" in key]
