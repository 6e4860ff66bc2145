"""Iceberg tables that jobs have, seen through the Data Catalog, and the other way round. PyIceberg is the job."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from random import Random
from threading import Barrier

import pytest
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.exceptions import CommitFailedException, NoSuchTableError
from pyiceberg.schema import Schema
from pyiceberg.types import LongType, NestedField, StringType
from sqlalchemy import make_url

from gluepot.catalog.connect import open_catalog
from gluepot.catalog.iceberg_rows import ChangedMeanwhile
from gluepot.catalog.portable import export, read_dump, run_import
from gluepot.catalog.values import Database, Table
from gluepot.core.clock import FakeClock
from gluepot.core.errors import ConfigError
from gluepot.crawl.run import crawl
from gluepot.crawl.settings import CrawlSettings, Target

SCHEMA = Schema(NestedField(1, "id", LongType(), required=True), NestedField(2, "name", StringType()))


@pytest.fixture
def catalog(url):
    opened = open_catalog(url, FakeClock(1_000.0))
    yield opened
    opened.close()


@pytest.fixture
def job(catalog, url, tmp_path):
    parsed = make_url(url)
    if parsed.get_backend_name() == "postgresql":
        parsed = parsed.set(drivername="postgresql+psycopg")
    opened = SqlCatalog(
        "glue_catalog", uri=parsed.render_as_string(hide_password=False), warehouse=f"file://{tmp_path}/warehouse"
    )
    yield opened
    opened.engine.dispose()


def with_column(table, name: str) -> str:
    with table.update_schema() as update:
        update.add_column(name, StringType())
    return table.metadata_location


def columns(table: Table) -> list[tuple[str, str]]:
    return [(one.name, one.type) for one in table.storage.columns]


def test_a_table_of_a_job_is_an_entry_and_follows_its_commits(catalog, job):
    job.create_namespace("shop")
    table = job.create_table("shop.orders", SCHEMA)
    found = catalog.table("shop", "orders")
    assert [one.name for one in catalog.databases()] == ["shop"]
    assert columns(found) == [("id", "bigint"), ("name", "string")]
    assert found.parameters["table_type"] == "ICEBERG"
    first = found.parameters["metadata_location"]
    assert first == table.metadata_location

    second = with_column(table, "note")
    found = catalog.find_table("shop", "orders")
    assert (found.version, columns(found)[-1]) == (1, ("note", "string"))
    assert found.parameters["metadata_location"] == second
    assert found.parameters["previous_metadata_location"] == first
    assert [one.name for one in catalog.tables("shop")] == ["orders"] == [one.name for one in catalog.all_tables()]


def test_many_who_look_at_once_find_a_new_table_once(catalog, job):
    job.create_namespace("shop")
    for number in range(5):
        job.create_table(f"shop.orders_{number}", SCHEMA)
    start = Barrier(6)

    def look(_: int) -> list[str]:
        start.wait()
        return [one.name for one in catalog.tables("shop")]

    with ThreadPoolExecutor(6) as pool:
        assert list(pool.map(look, range(6))) == [[f"orders_{number}" for number in range(5)]] * 6
    assert [one.name for one in catalog.databases()] == ["shop"]


def test_a_table_and_a_database_that_a_job_drops_are_gone(catalog, job):
    job.create_namespace("shop")
    job.create_table("shop.orders", SCHEMA)
    assert catalog.tables("shop")
    job.drop_table("shop.orders")
    assert catalog.tables("shop") == []
    job.drop_namespace("shop")
    assert catalog.databases() == []


def test_a_database_with_other_tables_outlives_the_namespace_that_a_job_drops(catalog, job):
    catalog.add_database(Database("shop"))
    catalog.add_table(Table("shop", "clicks", {}))
    job.drop_namespace("shop")
    assert [one.name for one in catalog.tables("shop")] == ["clicks"]
    assert job.create_table("shop.orders", SCHEMA)


def test_a_database_of_a_client_is_one_to_create_tables_in(catalog, job):
    catalog.add_database(Database("shop"))
    job.create_table("shop.orders", SCHEMA)
    assert catalog.table("shop", "orders").iceberg_catalog == "glue_catalog"


def test_a_job_that_calls_the_catalog_otherwise_finds_the_databases_too(catalog, job):
    catalog.add_database(Database("shop"))
    catalog.add_namespaces("lake")
    catalog.add_namespaces("lake")
    lake = SqlCatalog("lake", uri=str(job.properties["uri"]), warehouse=job.properties["warehouse"])
    lake.create_table("shop.orders", SCHEMA)
    assert catalog.table("shop", "orders").iceberg_catalog == "lake"
    lake.engine.dispose()


@pytest.fixture
def metadata(job) -> str:
    """Return the metadata file of a table that no catalog has any more."""
    job.create_namespace("elsewhere")
    location: str = job.create_table("elsewhere.made", SCHEMA).metadata_location
    job.drop_table("elsewhere.made")
    return location


def iceberg(location: str, name: str = "orders") -> Table:
    return Table("shop", name, {"Parameters": {"table_type": "ICEBERG", "metadata_location": location}})


def test_a_table_of_a_client_is_one_for_jobs_and_both_commit_to_it(catalog, job, metadata):
    catalog.add_database(Database("shop"))
    assert catalog.add_table(iceberg(metadata))
    table = job.load_table("shop.orders")
    assert [one.name for one in table.schema().fields] == ["id", "name"]

    second = with_column(table, "note")
    before = catalog.table("shop", "orders")
    assert before.parameters["metadata_location"] == second
    stale = job.load_table("shop.orders")
    catalog.change_table("shop", "orders", lambda now: replace(now, body=iceberg(metadata).body))
    assert job.load_table("shop.orders").metadata_location == metadata
    with pytest.raises(CommitFailedException):
        with_column(stale, "lost")
    catalog.drop_table("shop", "orders")
    with pytest.raises(NoSuchTableError):
        job.load_table("shop.orders")


@pytest.mark.parametrize("url", ["postgresql"], indirect=True)  # SQLite lets nobody write between the two
def test_a_commit_of_a_job_between_reading_and_writing_is_not_undone(catalog, job, metadata):
    catalog.add_database(Database("shop"))
    table = job.create_table("shop.orders", SCHEMA)

    def change(now: Table) -> Table:
        with ThreadPoolExecutor(1) as elsewhere:
            elsewhere.submit(with_column, table, "note").result()
        return replace(now, body=iceberg(metadata).body)

    with pytest.raises(ChangedMeanwhile, match=r"shop\.orders meanwhile; read it again"):
        catalog.change_table("shop", "orders", change)
    assert catalog.table("shop", "orders").parameters["metadata_location"] == table.metadata_location


def test_an_entry_cannot_stop_being_a_table_of_iceberg(catalog, job):
    job.create_namespace("shop")
    job.create_table("shop.orders", SCHEMA)
    with pytest.raises(ConfigError, match=r"shop\.orders is a table of Iceberg and its new definition is not"):
        catalog.change_table("shop", "orders", lambda now: replace(now, body={}))
    assert job.load_table("shop.orders")


def test_an_entry_of_iceberg_needs_its_metadata_file(catalog):
    catalog.add_database(Database("shop"))
    with pytest.raises(ConfigError, match=r"shop\.orders has the table_type ICEBERG and no metadata_location"):
        catalog.add_table(Table("shop", "orders", {"Parameters": {"table_type": "iceberg"}}))
    assert catalog.tables("shop") == []


def test_an_entry_of_another_format_is_not_touched_by_a_table_of_a_job(catalog, job):
    catalog.add_database(Database("shop"))
    catalog.add_table(Table("shop", "orders", {"Owner": "ada"}))
    job.create_table("shop.orders", SCHEMA)
    assert catalog.table("shop", "orders").body == {"Owner": "ada"}


def test_a_metadata_file_that_cannot_be_read_leaves_an_entry_without_columns(catalog, job):
    job.create_namespace("shop")
    table = job.create_table("shop.orders", SCHEMA)
    Path(table.metadata_location.removeprefix("file://")).unlink()
    found = catalog.table("shop", "orders")
    assert (found.parameters["metadata_location"], columns(found)) == (table.metadata_location, [])


def test_a_dropped_database_takes_the_tables_of_jobs_along(catalog, job):
    job.create_namespace("shop")
    job.create_table("shop.orders", SCHEMA)
    catalog.drop_database("shop")
    assert (catalog.databases(), job.list_namespaces()) == ([], [])


def test_a_dump_neither_gives_tables_to_jobs_nor_takes_their_commits_back(catalog, job):
    job.create_namespace("shop")
    table = job.create_table("shop.orders", SCHEMA)
    dump = export(catalog)
    newest = with_column(table, "note")
    dump["TableList"].append({**dump["TableList"][0], "Name": "copy"})
    run_import(catalog, read_dump([dump]), overwrite=True)
    assert job.load_table("shop.orders").metadata_location == newest
    assert catalog.table("shop", "copy").iceberg_catalog is None
    with pytest.raises(NoSuchTableError):
        job.load_table("shop.copy")


def test_a_crawl_neither_gives_tables_to_jobs_nor_moves_those_that_they_have(catalog, job, tmp_path):
    job.create_namespace("shop")
    table = job.create_table("shop.orders", SCHEMA)
    for database in ("shop", "crawled"):
        catalog.add_database(Database(database))
        crawl(CrawlSettings("daily", database, (Target(table.location()),)), catalog, Random(1))
    newest = with_column(table, "note")
    assert catalog.table("shop", "orders").parameters["metadata_location"] == newest
    assert catalog.table("crawled", "orders").iceberg_catalog is None
    with pytest.raises(NoSuchTableError):
        job.load_table("crawled.orders")
