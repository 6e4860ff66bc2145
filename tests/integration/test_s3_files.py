"""Reading files from a real HTTP server that speaks S3."""

from __future__ import annotations

import gzip
import io
import threading

import pyarrow as pa
import pytest
from moto.moto_server.werkzeug_app import DomainDispatcherApplication
from pyarrow import parquet

from gluepot.connectors.files.source.listing import ListingOptions, ListingStats, Root, list_files
from gluepot.connectors.files.source.predicate import parse_predicate
from gluepot.core.errors import ConfigError
from gluepot.core.storage import VersionGone, open_source
from gluepot.core.storage.source import SMALL_BYTES
from tests.unit.files.reading import records

HOSTILE = ["day=a%2Fb/x y", "day=ü/q?#[1].json", "day=1/'\"+&"]


@pytest.fixture
def requests(monkeypatch):
    """What the server is asked for, one text per request."""
    seen: list[str] = []
    lock = threading.Lock()
    answer = DomainDispatcherApplication.__call__

    def noted(self, environ, start_response):
        with lock:
            seen.append(f"{environ['REQUEST_METHOD']} {environ['PATH_INFO']}?{environ['QUERY_STRING']}")
        return answer(self, environ, start_response)

    monkeypatch.setattr(DomainDispatcherApplication, "__call__", noted)
    return seen


def put(client, *keys: str, body: bytes = b'{"id": 1}\n') -> None:
    for key in keys:
        client.put_object(Bucket="lake", Key=key, Body=body)


def found(**options) -> list[str]:
    listing = list_files(ListingOptions(["s3://lake/in"], **options), ListingStats())
    return sorted(file.url.removeprefix("s3://lake/in/") for file in listing)


def test_partitions_and_with_recurse_all_folders_are_listed(client):
    put(client, "in/a", "in/day=1/b", "in/other/c", "in/_hidden/d", "input/e")
    assert found() == ["a", "day=1/b"]
    assert found(recurse=True) == ["a", "day=1/b", "other/c"]


def test_hostile_keys_come_back_as_they_are(client):
    put(client, *(f"in/{key}" for key in HOSTILE))
    assert found() == sorted(HOSTILE)
    assert len(records("s3://lake/in", "json")) == len(HOSTILE)


def test_a_path_may_be_a_file(client):
    put(client, "in/day=1/a", "in/day=1/ab")
    (file,) = list_files(ListingOptions(["s3://lake/in/day=1/a"]), ListingStats())
    assert file.url == "s3://lake/in/day=1/a"


def test_wildcards_take_a_request_for_each_folder_that_they_look_into(client, requests):
    put(
        client,
        *(f"in/2024-0{month}/{name}" for month in (1, 2) for name in ("a.json", "b.json", "c.csv")),
        "in/x/a.json",
    )
    requests.clear()
    listing = list_files(ListingOptions(["s3://lake/in/2024-*/*.json"]), ListingStats())
    assert sorted(file.url.removeprefix("s3://lake/in/") for file in listing) == [
        "2024-01/a.json", "2024-01/b.json", "2024-02/a.json", "2024-02/b.json",
    ]  # fmt: skip
    # One asks whether there is a folder of this very name, and one lists the folders that the wildcard may mean.
    assert len(requests) == 4


def test_a_whole_tree_takes_a_request_per_thousand_keys(client, requests):
    put(client, *(f"in/day={n}/f" for n in range(30)))
    requests.clear()
    assert len(found(recurse=True)) == 30
    assert len([one for one in requests if "list-type=2" in one]) == 1


def test_only_folders_that_can_match_are_asked_for(client, requests):
    put(client, *(f"in/year={year}/month={month}/f" for year in (2022, 2023, 2024) for month in (1, 2, 3)))
    requests.clear()
    assert found(predicate=parse_predicate("year = 2024 and month > 1")) == [
        "year=2024/month=2/f",
        "year=2024/month=3/f",
    ]
    listed = [one for one in requests if "list-type=2" in one]
    assert not [one for one in listed if "2022" in one or "2023" in one or "month%3D1" in one]
    assert len(listed) == 4


@pytest.mark.parametrize("size_bytes", [10, SMALL_BYTES + 10])
def test_a_file_of_any_size_can_be_read_back_and_forth(client, size_bytes):
    body = bytes(range(256)) * (size_bytes // 256) + bytes(size_bytes % 256)
    put(client, "in/a", body=body)
    source = open_source("s3://lake/in")
    with source.open(source.entry("a")) as file:
        file.seek(-5, io.SEEK_END)
        assert file.read() == body[-5:]
        file.seek(0)
        assert file.read() == body


@pytest.mark.parametrize("size_bytes", [10, SMALL_BYTES + 10])
def test_a_file_that_was_overwritten_or_deleted_after_it_was_listed_is_gone(client, size_bytes):
    put(client, "in/a", body=bytes(size_bytes))
    source = open_source("s3://lake/in")
    (listed,) = source.tree("")
    put(client, "in/a", body=b"x" * size_bytes)
    with pytest.raises(VersionGone):
        source.open(listed)
    client.delete_object(Bucket="lake", Key="in/a")
    with pytest.raises(VersionGone):
        source.open(listed)


def test_a_file_listed_and_asked_for_is_the_same_version(client):
    put(client, "in/a")
    source = open_source("s3://lake/in")
    (listed,) = source.tree("")
    assert source.entry("a").etag == listed.etag
    assert source.level("").files == [listed]


def test_compressed_text_and_parquet_are_read(client):
    put(client, "in/a.gz", body=gzip.compress(b'{"id": 1}\n'))
    assert records("s3://lake/in", "json") == [{"id": 1}]
    buffer = io.BytesIO()
    parquet.write_table(pa.table({"id": [2]}), buffer)
    put(client, "columns/day=1/a.parquet", body=buffer.getvalue())
    assert records("s3://lake/columns", "parquet") == [{"id": 2, "day": "1"}]


def test_a_missing_bucket_is_named(client):
    with pytest.raises(ConfigError, match="bucket of s3://no-such-bucket/in does not exist"):
        list(list_files(ListingOptions(["s3://no-such-bucket/in"], recurse=True), ListingStats()))


def partitions(*days: int) -> list[Root]:
    return [Root(f"s3://lake/in/day={day:03}", f"day={day}") for day in days]


def test_many_partitions_of_a_table_are_listed_as_one_tree(client, requests):
    put(client, *(f"in/day={day:03}/a" for day in range(12)), "in/day=000/_hidden", "in/day=000/deep/b", "in/c")
    requests.clear()
    stats = ListingStats()
    options = ListingOptions(["s3://lake/in"], partitions(*range(10), 99))
    files = list(list_files(options, stats))
    assert [file.partition for file in files] == [f"day={day}" for day in range(10)]
    assert {file.url for file in files} == {f"s3://lake/in/day={day:03}/a" for day in range(10)}
    assert stats.empty == partitions(99)
    assert len(requests) == 1


def test_with_a_predicate_only_the_folders_of_matching_partitions_are_listed(client, requests):
    put(client, *(f"in/day={day:03}/a" for day in range(12)))
    requests.clear()
    options = ListingOptions(["s3://lake/in"], partitions(*range(12)), predicate=parse_predicate("day in ('3', '7')"))
    files = [file.url for file in list_files(options, ListingStats())]
    assert files == ["s3://lake/in/day=003/a", "s3://lake/in/day=007/a"]
    assert len(requests) == 2
