"""The table of orders and the part of a script that both sides have word for word."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
from deltalake import DeltaTable
from pyiceberg.table import StaticTable
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.functions import col, desc, row_number, to_timestamp
from pyspark.sql.window import Window

from gluepot.servers import jars

CATALOG = "lake"
COLUMNS = ("order_id", "customer_id", "status", "total", "city", "updated_at")


_OWN = {"spark.driver.host": "127.0.0.1", "spark.ui.enabled": "false"}


def catalog_conf(form: str, warehouse: str) -> dict[str, str]:
    """Return the settings of a format's catalog: a folder, which needs no server and no database."""
    if form == "delta":
        return {
            "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
            "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
            **_OWN,
        }
    return {
        "spark.sql.extensions": "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
        f"spark.sql.catalog.{CATALOG}": "org.apache.iceberg.spark.SparkCatalog",
        f"spark.sql.catalog.{CATALOG}.type": "hadoop",
        f"spark.sql.catalog.{CATALOG}.warehouse": warehouse,
        **_OWN,
    }


def archives(*sets: str) -> str:
    """Return what `spark.jars` takes to have these locked sets of archives."""
    return ",".join(str(path) for name in sets for path in jars.ensure(name))


def table_of(form: str, warehouse: str, name: str) -> str:
    """Return the name of a table in SQL."""
    return f"delta.`{warehouse}/{name}`" if form == "delta" else f"{CATALOG}.shop.{name}"


def create(spark: SparkSession, form: str, table: str, rows: int) -> int:
    """Make the table with rows of every order from 0 on, and return the snapshot or version to go back to."""
    layout = "" if form == "delta" else "PARTITIONED BY (bucket(4, order_id)) TBLPROPERTIES ('format-version' = '2')"
    spark.sql(
        f"""CREATE TABLE {table} USING {form} {layout} AS
        SELECT id AS order_id, id % 100000 AS customer_id, 'new' AS status, CAST(id AS double) / 4 AS total,
               concat('city ', CAST(id % 1000 AS string)) AS city, timestamp '2026-01-01 00:00:00' AS updated_at
        FROM range({rows})"""
    )
    if form == "delta":
        return 0
    (snapshot,) = spark.sql(f"SELECT snapshot_id FROM {table}.snapshots").first() or ()
    return int(snapshot)


def go_back(spark: SparkSession, form: str, table: str, snapshot: int) -> None:
    """Make the table what it was."""
    if form == "delta":
        spark.sql(f"RESTORE TABLE {table} TO VERSION AS OF {snapshot}")
    else:
        name = table.removeprefix(f"{CATALOG}.")
        spark.sql(f"CALL {CATALOG}.system.set_current_snapshot('{name}', {snapshot})")


def rows_of(form: str, warehouse: Path, name: str) -> pa.Table:
    """Return the rows of a table, read by PyIceberg or delta-rs."""
    if form == "delta":
        return DeltaTable(warehouse / name).to_pyarrow_table(columns=list(COLUMNS))
    return StaticTable.from_metadata(str(metadata_file(warehouse, name))).scan(selected_fields=COLUMNS).to_arrow()


def metadata_file(warehouse: Path, name: str) -> Path:
    """Return the newest metadata of the table."""
    folder = warehouse / "shop" / name / "metadata"
    return folder / f"v{(folder / 'version-hint.text').read_text().strip()}.metadata.json"


def merge(spark: SparkSession, changes: DataFrame, table: str) -> None:
    """Merge a batch's changes: the newest of each order counts. The body of many public scripts, see `examples`."""
    window = Window.partitionBy("order_id").orderBy(desc("updated_at"))
    newest = changes.withColumn("row_number", row_number().over(window)).filter(col("row_number") == 1)
    upserts = newest.drop("row_number").withColumn("updated_at", to_timestamp("updated_at"))
    upserts.createOrReplaceTempView("orders_upsert")
    spark.sql(
        f"""MERGE INTO {table} t
        USING (SELECT {", ".join(COLUMNS)} FROM orders_upsert) s
        ON t.order_id = s.order_id
        WHEN MATCHED AND s.status = 'deleted' THEN DELETE
        WHEN MATCHED AND s.updated_at >= t.updated_at THEN UPDATE SET *
        WHEN NOT MATCHED AND s.status <> 'deleted' THEN INSERT *"""
    )
