"""What later crawls do with tables that exist: new versions, policies, new folders, tables of others, kills."""

import json
import os
import shutil
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import pyarrow as pa
import pytest
from pyarrow import parquet

from gluepot.catalog.connect import catalog_url, open_catalog
from gluepot.catalog.values import Database, Partition, Table
from gluepot.core.clock import FakeClock, SystemClock
from gluepot.core.errors import ConfigError
from gluepot.core.storage import LocalSource
from gluepot.crawl import run
from gluepot.crawl.plan import Seen
from tests.unit.crawl.crawling import a_catalog, columns, crawl_folder, outcomes, read_table

LOG = {"SchemaChangePolicy": {"UpdateBehavior": "LOG", "DeleteBehavior": "LOG"}}
ONLY_NEW = {**LOG, "RecrawlPolicy": {"RecrawlBehavior": "CRAWL_NEW_FOLDERS_ONLY"}}
DELETE = {"SchemaChangePolicy": {"DeleteBehavior": "DELETE_FROM_DATABASE"}}
MERGE = {"CrawlerOutput": {"Tables": {"AddOrUpdateBehavior": "MergeNewColumns"}}}
INHERIT = {"CrawlerOutput": {"Partitions": {"AddOrUpdateBehavior": "InheritFromTable"}}}


@pytest.fixture
def catalog(tmp_path):
    return a_catalog(tmp_path)


@pytest.fixture
def lake(tmp_path):
    return tmp_path / "lake"


def put(path, **values):
    path.parent.mkdir(parents=True, exist_ok=True)
    parquet.write_table(pa.table({name: [value] for name, value in values.items()}), path)


def days(lake, *numbers, **more):
    for number in numbers:
        put(lake / f"day={number}" / "x.parquet", id=number, a=1, b="x", **more)


def the(catalog, name="lake"):
    return catalog.table("web", name)


def values(catalog, name="lake"):
    return ["/".join(one.values) for one in catalog.partitions(the(catalog, name))]


def test_a_new_column_is_a_new_version_in_which_older_partitions_are_read(catalog, lake):
    days(lake, 1)
    crawl_folder(catalog, lake)
    days(lake, 2, c=1.5)
    report = crawl_folder(catalog, lake)

    assert outcomes(report) == {"lake": "updated"}
    assert report.tables[0].why == "new column c double"
    assert columns(the(catalog)) == "id bigint, a bigint, b string, c double"
    assert [one.version for one in catalog.table_versions("web", "lake")] == [1, 0]
    assert values(catalog) == ["1", "2"]
    assert len(read_table(catalog, the(catalog))) == 2


def test_types_widen_and_columns_that_are_gone_go(catalog, lake):
    put(lake / "x.parquet", id=1, old="x", a=1)
    crawl_folder(catalog, lake)
    parquet.write_table(pa.table({"id": [1.5], "a": [1]}), lake / "x.parquet")
    report = crawl_folder(catalog, lake)
    assert report.tables[0].why == "column old is gone; column id was bigint and is double"
    assert columns(the(catalog)) == "id double, a bigint"


def test_more_records_are_no_new_version(catalog, lake):
    put(lake / "x.parquet", id=1)
    crawl_folder(catalog, lake)
    put(lake / "y.parquet", id=2)
    assert outcomes(crawl_folder(catalog, lake, run_id="run-2")) == {"lake": "unchanged"}
    assert len(catalog.table_versions("web", "lake")) == 1
    assert the(catalog).parameters["objectCount"] == "2"


def test_with_log_only_new_tables_and_partitions_are_written(catalog, lake):
    days(lake, 1)
    crawl_folder(catalog, lake, **LOG)
    days(lake, 2, c=1.5)
    shutil.rmtree(lake / "day=1")
    report = crawl_folder(catalog, lake, **LOG)
    assert outcomes(report) == {"lake": "logged"}
    assert "new column c double" in report.tables[0].why
    assert columns(the(catalog)) == "id bigint, a bigint, b string"
    assert values(catalog) == ["1", "2"]


def test_merge_new_columns_adds_also_nested_ones_and_changes_nothing_else(catalog, lake):
    lake.mkdir()
    (lake / "x.json").write_text(json.dumps({"id": 1, "in": {"a": 1}, "gone": 1}) + "\n")
    crawl_folder(catalog, lake)
    (lake / "x.json").write_text(json.dumps({"id": 1.5, "in": {"a": 1, "b": "x"}, "new": True, "more": 1}) + "\n")
    crawl_folder(catalog, lake, configuration=MERGE)
    assert columns(the(catalog)) == "id int, in struct<a:int,b:string>, gone int, new boolean, more int"

    (lake / "x.json").write_text("id,a\n1,2\n")
    report = crawl_folder(catalog, lake, configuration=MERGE)
    assert "MergeNewColumns keeps the format" in report.tables[0].why
    assert the(catalog).parameters["DEPRECATED_BY_CRAWLER"] == "nightly"
    assert the(catalog).parameters["classification"] == "json"


def test_partitions_inherit_from_their_table_old_ones_too(catalog, lake):
    days(lake, 1)
    crawl_folder(catalog, lake)
    days(lake, 2, c=1.5)
    crawl_folder(catalog, lake, configuration=INHERIT)
    first, second = catalog.partitions(the(catalog))
    table = the(catalog).body["StorageDescriptor"]
    for one in (first, second):
        assert one.body["StorageDescriptor"]["Columns"] == table["Columns"]
        assert one.body["Parameters"]["classification"] == "parquet"
    assert first.location.endswith("/day=1/")


@pytest.mark.parametrize(
    ("policy", "is_there", "is_deprecated"),
    [("DEPRECATE_IN_DATABASE", True, True), ("DELETE_FROM_DATABASE", False, False), ("LOG", True, False)],
)
def test_what_has_no_files_any_more_is_treated_as_the_policy_says(catalog, lake, policy, is_there, is_deprecated):
    put(lake / "a" / "x.parquet", id=1)
    (lake / "b").mkdir()
    (lake / "b" / "x.csv").write_text("id,n\n1,2\n3,4\n")
    crawl_folder(catalog, lake)
    shutil.rmtree(lake / "a")
    crawl_folder(catalog, lake / "b", lake, SchemaChangePolicy={"DeleteBehavior": policy})
    there = catalog.find_table("web", "a")
    assert (there is not None) == is_there
    assert there is None or ("DEPRECATED_BY_CRAWLER" in there.parameters) == is_deprecated


def test_partitions_without_files_go_and_a_deprecated_table_that_is_back_is_none(catalog, lake):
    days(lake, 1, 2)
    crawl_folder(catalog, lake)
    shutil.rmtree(lake / "day=1")
    crawl_folder(catalog, lake)
    assert "DEPRECATED_BY_CRAWLER" in catalog.partitions(the(catalog))[0].body["Parameters"]
    crawl_folder(catalog, lake, **DELETE)
    assert values(catalog) == ["2"]

    shutil.rmtree(lake / "day=2")
    crawl_folder(catalog, lake)
    assert the(catalog).parameters["DEPRECATED_BY_CRAWLER"] == "nightly"
    days(lake, 2)
    crawl_folder(catalog, lake)
    assert "DEPRECATED_BY_CRAWLER" not in the(catalog).parameters


@pytest.mark.parametrize("content", [b"PAR1 cut", b"Salted__secret"])
def test_a_table_whose_files_are_no_longer_understood_is_left_alone(catalog, lake, content):
    days(lake, 1, 2)
    crawl_folder(catalog, lake)
    before = the(catalog).body
    for path in lake.glob("*/*.parquet"):
        path.write_bytes(content)
    report = crawl_folder(catalog, lake, **DELETE)
    assert outcomes(report) == {"lake": "kept"}
    assert the(catalog).body == before
    assert values(catalog) == ["1", "2"]
    assert len(report.left_out) == 2


def test_columns_of_files_that_cannot_be_read_now_stay_and_the_format_does_too(catalog, lake):
    days(lake, 1)
    days(lake, 2, c=1.5)
    crawl_folder(catalog, lake)
    (lake / "day=2" / "x.parquet").write_bytes(b"PAR1 cut")
    report = crawl_folder(catalog, lake)
    assert outcomes(report) == {"lake": "unchanged"}
    assert columns(the(catalog)) == "id bigint, a bigint, b string, c double"

    (lake / "day=1" / "x.parquet").unlink()
    (lake / "day=1" / "x.json").write_text('{"id": 1, "a": 1, "b": "x", "c": 1.5}\n')
    report = crawl_folder(catalog, lake, **DELETE)
    assert outcomes(report) == {"lake": "kept"}
    assert the(catalog).parameters["classification"] == "parquet"
    assert values(catalog) == ["1", "2"]


def test_a_table_that_is_a_file_is_left_alone_if_the_file_is_damaged_and_goes_with_it(catalog, lake):
    lake.mkdir()
    (lake / "a.csv").write_text("id,n\n1,2\n3,4\n")
    (lake / "b.json").write_text('{"q": 1}\n')
    crawl_folder(catalog, lake)
    (lake / "a.csv").write_bytes(b"PAR1 cut")
    report = crawl_folder(catalog, lake, **DELETE)
    assert outcomes(report)["a_csv"] == "kept"
    (lake / "a.csv").unlink()
    assert outcomes(crawl_folder(catalog, lake, **DELETE))["a_csv"] == "deleted"


def test_a_new_folder_of_texts_has_the_header_of_its_table(catalog, lake):
    def put_csv(day, *lines):
        (lake / f"day={day}").mkdir(parents=True)
        (lake / f"day={day}" / "x.csv").write_text("\n".join(["id,name,city,kind", *lines, ""]))

    put_csv(1, "1,Ann,Bonn,a", "2,Ben,Ulm,b")
    crawl_folder(catalog, lake, **ONLY_NEW)
    put_csv(2, "x,Ann,Bonn,a", "y,Ben,Ulm,b")
    crawl_folder(catalog, lake, **ONLY_NEW)
    new = catalog.partitions(the(catalog))[1]
    assert new.parameters["skip.header.line.count"] == "1"
    assert [one["Name"] for one in new.body["StorageDescriptor"]["Columns"]] == ["id", "name", "city", "kind"]


def test_a_folder_that_cannot_be_listed_loses_nothing(catalog, lake, monkeypatch):
    days(lake, 1, 2)
    crawl_folder(catalog, lake)
    real = os.scandir

    def scandir(path):
        if str(path).endswith("day=1"):
            raise PermissionError(13, "Permission denied", str(path))
        return real(path)

    monkeypatch.setattr(os, "scandir", scandir)
    report = crawl_folder(catalog, lake, **DELETE)
    assert values(catalog) == ["1", "2"]
    assert [one.place for one in report.left_out] == [f"{lake}/day=1"]


def test_a_target_that_is_not_there_fails_and_the_others_are_crawled(catalog, lake):
    days(lake, 1)
    crawl_folder(catalog, lake)
    lake.rename(f"{lake}-away")
    put(lake.parent / "other" / "x.parquet", id=1)
    report = crawl_folder(catalog, lake, lake.parent / "other", **DELETE)
    assert outcomes(report) == {"other": "created"}
    assert "There is no folder" in report.failed_targets[0].why
    assert values(catalog) == ["1"]
    with pytest.raises(ConfigError, match="No target could be crawled"):
        crawl_folder(catalog, lake, **DELETE)


def test_only_new_folders_are_looked_at(catalog, lake, monkeypatch):
    days(lake, 1, 2)
    crawl_folder(catalog, lake, **ONLY_NEW)
    days(lake, 3)
    put(lake / "day=4" / "x.parquet", other=1)
    put(lake / "day=2" / "late.parquet", id=9, z=1)
    read = []
    real = run._read
    monkeypatch.setattr(run, "_read", lambda *given: read.append(given[2].folder) or real(*given))

    report = crawl_folder(catalog, lake, **ONLY_NEW)

    assert sorted(read) == ["day=3", "day=4"]
    assert values(catalog) == ["1", "2", "3"]
    assert the(catalog).version == 0
    [step] = [one for one in report.steps if one.folder.endswith("day=4")]
    assert (step.outcome, step.similarity) == ("left out", 0.0)


def test_new_folders_beside_known_tables_become_tables_and_never_swallow_them(catalog, lake):
    put(lake / "a" / "x.parquet", id=1)
    (lake / "b").mkdir()
    (lake / "b" / "x.csv").write_text("id,n\n1,2\n3,4\n")
    crawl_folder(catalog, lake, **ONLY_NEW)
    put(lake / "c" / "x.parquet", id=1)
    put(lake / "d" / "x.parquet", id=1)
    assert outcomes(crawl_folder(catalog, lake, **ONLY_NEW)) == {"c": "created", "d": "created"}
    assert sorted(one.name for one in catalog.tables("web")) == ["a", "b", "c", "d"]


def test_a_table_that_somebody_else_made_keeps_its_definition_and_gets_partitions(catalog, lake):
    days(lake, 1, 2)
    storage = {"Columns": [{"Name": "id", "Type": "bigint", "Comment": "by hand"}], "Location": str(lake)}
    body = {"StorageDescriptor": storage, "PartitionKeys": [{"Name": "day", "Type": "int"}], "Parameters": {}}
    mine = Table("web", "lake", body)
    catalog.add_table(mine)
    catalog.add_partitions(mine, [Partition(("1",), {"StorageDescriptor": storage})])
    report = crawl_folder(catalog, lake, **DELETE)
    assert outcomes(report) == {"lake": "kept"}
    assert the(catalog).body == body
    assert values(catalog) == ["1", "2"]


def test_a_name_that_another_table_has_gets_a_digest_and_keeps_it(catalog, lake):
    put(lake / "one" / "orders" / "x.parquet", id=1)
    put(lake / "two" / "orders" / "x.parquet", id=1)
    crawl_folder(catalog, lake / "one" / "orders")
    crawl_folder(catalog, lake / "two" / "orders")
    names = sorted(one.name for one in catalog.tables("web"))
    assert names[0] == "orders"
    assert names[1].startswith("orders_")
    assert len(names[1]) == len("orders_") + 32
    assert outcomes(crawl_folder(catalog, lake / "two" / "orders")) == {names[1]: "unchanged"}


def test_comments_and_the_description_outlive_a_change(catalog, lake):
    put(lake / "x.parquet", id=1)
    crawl_folder(catalog, lake)
    there = the(catalog)
    commented = [{"Name": "id", "Type": "bigint", "Comment": "the key"}]
    storage = {**there.body["StorageDescriptor"], "Columns": commented}
    catalog.change_table(
        "web",
        "lake",
        lambda now: Table(now.database, now.name, {**now.body, "Description": "all", "StorageDescriptor": storage}),
    )
    put(lake / "x.parquet", id=1, b="x")
    crawl_folder(catalog, lake)
    assert the(catalog).body["Description"] == "all"
    assert the(catalog).storage.columns[0].comment == "the key"


def test_more_tables_than_the_threshold_write_nothing(catalog, lake):
    put(lake / "a" / "x.parquet", id=1)
    (lake / "b").mkdir()
    (lake / "b" / "x.csv").write_text("id,n\n1,2\n3,4\n")
    threshold = {"CrawlerOutput": {"Tables": {"TableThreshold": 1}}}
    with pytest.raises(ConfigError, match="found 2 tables, and TableThreshold is 1"):
        crawl_folder(catalog, lake, configuration=threshold)
    assert catalog.tables("web") == []


def test_a_dry_run_writes_nothing(catalog, lake):
    put(lake / "x.parquet", id=1)
    assert outcomes(crawl_folder(catalog, lake, dry_run=True)) == {"lake": "created"}
    assert catalog.tables("web") == []


def test_a_sample_reads_some_files_and_counts_all(catalog, lake, monkeypatch):
    for number in range(20):
        put(lake / f"day={number % 2}" / f"{number}.parquet", id=number)
    read = []
    real = run._read
    monkeypatch.setattr(run, "_read", lambda *given: read.append(given[2].key) or real(*given))
    crawl_folder(catalog, lake, sample=3)
    assert len(read) == 6
    assert the(catalog).parameters["objectCount"] == "20"


def test_tables_of_the_catalog_are_brought_up_to_date_and_none_is_made(catalog, lake):
    days(lake, 1)
    storage = {"Columns": [], "Location": str(lake)}
    keys = [{"Name": "day", "Type": "string"}]
    given = {"StorageDescriptor": storage, "PartitionKeys": keys, "Parameters": {"classification": "parquet"}}
    catalog.add_table(Table("web", "mine", given))
    put(lake / "odd" / "deeper" / "x.parquet", id=1)
    targets = {"CatalogTargets": [{"DatabaseName": "web", "Tables": ["mine"]}]}
    policy = {"DeleteBehavior": "LOG"}
    report = crawl_folder(catalog, Targets=targets, SchemaChangePolicy=policy)
    assert outcomes(report) == {"mine": "updated"}
    assert columns(the(catalog, "mine")) == "id bigint, a bigint, b string"
    assert values(catalog, "mine") == ["1"]
    assert [one.name for one in catalog.tables("web")] == ["mine"]


def test_a_file_that_vanishes_during_the_crawl_is_told(catalog, lake, monkeypatch):
    days(lake, 1, 2)
    real = run.read_head

    def read_head(open_raw, name, place, size_bytes):
        if "day=1" in place:
            (lake / "day=1" / "x.parquet").unlink(missing_ok=True)
        return real(open_raw, name, place, size_bytes)

    monkeypatch.setattr(run, "read_head", read_head)
    report = crawl_folder(catalog, lake)
    assert [one.why for one in report.left_out] == ["it was deleted during the crawl"]
    assert values(catalog) == ["2"]


def test_links_that_lead_back_are_not_followed(catalog, lake):
    days(lake, 1)
    (lake / "day=1" / "loop").symlink_to(lake)
    crawl_folder(catalog, lake)
    assert values(catalog) == ["1"]


def test_changes_of_the_catalog_are_noted_for_those_who_listen(catalog, lake):
    days(lake, 1)
    crawl_folder(catalog, lake, tells=True)
    days(lake, 2, c=1.5)
    shutil.rmtree(lake / "day=1")
    crawl_folder(catalog, lake, tells=True, **DELETE)
    shutil.rmtree(lake / "day=2")
    crawl_folder(catalog, lake, tells=True, **DELETE)
    assert [(one.operation, one.table, list(one.names)) for one in catalog.noted_changes(20)] == [
        ("CreateTable", "", ["lake"]),
        ("BatchCreatePartition", "lake", ["1"]),
        ("UpdateTable", "lake", []),
        ("BatchDeletePartition", "lake", ["1"]),
        ("BatchCreatePartition", "lake", ["2"]),
        ("DeleteTable", "", ["lake"]),
    ]


def test_two_crawls_at_once_make_each_table_and_partition_once(catalog, lake):
    days(lake, *range(20))
    with ThreadPoolExecutor(2) as pool:
        reports = list(pool.map(lambda _: crawl_folder(catalog, lake), range(2)))
    assert sorted(one.tables[0].outcome for one in reports) == ["created", "unchanged"]
    assert [one.name for one in catalog.tables("web")] == ["lake"]
    assert len(values(catalog)) == 20


POINTS = (
    *("crawl.begun", "crawl.reading", "crawl.listed", "crawl.grouped", "crawl.classified", "crawl.planned"),
    *("crawl.writing", "crawl.writing@2", "crawl.writing@4", "crawl.partitions", "crawl.written"),
)


@pytest.mark.parametrize(
    ("point", "change"),
    [
        *((point, False) for point in ("crawl.partitions", "crawl.written")),
        *(pytest.param(point, change, marks=pytest.mark.long) for point in POINTS for change in (False, True)),
    ],
)
def test_a_crawl_that_is_killed_leaves_the_catalog_as_before_or_as_after(tmp_path, lake, point, change):
    environ = {**os.environ, "GLUEPOT_STATE": str(tmp_path / "state")}
    command = [sys.executable, "-m", "gluepot", "crawl", str(lake), "--database", "web", "--output", "json"]

    def crawled(**more):
        return subprocess.run(
            command, env={**environ, **more}, capture_output=True, check=False, start_new_session=True
        ).returncode

    def state():
        """How many columns and partitions each table has, for whoever opens the catalog now."""
        with closing(open_catalog(catalog_url(environ), SystemClock())) as catalog:
            return {one.name: (len(one.storage.columns), len(catalog.partitions(one))) for one in catalog.tables("web")}

    put(lake / "a" / "x.parquet", id=1)
    (lake / "b").mkdir()
    (lake / "b" / "x.csv").write_text("id,n\n1,2\n3,4\n")
    (lake / "c").mkdir()
    (lake / "c" / "x.json").write_text('{"id": 1}\n')
    days(lake / "d", 1, 2)
    (tmp_path / "state").mkdir()
    with closing(open_catalog(catalog_url(environ), SystemClock())) as made:
        made.add_database(Database("web"))
    before, after = {}, {"a": (1, 0), "b": (2, 0), "c": (1, 0), "d": (3, 2)}
    if change:
        assert crawled() == 0
        before, after = after, {"a": (2, 0), "b": (3, 0), "c": (2, 0), "d": (3, 3)}
        days(lake / "d", 3)
        put(lake / "a" / "x.parquet", id=1, more=1)
        (lake / "b" / "x.csv").write_text("id,n,more\n1,2,3\n3,4,5\n")
        (lake / "c" / "x.json").write_text('{"id": 1, "more": 1}\n')
    assert crawled(GLUEPOT_FAILPOINT=point) == -signal.SIGKILL
    assert state() == (after if point == "crawl.written" else before)
    assert crawled() == 0
    assert state() == after


@pytest.mark.parametrize("policy", ["DEPRECATE_IN_DATABASE", "DELETE_FROM_DATABASE"])
def test_what_others_add_while_a_crawl_lists_does_not_count_as_gone(tmp_path, lake, monkeypatch, policy):
    clock = FakeClock(1_790_000_000.0)
    catalog = open_catalog(f"sqlite:///{tmp_path}/own.db", clock)
    catalog.add_database(Database("web"))
    days(lake, 1, 2)
    crawl_folder(catalog, lake)

    def another(point):
        if point != "crawl.classified":
            return
        clock.sleep(5)
        days(lake, 3)
        made = the(catalog)
        catalog.add_partitions(made, [Partition(("3",), {"StorageDescriptor": {"Location": f"{lake}/day=3/"}})])
        catalog.add_table(Table("web", "new", {**made.body, "StorageDescriptor": {"Location": f"{lake}/new/"}}))

    monkeypatch.setattr(run, "reach", another)
    crawl_folder(catalog, lake, SchemaChangePolicy={"DeleteBehavior": policy})
    assert values(catalog) == ["1", "2", "3"]
    entries = [*catalog.tables("web"), *catalog.partitions(the(catalog))]
    assert len(entries) == 5
    assert not any("DEPRECATED_BY_CRAWLER" in one.body.get("Parameters", {}) for one in entries)
    monkeypatch.undo()
    clock.sleep(5)
    crawl_folder(catalog, lake, SchemaChangePolicy={"DeleteBehavior": policy})
    left = [one.name for one in catalog.tables("web") if "DEPRECATED_BY_CRAWLER" not in one.parameters]
    assert left == ["lake"]
    catalog.close()


def test_of_many_folders_that_cannot_be_listed_none_is_taken_for_gone(catalog, lake, monkeypatch):
    days(lake, *range(150))
    crawl_folder(catalog, lake)
    listed = LocalSource.level

    def level(self, folder):
        if "day=" in folder:
            raise ConfigError(f"no right to list {folder}")
        return listed(self, folder)

    monkeypatch.setattr(LocalSource, "level", level)
    report = crawl_folder(catalog, lake, SchemaChangePolicy={"DeleteBehavior": "DELETE_FROM_DATABASE"})

    assert len(values(catalog)) == 150
    assert len(report.left_out) == 100


def test_nothing_is_known_of_what_lies_in_above_or_below_a_folder_that_cannot_be_listed():
    seen = Seen(["/lake/b"], ["/lake/a/x", "/lake/c"], ["/lake"])

    assert [
        one for one in ("/lake", "/lake/a", "/lake/a/x/y", "/lake/c", "/lake/c/1") if not seen.is_uncertain(one)
    ] == []
    assert [one for one in ("/lake/b", "/lake/a/xx", "/lake/a/w", "/lake/cc", "/lak") if seen.is_uncertain(one)] == []
    assert [one for one in ("/lake/b", "/lake/c/1", "/lake/d", "/lake/bb") if seen.has_files(one)] == [
        "/lake/b",
        "/lake/c/1",
    ]
