"""Tables of a lake as readers that are not Spark see them."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

from deltalake import DeltaTable
from pyiceberg.table import StaticTable

FORMATS = ("iceberg", "delta")
GLUE_CATALOG = {
    "": "org.apache.iceberg.spark.SparkCatalog",
    ".catalog-impl": "org.apache.iceberg.aws.glue.GlueCatalog",
    ".io-impl": "org.apache.iceberg.aws.s3.S3FileIO",
}


def glue_catalog(warehouse: Path | str) -> list[str]:
    """The --conf of Glue's guide for Iceberg, packed into one value as Glue has it."""
    settings = {**GLUE_CATALOG, ".warehouse": str(warehouse)}
    packed = " --conf ".join(f"spark.sql.catalog.glue_catalog{key}={value}" for key, value in settings.items())
    return ["--conf", packed]


def iceberg_table(state: Path, name: str) -> StaticTable:
    """The newest snapshot of a table in the local catalog."""
    with closing(sqlite3.connect(f"file:{state}/catalog.db?mode=ro", uri=True)) as opened:
        found = opened.execute("SELECT metadata_location FROM iceberg_tables WHERE table_name = ?", [name])
        (location,) = found.fetchone()
    return StaticTable.from_metadata(location)


def iceberg_rows(state: Path, name: str, *columns: str) -> list[dict[str, Any]]:
    return iceberg_table(state, name).scan(selected_fields=columns).to_arrow().to_pylist()


def delta_rows(path: Path, *columns: str) -> list[dict[str, Any]]:
    return DeltaTable(path).to_pyarrow_table(columns=list(columns)).to_pylist()
