"""The file sinks and the commit against a real HTTP server that speaks S3."""

from __future__ import annotations

import threading
from dataclasses import replace

import duckdb
import obstore
import pyarrow as pa
import pytest

from gluepot.commit import abort, open_target, publish, recover
from gluepot.connectors.files.formats.parquet.sink import glueparquet_sink
from gluepot.connectors.files.sink import FileSink
from gluepot.connectors.values import AlreadyCommitted, CommitKey, Committed, Manifest, SourceRange
from gluepot.core.errors import ConfigError, TransientError
from gluepot.core.storage import S3Storage, open_storage
from gluepot.frames.chunk import Chunk, ErrorRecord

KEY = CommitKey("query-1", 7, "sink0")
RANGE = SourceRange("kafka", "clicks", "id-1", "0", 0, 4)


def keys(client) -> list[str]:
    return sorted(entry["Key"] for entry in client.list_objects_v2(Bucket="lake").get("Contents", []))


def clicks_sink() -> FileSink:
    return glueparquet_sink("s3a://lake/tables/clicks", KEY, {}, partition_keys=["day"], ctx="sink0")


def staged(sink: FileSink, attempt: str) -> Manifest:  # by the driver with token 1
    batch = pa.record_batch({"day": ["a/b", "a/b", None], "v": [1, 2, 3]})
    part = sink.write(iter([Chunk(batch, [ErrorRecord(b"{", "malformed_json", "cut off")])]), 0, f"1/{attempt}")
    return Manifest(KEY, [replace(part, ranges=[RANGE], rows_in=4)], token=1)


def test_published_files_are_read_by_another_reader_and_nothing_else_is(client, tmp_path):
    sink = clicks_sink()
    sink.check()
    outcome = publish(open_target(sink), staged(sink, "a/0"))
    assert isinstance(outcome, Committed)
    for key in keys(client):
        if key.endswith(".parquet"):
            file = tmp_path / key
            file.parent.mkdir(parents=True, exist_ok=True)
            client.download_file("lake", key, str(file))
    with duckdb.connect() as connection:
        found = connection.execute(
            "SELECT v, day FROM read_parquet(?, hive_partitioning = true) ORDER BY v", [f"{tmp_path}/**/*.parquet"]
        )
        assert found.fetchall() == [(1, "a/b"), (2, "a/b"), (3, None)]
    folders = {key.removeprefix("tables/clicks/").split("/")[0] for key in keys(client)}
    assert folders == {"day=a%2Fb", "day=__HIVE_DEFAULT_PARTITION__", "_rejects", "_gluepot"}
    assert [key for key in keys(client) if "_gluepot" in key and "/commits/" not in key] == []


def test_a_replay_is_recognised(client):
    sink = clicks_sink()
    publish(open_target(sink), staged(sink, "a/0"))
    before = keys(client)
    assert isinstance(publish(open_target(sink), staged(sink, "b/0")), AlreadyCommitted)
    assert keys(client) == before


def test_aborting_and_recovering_leave_nothing(client):
    sink = clicks_sink()
    staged(sink, "a/0")
    abort(open_target(sink), KEY, "1/a")
    assert keys(client) == []
    staged(sink, "b/0")
    recover(open_target(sink), KEY.query_id, 1)
    assert keys(client) == []


def test_exactly_one_of_many_creators_wins(client):
    storage = open_storage("s3://lake")
    won = []
    start = threading.Barrier(8)

    def race(name: bytes) -> None:
        start.wait()
        if storage.create("commits/1.json", name):
            won.append(name)

    threads = [threading.Thread(target=race, args=(b"%d" % number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [storage.get("commits/1.json")] == won


@pytest.mark.parametrize("key", ["k=a%2Fb/x", "k=50% off#?/x y", "город=Köln/x", "k=__HIVE_DEFAULT_PARTITION__/x"])
def test_keys_arrive_as_they_are(client, key):
    storage = open_storage("s3://lake/t")
    storage.put("first", b"text")
    storage.move([("first", key)])
    assert storage.list("") == [key]
    assert keys(client) == [f"t/{key}"]
    assert storage.get(key) == b"text"


def test_a_listing_goes_on_behind_what_it_leaves_out(client, monkeypatch):
    storage = open_storage("s3://lake/t")
    for folder in range(8):
        for name in range(3):
            storage.put(f"a/{folder}/{name}", b"")
    asked, listed = [], obstore.list
    monkeypatch.setattr(obstore, "list", lambda *given, offset: asked.append(offset) or listed(*given, offset=offset))
    found = storage.list("a", [("a/1", "a/4"), ("a/6", "a/6")])
    assert found == [f"a/{folder}/{name}" for folder in (0, 5, 7) for name in range(3)]
    assert asked == [None, "a/40", "a/60"]


def test_a_writer_sends_a_large_file_whole_and_leaves_no_upload_behind(client):
    storage = open_storage("s3://lake/t")
    content = bytes(range(256)) * 60_000
    writer = storage.writer("large")
    writer.write(content)
    assert keys(client) == []
    writer.commit()
    discarded = storage.writer("discarded")
    discarded.write(content)
    discarded.discard()
    assert storage.get("large") == content
    assert keys(client) == ["t/large"]
    assert client.list_multipart_uploads(Bucket="lake").get("Uploads", []) == []


def test_missing_files_are_file_not_found_or_fine(client):
    storage = open_storage("s3://lake/t")
    with pytest.raises(FileNotFoundError):
        storage.get("nothing")
    with pytest.raises(FileNotFoundError):
        storage.move([("nothing", "x")])
    storage.delete(["nothing"])
    storage.delete_folder("nothing")
    assert storage.list("nothing") == []


def test_a_missing_bucket_is_named(client):
    sink = glueparquet_sink("s3://no-such-bucket/t", KEY, {})
    with pytest.raises(ConfigError, match="bucket 'no-such-bucket' does not exist"):
        sink.check()


def test_a_server_that_is_away_is_worth_another_try(client, monkeypatch):
    monkeypatch.setenv("AWS_ENDPOINT_URL_S3", "http://127.0.0.1:9")
    with pytest.raises(TransientError, match=r"http://127\.0\.0\.1:9 does not answer for s3://lake/t"):
        S3Storage("lake", "t").get("x")
