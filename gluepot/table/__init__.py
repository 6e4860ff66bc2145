"""Tables that jobs wrote, read through their manifests: whole batches only, at any instant.

import gluepot.table

clicks = gluepot.table.open("s3://lake/clicks")
clicks.to_arrow(["event_id", "day"])
clicks.duckdb(name="clicks").sql("SELECT day, count(*) FROM clicks GROUP BY day")

gluepot.table.register(spark)               # a GlueContext has done it already
spark.read.format("gluepot").load("s3://lake/clicks")
"""

from batch.table import Table
from batch.table import open_table as open  # noqa: A004  always with its module's name before it
from batch.table.spark import register

__all__ = ["Table", "open", "register"]
