"""Crawls of a bucket on a real HTTP server that speaks S3."""

from __future__ import annotations

import gzip
import io
import threading

import pyarrow as pa
import pytest
from moto.moto_server.werkzeug_app import DomainDispatcherApplication
from pyarrow import parquet

from tests.unit.crawl.crawling import a_catalog, columns, crawl_folder, outcomes, read_table

ONLY_NEW = {
    "SchemaChangePolicy": {"UpdateBehavior": "LOG", "DeleteBehavior": "LOG"},
    "RecrawlPolicy": {"RecrawlBehavior": "CRAWL_NEW_FOLDERS_ONLY"},
}


@pytest.fixture
def requests(monkeypatch):
    """What the server is asked for, one text per request."""
    seen: list[str] = []
    lock = threading.Lock()
    answer = DomainDispatcherApplication.__call__

    def noted(self, environ, start_response):
        with lock:
            asked = environ.get("HTTP_RANGE", "")
            seen.append(f"{environ['REQUEST_METHOD']} {environ['PATH_INFO']}?{environ['QUERY_STRING']} {asked}".strip())
        return answer(self, environ, start_response)

    monkeypatch.setattr(DomainDispatcherApplication, "__call__", noted)
    return seen


@pytest.fixture
def catalog(tmp_path):
    return a_catalog(tmp_path)


def put(client, key, body):
    client.put_object(Bucket="lake", Key=key, Body=body)


def parquet_bytes(**values):
    out = io.BytesIO()
    parquet.write_table(pa.table({name: [value] for name, value in values.items()}), out)
    return out.getvalue()


def test_a_bucket_becomes_tables_whose_names_and_levels_are_those_of_glue(client, catalog):
    for day in ("1", "2", "a%2Fb ü"):
        put(client, f"clicks/day={day}/x.json", b'{"id": 1}\n')
    put(client, "clicks/_SUCCESS", b"")
    put(client, "clicks/day=3/", b"")  # what consoles make of a folder
    put(client, "orders/all.csv", b"id,total\n1,2.5\n2,3.5\n")
    crawl_folder(catalog, "s3://lake/")
    assert {one.name: columns(one) for one in catalog.tables("web")} == {
        "clicks": "id int",
        "orders": "id bigint, total double",
    }
    clicks = catalog.table("web", "clicks")
    assert clicks.storage.location == "s3://lake/clicks/"
    assert sorted(one.values for one in catalog.partitions(clicks)) == [("1",), ("2",), ("a/b ü",)]
    assert len(read_table(catalog, clicks)) == 3

    # The bucket has the level 1, so its folders have the level 2.
    grouping = {"Grouping": {"TableLevelConfiguration": 2}}
    assert set(outcomes(crawl_folder(catalog, "s3://lake/", configuration=grouping)).values()) == {"unchanged"}
    single = crawl_folder(catalog, "s3://lake/orders/all.csv")
    assert outcomes(single) == {"all_csv": "created"}


def test_of_large_files_only_heads_are_fetched(client, catalog, requests):
    put(client, "big/x.json", b'{"id": 1, "name": "Ann"}\n' * 400_000)
    crawl_folder(catalog, "s3://lake/big")
    fetched = [one for one in requests if one.startswith("GET /lake/big/x.json")]
    assert fetched
    assert all("bytes=" in one for one in fetched)
    ranges = [one.rpartition("bytes=")[2].split("-") for one in fetched]
    assert sum(int(end) - int(start) + 1 for start, end in ranges) <= 4 << 20


def test_a_recrawl_of_new_folders_lists_no_known_one(client, catalog, requests):
    for day in range(1, 6):
        put(client, f"clicks/day={day}/x.parquet", parquet_bytes(id=day))
    crawl_folder(catalog, "s3://lake/clicks", **ONLY_NEW)
    put(client, "clicks/day=6/x.parquet", parquet_bytes(id=6))
    requests.clear()
    report = crawl_folder(catalog, "s3://lake/clicks", **ONLY_NEW)
    assert len(report.tables[0].added) == 1
    assert not any(f"day={day}" in one or f"day%3D{day}" in one for one in requests for day in range(1, 6))
    listings = [one for one in requests if "list-type" in one]
    assert len(listings) <= 2


def test_a_bucket_that_is_not_there_is_told_and_the_others_are_crawled(client, catalog):
    put(client, "orders/x.csv", b"id,total\n1,2.5\n2,3.5\n")
    report = crawl_folder(catalog, "s3://nowhere/x", "s3://lake/orders")
    assert outcomes(report) == {"orders": "created"}
    assert [one.place for one in report.failed_targets] == ["s3://nowhere/x"]


def test_keys_that_are_no_paths_are_told_and_the_other_targets_are_crawled(client, catalog):
    put(client, "odd/a//b.json", b'{"id": 1}\n')
    put(client, "orders/x.csv", b"id,total\n1,2.5\n2,3.5\n")
    report = crawl_folder(catalog, "s3://lake/odd", "s3://lake/orders")
    assert outcomes(report) == {"orders": "created"}
    assert "odd/a//b.json" in report.failed_targets[0].why


def test_a_small_object_takes_one_request(client, catalog, requests):
    put(client, "clicks/x.json", b'{"id": 1}\n')
    put(client, "clicks/y.json.gz", gzip.compress(b'{"id": 2}\n'))
    requests.clear()
    crawl_folder(catalog, "s3://lake/clicks")
    asked = sorted(one.partition("?")[0] for one in requests if "/lake/clicks/" in one)
    assert asked == ["GET /lake/clicks/x.json", "GET /lake/clicks/y.json.gz"]


def test_a_new_folder_that_cannot_be_listed_is_told_and_the_others_are_found(client, catalog):
    put(client, "clicks/day=1/x.json", b'{"id": 1}\n')
    crawl_folder(catalog, "s3://lake/clicks", **ONLY_NEW)
    put(client, "clicks/day=2/hour=1/../y.json", b'{"id": 1}\n')
    put(client, "clicks/day=3/x.json", b'{"id": 1}\n')
    report = crawl_folder(catalog, "s3://lake/clicks", **ONLY_NEW)
    assert [one.values for one in catalog.partitions(catalog.table("web", "clicks"))] == [("1",), ("3",)]
    assert [one.place for one in report.left_out] == ["s3://lake/clicks/day=2/hour=1"]
