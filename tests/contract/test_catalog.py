"""The catalog on every database it can live in."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from gluepot.bookmarks.ledger import open_ledger
from gluepot.catalog.connect import VERSION_TABLE, open_catalog
from gluepot.catalog.store import Catalog
from gluepot.catalog.values import Column, Database, Partition, Table
from gluepot.core.clock import FakeClock
from gluepot.core.errors import ConfigError
from tests.postgresql import new_database

CLICKS = Table(
    "web",
    "clicks",
    {
        "StorageDescriptor": {"Columns": [{"Name": "id", "Type": "bigint"}], "Location": "s3://lake/clicks"},
        "PartitionKeys": [{"Name": "day", "Type": "string"}],
        "Owner": "ada",
    },
)


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request, tmp_path):
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path}/catalog.db"
    else:
        with new_database(request.getfixturevalue("postgresql")) as made:
            yield made


@pytest.fixture
def catalog(url):
    opened = open_catalog(url, FakeClock(1_000.0))
    opened.add_database(Database("web"))
    opened.add_table(CLICKS)
    yield opened
    opened.close()


def day(value: str) -> Partition:
    return Partition((value,), {"StorageDescriptor": {"Location": f"s3://lake/clicks/day={value}"}})


def add_column(name: str):
    return lambda table: table.with_columns([*table.storage.columns, Column(name, "string")])


def test_a_table_comes_back_as_it_went_in(catalog):
    found = catalog.table("WEB", "Clicks")
    assert (found.body, found.created_ms) == (CLICKS.body, 1_000_000)


def test_a_second_table_of_a_name_changes_nothing(catalog):
    assert not catalog.add_table(replace(CLICKS, body={}))
    assert catalog.table("web", "clicks").body == CLICKS.body


def test_an_unknown_table_is_an_error_with_the_names_there_are(catalog):
    with pytest.raises(ConfigError, match=r"no table 'click'; it has clicks. Did you mean 'clicks'"):
        catalog.table("web", "click")


def test_an_unknown_database_is_an_error_with_the_names_there_are(catalog):
    with pytest.raises(ConfigError, match=r"no database 'wep'; it has web. .gluepot catalog import. reads one in"):
        catalog.find_table("wep", "clicks")


def test_a_table_needs_its_database(catalog):
    with pytest.raises(ConfigError, match="no database 'shop'"):
        catalog.add_table(replace(CLICKS, database="shop"))


def test_every_version_of_a_table_is_kept(catalog):
    catalog.change_table("web", "clicks", add_column("page"))
    catalog.change_table("web", "clicks", add_column("user"))
    versions = catalog.table_versions("web", "clicks")
    assert [(one.version, len(one.storage.columns)) for one in versions] == [(2, 3), (1, 2), (0, 1)]


def test_an_equal_table_is_no_new_version(catalog):
    assert catalog.change_table("web", "clicks", lambda table: table).version == 0


def test_a_partition_is_added_once(catalog):
    assert catalog.add_partitions(CLICKS, [day("2"), day("1")]) == 2
    assert catalog.add_partitions(CLICKS, [day("2"), day("3")]) == 1
    assert [one.values for one in catalog.partitions(CLICKS)] == [("1",), ("2",), ("3",)]


def test_a_dropped_partition_is_gone_and_the_others_stay(catalog):
    catalog.add_partitions(CLICKS, [day("1"), day("2")])
    catalog.drop_partitions(CLICKS, [("1",), ("7",)])
    assert [one.values for one in catalog.partitions(CLICKS)] == [("2",)]


def test_a_partition_has_a_value_for_each_key(catalog):
    with pytest.raises(ConfigError, match=r"has the values \['1', '2'\], the table has 1"):
        catalog.add_partitions(CLICKS, [Partition(("1", "2"), {})])


def test_thousands_of_partitions_are_added_at_once(catalog):
    assert catalog.add_partitions(CLICKS, [day(f"{n:04}") for n in range(2_000)]) == 2_000


def test_jobs_that_change_a_table_at_the_same_time_lose_nothing(catalog, url):
    def work(number: int) -> None:
        own: Catalog = open_catalog(url, FakeClock(1_000.0))
        for step in range(5):
            own.add_partitions(CLICKS, [day(f"{number}-{step}"), day("shared")])
            own.change_table("web", "clicks", add_column(f"c{number}_{step}"))
        own.close()

    with ThreadPoolExecutor(4) as pool:
        for done in [pool.submit(work, number) for number in range(4)]:
            done.result()
    assert len(catalog.partitions(CLICKS)) == 21
    names = {column.name for column in catalog.table("web", "clicks").storage.columns}
    assert names == {"id", *(f"c{number}_{step}" for number in range(4) for step in range(5))}
    assert len(catalog.table_versions("web", "clicks")) == 21


def test_the_migrations_lead_to_the_declared_tables(catalog, url):
    from alembic.autogenerate import compare_metadata
    from alembic.migration import MigrationContext

    from gluepot.catalog.tables import metadata

    with catalog._engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"version_table": VERSION_TABLE})
        assert compare_metadata(context, metadata) == []


def test_catalog_and_ledger_may_share_a_database(catalog, url):
    ledger = open_ledger(url, FakeClock(1_000.0))
    assert ledger.jobs() == []
    ledger.close()
    again = open_catalog(url, FakeClock(1_000.0))
    assert [one.name for one in again.databases()] == ["web"]
    again.close()
