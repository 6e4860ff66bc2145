"""What a job asks an S3 server for is noted in the words of the model of the commit protocol."""

from __future__ import annotations

import pytest

from gluepot.core.storage.s3 import S3Storage
from tests.crash.lanes import BUCKET, CREDENTIALS, s3_client
from tests.crash.s3_log import RequestLog, changes_of
from tests.model.changes import Change
from tests.moto_server import moto_endpoint

STAGED, INNER = "t/_gluepot/staging/q.p/w/7/a/0/0.staged", "_gluepot/staging/q.p/w/7/a/0/0.staged"


@pytest.fixture
def log(monkeypatch):
    log = RequestLog()
    with moto_endpoint(log.around) as url, s3_client(url) as client:
        for name, value in {**CREDENTIALS, "AWS_ENDPOINT_URL": url}.items():
            monkeypatch.setenv(name, value)
        client.create_bucket(Bucket=BUCKET)
        log.changes.clear()
        yield log


def test_each_kind_of_request_is_noted_in_the_order_of_the_server(log):
    storage = S3Storage(BUCKET, "t")
    writer = storage.writer(INNER)
    writer.write(b"rows")
    writer.commit()
    assert storage.create("_gluepot/x", b"1")
    assert not storage.create("_gluepot/x", b"2")
    storage.move([(INNER, "kind=größe/a.parquet")])
    with pytest.raises(FileNotFoundError):
        storage.move([(INNER, "b.parquet")])
    storage.delete(["kind=größe/a.parquet", "_gluepot/x"])
    at = f"{BUCKET}/t"
    assert log.changes == [
        Change("", "put", f"{BUCKET}/{STAGED}", b"rows"),
        Change("", "created", f"{at}/_gluepot/x", b"1"),
        Change("", "exists", f"{at}/_gluepot/x", b"2"),
        Change("", "copied", f"{at}/kind=größe/a.parquet", source=f"{BUCKET}/{STAGED}"),
        Change("", "deleted", f"{BUCKET}/{STAGED}"),
        Change("", "missed", f"{at}/b.parquet", source=f"{BUCKET}/{STAGED}"),
        Change("", "deleted", f"{at}/kind=größe/a.parquet"),
        Change("", "deleted", f"{at}/_gluepot/x"),
    ]


def test_logs_are_told_apart_by_the_folder_of_the_table(log):
    for table in ("t", "t/inner"):
        S3Storage(BUCKET, table).put("_gluepot/write-check", b"")
        S3Storage(BUCKET, table).put(INNER, b"rows")
        S3Storage(BUCKET, table).move([(INNER, "day=1/a.parquet")])
    S3Storage(BUCKET).put("elsewhere/b.parquet", b"")
    actions = [(one["action"], one.get("name")) for one in log.entries("a job")]
    assert actions == [
        ("begin", f"a job, {BUCKET}/t"),
        *[("staged", None), ("staged_copied", None), ("staged_removed", None)],
        ("begin", f"a job, {BUCKET}/t/inner"),
        *[("staged", None), ("staged_copied", None), ("staged_removed", None)],
    ]


def test_a_request_that_its_sender_did_not_finish_is_not_carried_out(log):
    seen = []
    answer = log.around(lambda environ, start: seen.append(environ) or [])
    body = type("Torn", (), {"read": lambda self, size: b"half"})()
    statuses = []
    environ = {"REQUEST_METHOD": "PUT", "CONTENT_LENGTH": "8", "wsgi.input": body, "PATH_INFO": "/b/k"}
    answer(environ, lambda status, headers: statuses.append(status))
    assert (seen, statuses, log.changes) == ([], ["400 Bad Request"], [])


def test_a_kind_of_request_that_no_job_sends_is_no_silent_gap():
    environ = {"REQUEST_METHOD": "PUT", "PATH_INFO": "/b/k", "QUERY_STRING": "partNumber=1&uploadId=7"}
    with pytest.raises(AssertionError, match="no request that a log knows"):
        changes_of(environ, b"", 200)
