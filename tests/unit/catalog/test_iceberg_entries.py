"""Rows of Iceberg's JDBC catalog as entries of the Data Catalog."""

from __future__ import annotations

import gzip
import json

import pytest

from gluepot.catalog.iceberg_entries import (
    Differences,
    Linked,
    Pointer,
    differences,
    entry,
    hive_type,
    metadata_of,
    shown,
)

ORDERS = Pointer(
    "glue_catalog", "shop", "orders", "s3://lake/orders/metadata/2.json", "s3://lake/orders/metadata/1.json"
)
KEY = ("shop", "orders")
METADATA = {
    "location": "s3://lake/orders",
    "current-schema-id": 1,
    "schemas": [
        {"schema-id": 0, "fields": [{"id": 1, "name": "id", "required": True, "type": "int"}]},
        {
            "schema-id": 1,
            "fields": [
                {"id": 1, "name": "Id", "required": True, "type": "long", "doc": "of the order"},
                {"id": 2, "name": "tags", "required": False, "type": {"type": "list", "element": "string"}},
            ],
        },
    ],
}


def linked(catalog: str | None, location: str | None, *, is_iceberg: bool = True) -> dict[tuple[str, str], Linked]:
    return {KEY: Linked(catalog, location, is_iceberg)}


def other(catalog: str, location: str = "s3://lake/other.json") -> Pointer:
    return Pointer(catalog, "shop", "orders", location)


def test_a_row_without_an_entry_is_a_change():
    assert differences([ORDERS], {}) == Differences([ORDERS], [])


def test_an_entry_that_says_what_the_row_says_is_none():
    assert differences([ORDERS], linked("glue_catalog", ORDERS.location)) == Differences([], [])


def test_an_entry_with_an_older_place_is_a_change():
    assert differences([ORDERS], linked("glue_catalog", ORDERS.previous)).changed == [ORDERS]


def test_an_entry_whose_row_is_gone_is_gone():
    assert differences([], linked("glue_catalog", ORDERS.location)).gone == [KEY]


def test_an_entry_that_never_followed_a_row_stays():
    assert differences([], linked(None, None)) == Differences([], [])


def test_an_entry_of_another_format_follows_no_row():
    assert differences([ORDERS], linked(None, None, is_iceberg=False)) == Differences([], [])


def test_an_entry_of_iceberg_that_followed_none_follows_the_row_of_its_name():
    assert differences([ORDERS], linked(None, None)).changed == [ORDERS]


@pytest.mark.parametrize(
    ("entries", "chosen"),
    [({}, "glue_catalog"), (linked("lake", "x"), "lake"), (linked("gone", "x"), "glue_catalog")],
    ids=["no entry", "followed", "followed another that is gone"],
)
def test_of_rows_in_several_catalogs_the_followed_one_counts_then_that_of_glue(entries, chosen):
    rows = [other("zoo"), ORDERS, other("lake"), other("alpha")]
    assert shown(rows, entries)[KEY].catalog == chosen


def test_without_a_row_of_glue_the_first_catalog_by_name_counts():
    assert shown([other("zoo"), other("lake")], {})[KEY].catalog == "lake"


@pytest.mark.parametrize(("database", "name"), [("a.b", "orders"), ("Shop", "orders"), ("shop", "Orders")])
def test_a_name_that_glue_could_not_have_is_left_out(database, name):
    assert shown([Pointer("glue_catalog", database, name, "x")], {}) == {}


def test_the_entry_is_what_icebergs_own_catalog_for_glue_writes():
    assert entry(ORDERS, METADATA, {}).body == {
        "TableType": "EXTERNAL_TABLE",
        "Parameters": {
            "table_type": "ICEBERG",
            "metadata_location": ORDERS.location,
            "previous_metadata_location": ORDERS.previous,
        },
        "StorageDescriptor": {
            "Columns": [
                {
                    "Name": "id",
                    "Type": "bigint",
                    "Comment": "of the order",
                    "Parameters": {
                        "iceberg.field.id": "1",
                        "iceberg.field.optional": "false",
                        "iceberg.field.current": "true",
                    },
                },
                {
                    "Name": "tags",
                    "Type": "array<string>",
                    "Parameters": {
                        "iceberg.field.id": "2",
                        "iceberg.field.optional": "true",
                        "iceberg.field.current": "true",
                    },
                },
            ],
            "Location": "s3://lake/orders",
        },
    }


def test_without_its_metadata_an_entry_keeps_its_columns_and_what_clients_wrote():
    before = {"Owner": "ada", "StorageDescriptor": {"Columns": [{"Name": "id", "Type": "int"}]}}
    body = entry(ORDERS, None, before).body
    assert (body["Owner"], body["StorageDescriptor"]) == ("ada", before["StorageDescriptor"])
    assert body["Parameters"]["metadata_location"] == ORDERS.location


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        ("long", "bigint"),
        ("timestamptz", "timestamp"),
        ("decimal(9, 2)", "decimal(9,2)"),
        ("fixed[16]", "binary"),
        ("uuid", "string"),
        ("variant", "string"),
        ({"type": "map", "key": "string", "value": {"type": "list", "element": "date"}}, "map<string,array<date>>"),
        (
            {"type": "struct", "fields": [{"name": "a", "type": "int"}, {"name": "b", "type": "float"}]},
            "struct<a:int,b:float>",
        ),
    ],
)
def test_types_get_hives_names(kind, name):
    assert hive_type(kind) == name


def test_a_compressed_metadata_file_is_read_too():
    assert (
        metadata_of(gzip.compress(json.dumps(METADATA).encode()))
        == METADATA
        == metadata_of(json.dumps(METADATA).encode())
    )


def test_a_file_that_is_no_metadata_is_an_error():
    with pytest.raises(ValueError, match="not an object"):
        metadata_of(b"[1]")
