"""Publishing to an S3 that answers badly: the table is exact afterwards, and no upload is left pending."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import count

import duckdb
import pyarrow as pa
import pytest
from obstore.store import S3Store

from gluepot.commit import abort, open_target, publish, recover
from gluepot.connectors.files.formats.parquet.sink import glueparquet_sink
from gluepot.connectors.files.sink import FileSink
from gluepot.connectors.values import AlreadyCommitted, CommitKey, Committed, Manifest, SourceRange
from gluepot.core.errors import TransientError
from gluepot.core.storage import s3
from gluepot.frames.chunk import Chunk, ErrorRecord
from tests.crash.lanes import BUCKET, CREDENTIALS, S3Folder, s3_client
from tests.crash.proxy import FAULTS, Fault, S3Proxy, s3_proxy
from tests.moto_server import moto_endpoint

KEY = CommitKey("query-1", 7, "sink0")
OPERATIONS = ("put", "create", "begin", "part", "complete", "copy", "list", "delete", "get")
PART_BYTES = 5 << 20  # the smallest that S3 takes
# Large enough for an upload in parts.
BLOB_BYTES = 6 << 20
ROWS = 4
# Obstore waits 30 s for an answer; a test of waiting waits less, but longer than a busy machine needs to answer.
CLIENT_TIMEOUT = "3s"
HOLD_SECS = 4.0
MOST_TRIES = 4


@pytest.fixture(scope="module")
def server() -> Iterator[tuple[S3Proxy, object]]:
    with moto_endpoint() as endpoint, s3_client(endpoint) as client, s3_proxy(endpoint, hold_secs=HOLD_SECS) as proxy:
        client.create_bucket(Bucket=BUCKET)
        yield proxy, client


@pytest.fixture(scope="module")
def blobs() -> list[bytes]:
    chance = random.Random(1)
    return [chance.randbytes(BLOB_BYTES // ROWS) for _ in range(ROWS)]


_tables = count()


@pytest.fixture
def table(server, tmp_path, monkeypatch) -> Iterator[S3Folder]:
    """An empty table that is written through the proxy and read without it."""
    monkeypatch.setattr(s3, "PART_BYTES", PART_BYTES)
    proxy, client = server
    proxy.spoil(None)
    for name, value in {**CREDENTIALS, "AWS_ENDPOINT_URL": proxy.url}.items():
        monkeypatch.setenv(name, value)
    yield S3Folder(client, f"t{next(_tables)}", tmp_path)
    for upload in pending_uploads(client):
        client.abort_multipart_upload(Bucket=BUCKET, Key=upload["Key"], UploadId=upload["UploadId"])


def pending_uploads(client) -> list[dict[str, str]]:
    return client.list_multipart_uploads(Bucket=BUCKET).get("Uploads", [])


@pytest.fixture
def s3_client_of(monkeypatch) -> Iterator[Callable[[bool, str], None]]:
    """Choose how patient the product's S3 client is: whether it tries again by itself, and how long it waits."""

    def choose(retries: bool, kind: str) -> None:
        options: dict[str, object] = {} if retries else {"retry_config": {"max_retries": 0}}
        if kind == "time-out":
            options["client_options"] = {"allow_http": True, "timeout": CLIENT_TIMEOUT}
        monkeypatch.setattr(s3, "S3Store", lambda *args, **kwargs: S3Store(*args, **{**kwargs, **options}))
        s3._connected.cache_clear()

    yield choose
    s3._connected.cache_clear()


def write(table: S3Folder, blobs: list[bytes], batch: int) -> Committed | AlreadyCommitted:
    """Write a batch as a query does: a try that fails for a passing reason is followed by another one."""
    key = replace(KEY, batch_id=batch)
    sink = glueparquet_sink(table.url, key, {"compression": "none"}, ctx="sink0")
    for number in range(MOST_TRIES):
        attempt = f"{batch}-{number}"
        try:
            if number == 0:
                recover(open_target(sink), key.query_id, token=0)
            return attempted(sink, key, blobs, attempt)
        except TransientError:
            if number == MOST_TRIES - 1:
                raise
    raise AssertionError("not reached")


def attempted(sink: FileSink, key: CommitKey, blobs: list[bytes], attempt: str) -> Committed | AlreadyCommitted:
    target = open_target(sink)
    rows = pa.record_batch({"id": pa.array(range(ROWS)), "blob": pa.array(blobs, pa.binary())})
    try:
        part = sink.write(iter([Chunk(rows, [ErrorRecord(b"{", "malformed_json", "cut off")])]), 0, f"{attempt}/0")
        held = SourceRange("kafka", "clicks", "id-1", "0", key.batch_id * 5, key.batch_id * 5 + 5)
        return publish(target, Manifest(key, [replace(part, ranges=[held], rows_in=5)]))
    except BaseException:
        abort(target, key, attempt)
        raise


def rows(table: S3Folder) -> list[tuple[int, str]]:
    """Id and digest of every row in the folder, as DuckDB reads them."""
    files = [str(table.fetch(key)) for key in table.keys("") if key.endswith(".parquet")]
    with duckdb.connect() as db:
        found = db.execute("SELECT id, sha256(blob) FROM read_parquet(?) ORDER BY ALL", [files])
        return found.fetchall()


def expected(blobs: list[bytes], batches: int) -> list[tuple[int, str]]:
    return sorted((number, hashlib.sha256(blob).hexdigest()) for number, blob in enumerate(blobs)) * batches


def publish_two_batches(server, table: S3Folder, blobs: list[bytes], fault: Fault) -> None:
    """The first batch meets the fault, the second one does not; both are in the table once."""
    proxy, _ = server
    proxy.spoil(fault)
    write(table, blobs, 0)
    assert proxy.spoilt == 1
    proxy.spoil(None)
    write(table, blobs, 1)
    assert rows(table) == sorted(expected(blobs, 2))
    assert [key for key in table.keys("_gluepot") if "/commits/" not in key] == []


# All that goes wrong with a client that gives up at once, so that our own tries are what is tested; with its retries what
# they can make worse. Not here: the lost reply to the beginning of an upload, see below.
#
# A request that is refused, reset or kept waiting never reaches the server, so what is left to do is the same after each;
# only the client's error is another one. `make test` has every operation refused (500) and reset, and the errors that
# differ from these once for each way in which the client sends: a condition, an upload in parts, a copy, a read.
# `make test-long` has all of them.
ERRORS_ONLY = {"429": set(), "503": {"create"}, "time-out": {"create", "complete", "copy", "get"}}
SPOILT = [
    pytest.param(
        retries, kind, operation, marks=[] if operation in ERRORS_ONLY.get(kind, OPERATIONS) else [pytest.mark.long]
    )
    for retries, kinds in ((False, FAULTS), (True, ("500", "lost reply")))
    for operation in OPERATIONS
    for kind in kinds
    if (kind, operation) != ("lost reply", "begin")
]


@pytest.mark.parametrize(("retries", "kind", "operation"), SPOILT)
def test_a_batch_is_published_once_and_no_upload_stays_pending(
    server, table, blobs, s3_client_of, retries, kind, operation
):
    s3_client_of(retries, kind)
    publish_two_batches(server, table, blobs, Fault(kind, operation))
    assert pending_uploads(server[1]) == []


@pytest.mark.parametrize("retries", [False, True])
def test_an_upload_whose_id_never_arrived_stays_pending_and_harms_nothing(server, table, blobs, s3_client_of, retries):
    s3_client_of(retries, "lost reply")
    publish_two_batches(server, table, blobs, Fault("lost reply", "begin"))
    assert len(pending_uploads(server[1])) == 1
