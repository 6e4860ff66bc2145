"""Stock Spark's side: `python -m benchmarks.tpc.stock FOLDER SUITE CORES`, the script in plain PySpark."""

from __future__ import annotations

import sys
import time

from pyspark.sql import SparkSession

from benchmarks.side import Drain, serve
from benchmarks.tpc.suite import DRIVER_MEMORY, queries_of, tables_in, tables_of


def main(folder: str, suite: str, cores: str) -> None:
    """Serve the queries by their names."""
    tables = tables_of(folder)
    queries = queries_of(suite, tables)
    builder = SparkSession.builder.master(f"local[{cores}]").config("spark.sql.session.timeZone", "UTC")
    builder = builder.config("spark.driver.memory", DRIVER_MEMORY).config("spark.ui.enabled", "false")
    spark = builder.config("spark.driver.host", "127.0.0.1").getOrCreate()

    def run(given: Drain) -> float:
        query = queries[given.way]
        began = time.perf_counter()
        for name in tables_in(query, tables):
            spark.read.parquet(f"{folder}/{name}.parquet").createOrReplaceTempView(name)
        result = spark.sql(query)
        result.toDF(*(f"c{number}" for number in range(len(result.columns)))).write.parquet(given.table)
        return began

    serve(run)


if __name__ == "__main__":
    main(*sys.argv[1:])
