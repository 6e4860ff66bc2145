from __future__ import annotations

import gzip
import json
from dataclasses import replace

import pytest
from pyspark.sql.types import ArrayType, IntegerType, LongType, StringType, StructField, StructType, VariantType

from gluepot.catalog.formats import new_storage, table_format
from gluepot.catalog.values import Table
from gluepot.tables.sql_catalog.descriptions import (
    EXTERNAL,
    MANAGED,
    VIEW,
    Buckets,
    SparkTable,
    glue_table,
    hive_type,
    spark_table,
)
from gluepot.tables.sql_catalog.external import matching
from gluepot.tables.sql_catalog.json_names import first_records, spelled

COLUMNS = StructType().add("userId", LongType()).add("Name", StringType(), True, {"comment": "of the user"})
KEYED = StructType([*COLUMNS.fields, StructField("Day", StringType())])


def of_spark(**changes):
    table = SparkTable("shop", "orders", MANAGED, KEYED, "parquet", ("Day",), "/data/orders", created_ms=5)
    return replace(table, **changes)


def of_crawler(form, keys=(), **parameters):
    storage = {
        **new_storage("json", "s3://b/t").body,
        "SerdeInfo": {},
        "Columns": [{"Name": "userid", "Type": "bigint"}, {"Name": "when", "Type": "timestamp"}],
    }
    body = {
        "StorageDescriptor": storage,
        "PartitionKeys": list(keys),
        "Parameters": {"classification": form, **parameters},
    }
    return Table("shop", "orders", body)


@pytest.mark.parametrize(
    "table",
    [
        of_spark(),
        of_spark(kind=EXTERNAL, comment="of the shop", owner="me", properties={"a": "b"}),
        of_spark(provider="csv", options={"header": "true", "SEP": ";"}),
        of_spark(provider="orc", buckets=Buckets(4, ("userId",), ("Name",))),
        of_spark(provider="delta", schema=StructType(), partition_columns=()),
        of_spark(kind=VIEW, provider=None, partition_columns=(), location="", view_text="select 1"),
        of_spark(schema=StructType([StructField(f"column{n}", LongType()) for n in range(500)]), partition_columns=()),
    ],
    ids=["managed", "external", "csv", "buckets", "delta", "view", "many columns"],
)
def test_a_table_of_spark_comes_back_as_spark_described_it(table):
    assert spark_table(glue_table(table)) == table


def test_other_readers_of_the_catalog_find_format_columns_and_keys():
    entry = glue_table(of_spark(provider="csv", options={"header": "true", "sep": ";"}))

    assert [(one.name, one.type, one.comment) for one in entry.storage.columns] == [
        ("userid", "bigint", ""),
        ("name", "string", "of the user"),
    ]
    assert [one.name for one in entry.partition_keys] == ["day"]
    assert table_format(entry).name == "csv"
    assert table_format(entry).options["separator"] == ";"
    assert table_format(entry).options["skipFirst"]


def test_columns_that_another_writer_added_count_more_than_the_schema_that_spark_saved():
    entry = glue_table(of_spark())
    wider = entry.with_columns([*entry.storage.columns, type(entry.storage.columns[0])("more", "int")])

    assert spark_table(wider).schema.names == ["userid", "name", "more", "day"]
    assert spark_table(wider).partition_columns == ("day",)


def test_what_spark_does_not_know_of_an_entry_stays_when_spark_changes_it():
    assert glue_table(of_spark(), {"Retention": 3}).body["Retention"] == 3


@pytest.mark.parametrize(
    ("form", "parameters", "provider", "options"),
    [
        ("glueparquet", {}, "parquet", {}),
        ("json", {}, "json", {}),
        ("csv", {"delimiter": "|", "skip.header.line.count": "1"}, "csv", {"sep": "|", "header": "true"}),
        ("xml", {"rowTag": "order"}, "xml", {"rowTag": "order"}),
        ("parquet", {"table_type": "ICEBERG"}, "hive", {}),
        ("parquet", {"table_type": "DELTA"}, "delta", {}),
        ("", {}, "hive", {}),
        ("postgresql", {"connectionName": "shop"}, "hive", {}),
    ],
)
def test_a_table_of_a_crawler_is_read_by_the_data_source_of_its_format(form, parameters, provider, options):
    table = spark_table(of_crawler(form, [{"Name": "day", "Type": "date"}], **parameters))

    assert (table.kind, table.provider, table.options) == (EXTERNAL, provider, options)
    assert table.location == "s3://b/t"


def test_a_column_of_an_unknown_type_is_a_text():
    table = of_crawler("json", [{"Name": "day", "Type": "uniontype<int,string>"}])

    assert spark_table(table).schema["day"].dataType == StringType()


def test_types_that_hive_lacks_are_texts():
    kind = StructType().add("a", ArrayType(IntegerType())).add("v", VariantType())

    assert hive_type(kind) == "struct<a:array<int>,v:string>"


def test_names_are_spelled_as_the_first_records_spell_them():
    inner = StructType().add("postcode", StringType())
    schema = StructType().add("userid", LongType()).add("places", ArrayType(inner)).add("unseen", LongType())
    records = [{"userId": 1, "places": [{"postCode": "x"}]}, {"USERID": 2}]

    named = spelled(schema, records)

    assert named.names == ["userId", "places", "unseen"]
    assert named["places"].dataType.elementType.names == ["postCode"]


def test_first_records_come_from_visible_files_and_a_cut_line_is_left_out(tmp_path):
    (tmp_path / "day=1").mkdir()
    (tmp_path / "_gluepot").write_text('{"hidden": 1}')
    (tmp_path / "day=1" / "a.json").write_text(json.dumps({"Id": 1}) + '\n{"Id": ')
    (tmp_path / "day=1" / "b.json.gz").write_bytes(gzip.compress(b'{"Name": 2}'))

    assert sorted(first_records(str(tmp_path)), key=str) == [{"Id": 1}, {"Name": 2}]
    assert first_records(str(tmp_path / "nothing")) == []
    assert first_records("hdfs://somewhere") == []


@pytest.mark.parametrize(
    ("pattern", "found"), [("*", ["a.b", "ab", "b"]), ("A*", ["a.b", "ab"]), ("a.b|b", ["a.b", "b"]), ("c", [])]
)
def test_patterns_of_show_know_stars_and_bars(pattern, found):
    assert matching(["b", "ab", "a.b"], pattern) == found
