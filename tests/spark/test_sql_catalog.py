"""Spark SQL and the calls of Glue see the same databases and tables, those of the Data Catalog."""

from __future__ import annotations

import json

import pytest
from py4j.protocol import Py4JJavaError

from awsglue.data_catalog import current_catalog
from awsglue.dynamicframe import DynamicFrame
from gluepot.bookmarks import jobrun
from gluepot.catalog.formats import new_storage
from gluepot.catalog.values import Partition, Table
from gluepot.cli.failures import told


@pytest.fixture
def sql(glue_context, tmp_path, monkeypatch):
    """Runs SQL with a new catalog, whose database `shop` lies in the folder of the test; returns rows as tuples."""
    monkeypatch.setenv("GLUEPOT_STATE", str(tmp_path / "state"))
    monkeypatch.delenv("GLUEPOT_CATALOG", raising=False)

    def run(text):
        return [tuple(row) for row in glue_context.spark_session.sql(text).collect()]

    run(f"CREATE DATABASE shop LOCATION '{tmp_path / 'shop'}'")
    yield run
    jobrun.end("the test ended")


def from_catalog(glue_context, table):
    frame = glue_context.create_dynamic_frame.from_catalog(database="shop", table_name=table)
    return sorted(tuple(row) for row in frame.toDF().collect())


def test_a_partitioned_table_of_spark_is_read_and_written_by_both(sql, glue_context):
    spark = glue_context.spark_session
    rows = spark.createDataFrame([(1, 1.5, "a"), (2, 2.5, "b")], ["id", "Price", "Day"])
    rows.write.partitionBy("Day").saveAsTable("shop.orders")
    sql("INSERT INTO shop.orders VALUES (3, 3.5, 'c')")

    assert from_catalog(glue_context, "orders") == [(1, 1.5, "a"), (2, 2.5, "b"), (3, 3.5, "c")]
    assert sql("SHOW PARTITIONS shop.orders") == [("Day=a",), ("Day=b",), ("Day=c",)]
    assert [one.values for one in current_catalog().partitions(current_catalog().table("shop", "orders"))] == [
        ("a",),
        ("b",),
        ("c",),
    ]

    sql("ALTER TABLE shop.orders ADD COLUMNS (more INT)")
    sql("ALTER TABLE shop.orders DROP PARTITION (Day = 'a')")
    sql("INSERT OVERWRITE shop.orders PARTITION (Day = 'c') VALUES (4, 4.5, 9)")
    sql("ALTER TABLE shop.orders RENAME TO shop.sales")

    assert sql("SELECT * FROM shop.sales ORDER BY id") == [(2, 2.5, None, "b"), (4, 4.5, 9, "c")]
    assert sql("SELECT id FROM shop.sales WHERE day = 'c'") == [(4,)]
    assert [one.name for one in spark.catalog.listTables("shop") if not one.isTemporary] == ["sales"]
    assert spark.catalog.tableExists("shop.sales")
    assert not spark.catalog.tableExists("shop.orders")


@pytest.mark.parametrize("form", ["csv", "json", "orc"])
def test_files_in_the_formats_of_spark_are_read_from_the_catalog(sql, glue_context, form):
    rows = glue_context.spark_session.createDataFrame([(1, 'a, "b"'), (2, None)], ["id", "text"])
    rows.write.format(form).option("header", "true").saveAsTable(f"shop.{form}s")

    assert sql(f"SELECT * FROM shop.{form}s ORDER BY id") == [(1, 'a, "b"'), (2, None)]
    # A blank cell of CSV is an empty string in a DynamicFrame (docs/decisions/0062-values-of-csv-are-never-null.md).
    assert from_catalog(glue_context, f"{form}s") == [(1, 'a, "b"'), (2, "" if form == "csv" else None)]


def test_a_table_that_glue_writes_is_seen_at_once(sql, glue_context, tmp_path):
    def write(*rows, columns):
        data = glue_context.spark_session.createDataFrame(list(rows), columns)
        options = {"enableUpdateCatalog": True, "partitionKeys": ["part"]}
        sink = glue_context.getSink(connection_type="s3", path=str(tmp_path / "clicks"), **options)
        sink.setCatalogInfo(catalogDatabase="shop", catalogTableName="clicks")
        sink.setFormat("json")
        sink.writeFrame(DynamicFrame.fromDF(data, glue_context, "clicks"))

    write((1, "x", "Ann"), columns=["id", "part", "userId"])
    assert sql("SELECT id, userid, part FROM shop.clicks") == [(1, "Ann", "x")]

    write((2, "y", "Bob", 2.5), columns=["id", "part", "userId", "price"])
    assert sql("SELECT * FROM shop.clicks ORDER BY id") == [(1, "Ann", None, "x"), (2, "Bob", 2.5, "y")]

    sql("CREATE VIEW shop.names AS SELECT userid FROM shop.clicks WHERE price IS NULL")
    assert sql("SELECT * FROM shop.names") == [("Ann",)]
    assert ("shop", "names", False) in sql("SHOW VIEWS IN shop")


def test_partitions_of_a_crawler_may_lie_in_folders_of_any_name(sql, tmp_path):
    (tmp_path / "deep" / "2024").mkdir(parents=True)
    (tmp_path / "deep" / "2024" / "a.json").write_text(json.dumps({"Id": 7}))
    storage = {**new_storage("json", str(tmp_path / "deep")).body, "Columns": [{"Name": "id", "Type": "int"}]}
    keys = [{"Name": "year", "Type": "int"}]
    table = Table("shop", "deep", {"StorageDescriptor": storage, "PartitionKeys": keys})
    current_catalog().add_table(table)
    body = {"StorageDescriptor": {"Location": str(tmp_path / "deep" / "2024")}}
    current_catalog().add_partitions(table, [Partition(("2024",), body)])

    assert sql("SELECT * FROM shop.deep") == [(7, 2024)]
    assert sql("SELECT * FROM shop.deep WHERE year < 2024") == []


def test_databases_come_and_go_and_only_folders_that_spark_chose_are_deleted(sql, glue_context, tmp_path):
    sql(f"CREATE TABLE shop.mine USING parquet LOCATION '{tmp_path / 'mine'}' AS SELECT 1 AS id")
    sql("CREATE TABLE shop.sparks USING parquet AS SELECT 1 AS id")
    assert [one.name for one in current_catalog().databases()] == ["shop"]
    assert sql("SHOW DATABASES") == [("default",), ("shop",)]
    assert not [name for name, *_, is_temporary in sql("SHOW TABLES IN default") if not is_temporary]

    with pytest.raises(Py4JJavaError, match="The database shop holds 2 tables; drop them, or use DROP DATABASE"):
        sql("DROP DATABASE shop")
    sql("DROP DATABASE shop CASCADE")

    assert sql("SHOW DATABASES") == [("default",)]
    assert list((tmp_path / "mine").glob("*.parquet"))
    assert not (tmp_path / "shop" / "sparks").exists()


def test_a_table_in_hives_words_is_read_by_both(sql, glue_context, tmp_path):
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "part-0").write_text("1|one\n2|\\N\n")
    sql(
        f"""
        CREATE EXTERNAL TABLE IF NOT EXISTS shop.numbers (id INT, word STRING)
        ROW FORMAT DELIMITED FIELDS TERMINATED BY '|'
        STORED AS TEXTFILE
        LOCATION '{tmp_path / "in"}'
        """
    )
    sql("CREATE TABLE shop.kept STORED AS PARQUET AS SELECT id, word FROM shop.numbers WHERE id = 1")

    assert sorted(sql("SELECT * FROM shop.numbers")) == [(1, "one"), (2, None)]
    assert from_catalog(glue_context, "kept") == [(1, "one")]
    assert [row[0] for row in from_catalog(glue_context, "numbers")] == [1, 2]


@pytest.mark.parametrize(
    "parameters",
    [{"connectionName": "warehouse", "classification": "postgresql"}, {"table_type": "ICEBERG"}],
    ids=["of a database", "of Iceberg"],
)
def test_a_table_that_sql_cannot_read_is_listed_and_a_read_names_what_reads_it(sql, glue_context, parameters):
    storage = {"Location": "shop.public.orders", "Columns": [{"Name": "id", "Type": "int"}]}
    body = {"Parameters": parameters, "StorageDescriptor": storage}
    current_catalog().add_table(Table("shop", "orders", body), for_jobs=False)

    assert ("shop", "orders", False) in sql("SHOW TABLES IN shop")
    with pytest.raises(Py4JJavaError) as failed:
        sql("SELECT * FROM shop.orders")
    _, sentence = told(failed.value)
    assert sentence.startswith("Spark SQL cannot read shop.orders, because the entry stands for a stream,")
    assert sentence.endswith("its own catalog: glue_catalog.shop.orders.")
