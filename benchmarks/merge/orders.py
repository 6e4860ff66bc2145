"""The table of orders and the part of a script that both sides have word for word."""

from __future__ import annotations

from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.functions import col, desc, row_number, to_timestamp
from pyspark.sql.window import Window

from gluepot.servers import jars

CATALOG = "lake"
COLUMNS = ("order_id", "customer_id", "status", "total", "city", "updated_at")


def catalog_conf(warehouse: str) -> dict[str, str]:
    """Return the settings of the catalog: a folder, which needs no server and no database."""
    return {
        "spark.sql.extensions": "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
        f"spark.sql.catalog.{CATALOG}": "org.apache.iceberg.spark.SparkCatalog",
        f"spark.sql.catalog.{CATALOG}.type": "hadoop",
        f"spark.sql.catalog.{CATALOG}.warehouse": warehouse,
        "spark.driver.host": "127.0.0.1",
        "spark.ui.enabled": "false",
    }


def archives(*sets: str) -> str:
    """Return what `spark.jars` takes to have these locked sets of archives."""
    return ",".join(str(path) for name in sets for path in jars.ensure(name))


def create(spark: SparkSession, name: str, rows: int) -> int:
    """Make the table with rows of every order from 0 on, and return the snapshot to go back to."""
    spark.sql(
        f"""CREATE TABLE {CATALOG}.shop.{name} USING iceberg PARTITIONED BY (bucket(4, order_id))
        TBLPROPERTIES ('format-version' = '2') AS
        SELECT id AS order_id, id % 100000 AS customer_id, 'new' AS status, CAST(id AS double) / 4 AS total,
               concat('city ', CAST(id % 1000 AS string)) AS city, timestamp '2026-01-01 00:00:00' AS updated_at
        FROM range({rows})"""
    )
    (snapshot,) = spark.sql(f"SELECT snapshot_id FROM {CATALOG}.shop.{name}.snapshots").first() or ()
    return int(snapshot)


def go_back(spark: SparkSession, name: str, snapshot: int) -> None:
    """Make the table what it was."""
    spark.sql(f"CALL {CATALOG}.system.set_current_snapshot('shop.{name}', {snapshot})")


def metadata_file(warehouse: Path, name: str) -> Path:
    """Return the newest metadata of the table."""
    folder = warehouse / "shop" / name / "metadata"
    return folder / f"v{(folder / 'version-hint.text').read_text().strip()}.metadata.json"


def merge(spark: SparkSession, changes: DataFrame, name: str) -> None:
    """Merge a batch's changes: the newest of each order counts. The body of many public scripts, see `examples`."""
    window = Window.partitionBy("order_id").orderBy(desc("updated_at"))
    newest = changes.withColumn("row_number", row_number().over(window)).filter(col("row_number") == 1)
    upserts = newest.drop("row_number").withColumn("updated_at", to_timestamp("updated_at"))
    upserts.createOrReplaceTempView("orders_upsert")
    spark.sql(
        f"""MERGE INTO {CATALOG}.shop.{name} t
        USING (SELECT {", ".join(COLUMNS)} FROM orders_upsert) s
        ON t.order_id = s.order_id
        WHEN MATCHED AND s.status = 'deleted' THEN DELETE
        WHEN MATCHED AND s.updated_at >= t.updated_at THEN UPDATE SET *
        WHEN NOT MATCHED AND s.status <> 'deleted' THEN INSERT *"""
    )
