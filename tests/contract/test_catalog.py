"""The catalog on every database it can live in."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import create_engine, insert, make_url
from sqlalchemy.exc import IntegrityError

from gluepot.bookmarks.ledger import open_ledger
from gluepot.catalog import connect, tables
from gluepot.catalog.connect import VERSION_TABLE, open_catalog
from gluepot.catalog.store import Catalog, NotInCatalog
from gluepot.catalog.values import Column, Database, Entry, Partition, Table
from gluepot.core.clock import FakeClock
from gluepot.core.errors import ConfigError

CLICKS = Table(
    "web",
    "clicks",
    {
        "StorageDescriptor": {"Columns": [{"Name": "id", "Type": "bigint"}], "Location": "s3://lake/clicks"},
        "PartitionKeys": [{"Name": "day", "Type": "string"}],
        "Owner": "ada",
    },
)


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


def test_added_partitions_are_told_and_the_first_of_equal_ones_is_added(catalog):
    first, second = day("1"), replace(day("1"), body={})
    assert catalog.add_new_partitions(CLICKS, [first, second]) == [first]
    assert catalog.add_new_partitions(CLICKS, [second]) == []
    assert catalog.partitions(CLICKS)[0].body == first.body


def test_partitions_are_read_piece_by_piece(catalog):
    catalog.add_partitions(CLICKS, [day(str(number)) for number in range(10)])
    found, after = [], ""
    while piece := catalog.partitions_after(CLICKS, after, 3):
        found += [one.values for _, one in piece]
        after = piece[-1][0]
    assert sorted(found) == [(str(number),) for number in range(10)]


def test_the_locations_of_partitions_are_read_alone(catalog):
    places = ["s3://lake/clicks/day=1/", 's3://lake/ü "x"/', ""]
    bodies = [{"StorageDescriptor": {"Location": place}} for place in places[:2]]
    catalog.add_partitions(CLICKS, [Partition((str(n),), body) for n, body in enumerate([*bodies, {}])])
    assert sorted(catalog.partition_locations(CLICKS)) == sorted(places)


def test_only_partitions_that_exist_are_changed_found_and_dropped(catalog):
    catalog.add_partitions(CLICKS, [day("1"), day("2")])
    assert catalog.change_partitions(CLICKS, [replace(day("1"), body={"a": "b"}), day("7")]) == {("1",)}
    found = catalog.find_partitions(CLICKS, [("1",), ("7",)])
    assert {values: one.body for values, one in found.items()} == {("1",): {"a": "b"}}
    assert catalog.drop_partitions(CLICKS, [("2",), ("7",)]) == {("2",)}


def test_databases_and_tables_are_read_piece_by_piece(catalog):
    for name in ("a", "b"):
        catalog.add_database(Database(name))
        catalog.add_table(replace(CLICKS, name=name))
    assert [one.name for one in catalog.databases("a", 1)] == ["b"]
    assert [one.name for one in catalog.tables("web", "a", 2)] == ["b", "clicks"]
    assert [one.title for one in catalog.all_tables()] == ["web.a", "web.b", "web.clicks"]


def test_a_version_that_is_not_kept_still_has_a_number(catalog):
    catalog.change_table("web", "clicks", add_column("page"), keep_version=False)
    catalog.change_table("web", "clicks", add_column("user"))
    assert [one.version for one in catalog.table_versions("web", "clicks")] == [2, 1]
    assert catalog.drop_table_versions(CLICKS, [1, 2, 5]) == {1}
    assert [one.version for one in catalog.table_versions("web", "clicks")] == [2]


def test_a_dropped_table_leaves_nothing_behind(catalog):
    index = Entry("index", "by_day", {"Keys": ["day"]}, "web", "clicks")
    catalog.add_entry(index)
    catalog.add_partitions(CLICKS, [day("1")])
    catalog.change_table("web", "clicks", add_column("page"))
    catalog.drop_table("web", "clicks")
    assert catalog.find_table("web", "clicks") is None
    assert catalog.add_table(CLICKS)
    assert (catalog.partitions(CLICKS), catalog.entries("index")) == ([], [])
    assert [one.version for one in catalog.table_versions("web", "clicks")] == [0]


def test_a_dropped_database_leaves_nothing_behind_and_others_stay(catalog):
    catalog.add_database(Database("other"))
    catalog.add_entry(Entry("function", "f", {}, "web"))
    catalog.add_entry(Entry("function", "f", {}, "other"))
    catalog.add_partitions(CLICKS, [day("1")])
    catalog.drop_database("web")
    assert [one.name for one in catalog.databases()] == ["other"]
    assert [one.database for one in catalog.entries("function")] == ["other"]
    catalog.add_database(Database("web"))
    assert catalog.tables("web") == []
    assert catalog.partitions(CLICKS) == []


def test_an_entry_is_added_once_changed_and_dropped(catalog):
    entry = Entry("connection", "Shop", {"a": 1})
    assert catalog.add_entry(entry)
    assert not catalog.add_entry(replace(entry, body={}))
    assert catalog.entry(Entry("connection", "shop")) is None
    assert catalog.change_entry(replace(entry, body={"a": 2}))
    found = catalog.entry(entry)
    assert (found.body, found.created_ms) == ({"a": 2}, 1_000_000)
    assert catalog.drop_entry(entry)
    assert not catalog.drop_entry(entry)
    assert not catalog.change_entry(entry)


@pytest.mark.parametrize("place", [("shop", ""), ("web", "orders")])
def test_an_entry_needs_its_database_and_its_table(catalog, place):
    with pytest.raises(NotInCatalog):
        catalog.add_entry(Entry("index", "i", {}, *place))


def test_errors_of_the_database_do_not_quote_values(catalog):
    row = {"kind": "connection", "database": "", "table_name": "", "name": "n", "created_ms": 0, "updated_ms": 0}
    with pytest.raises(IntegrityError) as failed, catalog._engine.begin() as connection:
        connection.execute(insert(tables.entries), [{**row, "body": "hunter2"}] * 2)
    assert "hunter2" not in str(failed.value)


def test_a_catalog_of_the_first_version_keeps_what_it_has(url):
    from alembic import command
    from alembic.config import Config

    engine = create_engine(make_url(url).set(drivername="postgresql+psycopg") if "postgresql" in url else url)
    with engine.begin() as connection:
        config = Config()
        config.set_main_option("script_location", str(Path(connect.__file__).parent / "migrations"))
        config.attributes["connection"] = connection
        command.upgrade(config, "0001")
        connection.execute(insert(tables.databases).values(name="old", body="{}", created_ms=5))
    engine.dispose()
    opened = open_catalog(url, FakeClock(1_000.0))
    assert [one.name for one in opened.databases()] == ["old"]
    assert opened.add_entry(Entry("function", "f", {}, "old"))
    opened.close()


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


# SQLite's index of an expression is none of the tables' own.
@pytest.mark.filterwarnings("ignore:Skipped unsupported reflection of expression-based index")
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
