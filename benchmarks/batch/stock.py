"""Stock Spark's side: `python -m benchmarks.batch.stock FOLDER CORES`, the jobs as scripts of plain PySpark."""

from __future__ import annotations

import sys
import time

from pyspark.sql import DataFrame, SparkSession

from benchmarks.batch.statements import AGGREGATION, PARTITION_KEY, selected
from benchmarks.side import Drain, serve


def main(folder: str, cores: str) -> None:
    """Serve both kinds of job, named as `sql json`. JSON's schema is inferred, columns of CSV are texts."""
    builder = SparkSession.builder.master(f"local[{cores}]").config("spark.sql.session.timeZone", "UTC")
    spark = builder.config("spark.ui.enabled", "false").config("spark.driver.host", "127.0.0.1").getOrCreate()

    def rows_of(form: str) -> DataFrame:
        return spark.read.json(f"{folder}/json") if form == "json" else spark.read.csv(f"{folder}/csv", header=True)

    def run(given: Drain) -> float:
        kind, form = given.way.split()
        began = time.perf_counter()
        rows_of(form).createOrReplaceTempView("orders")
        if kind == "sql":
            spark.sql(AGGREGATION).write.parquet(given.table)
        else:
            mapped = spark.sql(f"SELECT {selected(form)} FROM orders")
            mapped.write.partitionBy(PARTITION_KEY).parquet(given.table)
        return began

    serve(run)


if __name__ == "__main__":
    main(*sys.argv[1:])
