"""What a write makes known to the catalog, decided without one."""

from __future__ import annotations

import pyarrow as pa
import pytest

from gluepot.catalog.connect import open_catalog
from gluepot.catalog.values import Database, Table
from gluepot.connectors.values import ManifestPart
from gluepot.core.clock import FakeClock
from gluepot.core.errors import ConfigError
from gluepot.engine.catalog_update import CatalogTarget, check, new_partitions, new_table, update, with_written
from gluepot.frames.schema import choice_field

WRITTEN = pa.schema([("Id", pa.int64()), ("tags", pa.list_(pa.string())), ("day", pa.string())])
TARGET = CatalogTarget("Web", "Clicks", "UPDATE_IN_DATABASE", "s3://lake/clicks", "parquet", ("day",))


def columns(table: Table) -> dict[str, str]:
    return {one.name: one.type for one in table.storage.columns}


def a_table(*plain: dict[str, object]) -> Table:
    return Table("web", "clicks", {"StorageDescriptor": {"Columns": list(plain)}, "PartitionKeys": [{"Name": "day"}]})


def test_a_new_table_says_all_that_other_readers_need():
    table = new_table(TARGET, WRITTEN)
    assert (table.title, columns(table)) == ("web.clicks", {"id": "bigint", "tags": "array<string>"})
    assert [(key.name, key.type) for key in table.partition_keys] == [("day", "string")]
    assert table.storage.serde.endswith("ParquetHiveSerDe")
    assert (table.storage.location, table.parameters["classification"]) == ("s3://lake/clicks", "parquet")


@pytest.mark.parametrize(
    ("known", "field", "kind"),
    [
        ("int", pa.field("id", pa.int64()), "bigint"),
        ("bigint", pa.field("ID", pa.int32()), "bigint"),
        ("bigint", pa.field("id", pa.string()), "string"),
        ("varchar(20)", pa.field("id", pa.string()), "varchar(20)"),
        ("uniontype<int,string>", pa.field("id", pa.string()), "uniontype<int,string>"),
        ("string", choice_field("id", [pa.field("a", pa.int64()), pa.field("b", pa.string())]), "string"),
    ],
)
def test_a_known_column_gets_as_wide_as_need_be(known, field, kind):
    table = with_written(a_table({"Name": "id", "Type": known}), pa.schema([field]))
    assert columns(table) == {"id": kind}


def test_what_is_known_of_a_column_stays():
    plain = {"Name": "id", "Type": "bigint", "Comment": "of the click", "Parameters": {"a": "b"}}
    table = a_table(plain)
    assert with_written(table, pa.schema([("id", pa.int32())])) == table


def test_columns_that_a_write_lacks_stay_and_new_ones_come_last():
    table = with_written(a_table({"Name": "old", "Type": "int"}), pa.schema([("new", pa.bool_())]))
    assert columns(table) == {"old": "int", "new": "boolean"}


def test_a_partition_is_registered_for_each_folder_with_its_values_as_they_were():
    paths = ["day=a%2Fb/x", "day=a%2Fb/y", "day=__HIVE_DEFAULT_PARTITION__/z"]
    found = list(new_partitions(new_table(TARGET, WRITTEN), TARGET, paths))
    assert [(one.values, one.location) for one in found] == [
        (("__HIVE_DEFAULT_PARTITION__",), "s3://lake/clicks/day=__HIVE_DEFAULT_PARTITION__"),
        (("a/b",), "s3://lake/clicks/day=a%2Fb"),
    ]


@pytest.fixture
def catalog(tmp_path):
    opened = open_catalog(f"sqlite:///{tmp_path}/catalog.db", FakeClock(1.0))
    opened.add_database(Database("web"))
    yield opened
    opened.close()


def test_a_replay_changes_nothing(catalog):
    parts = [ManifestPart(schema=WRITTEN.serialize().to_pybytes())]
    for _ in range(2):
        check(catalog, TARGET)
        update(catalog, TARGET, ["day=a/x"], parts)
    table = catalog.table("web", "clicks")
    assert (table.version, [one.values for one in catalog.partitions(table)]) == (0, [("a",)])


def test_a_write_of_nothing_makes_no_table(catalog):
    update(catalog, TARGET, [], [ManifestPart()])
    assert catalog.find_table("web", "clicks") is None


def test_columns_without_a_value_are_not_made_known(catalog):
    schema = pa.schema([("id", pa.int64()), ("empty", pa.null()), ("day", pa.string())])
    update(catalog, TARGET, ["day=a/x"], [ManifestPart(schema=schema.serialize().to_pybytes())])
    assert columns(catalog.table("web", "clicks")) == {"id": "bigint"}


def test_a_table_that_lies_elsewhere_is_not_written(catalog):
    catalog.add_table(new_table(TARGET, WRITTEN))
    elsewhere = CatalogTarget("web", "clicks", "LOG", "s3://lake/other", "parquet", ("day",))
    with pytest.raises(ConfigError, match=r"writes to s3://lake/other, the table web\.clicks lies in s3://lake/clicks"):
        check(catalog, elsewhere)
