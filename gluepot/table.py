"""Tables that jobs wrote, read through their manifests: whole batches only, at any instant.

import gluepot.table

clicks = gluepot.table.open("s3://lake/clicks")
clicks.to_arrow(["event_id", "day"])
clicks.duckdb(name="clicks").sql("SELECT day, count(*) FROM clicks GROUP BY day")

gluepot.table.register(spark)               # a GlueContext has done it already
spark.read.format("gluepot").load("s3://lake/clicks")
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gluepot.tables import Table
from gluepot.tables import open_table as open  # noqa: A004  always with its module's name before it

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["Table", "open", "register"]


def register(spark: SparkSession) -> None:
    """Make `spark.read.format("gluepot")` known to a session and the session active; again is harmless."""
    from gluepot.tables.spark import register as register_source  # noqa: PLC0415  readers of Arrow need no Spark

    register_source(spark)
