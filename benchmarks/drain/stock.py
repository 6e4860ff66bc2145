"""Stock PySpark's side, in the shape Glue's own library gives a job: persist, count, infer, partitioned write."""

from __future__ import annotations

import sys

from pyspark.sql import DataFrame, SparkSession

from benchmarks.side import Drain, serve
from benchmarks.stock import for_each_batch
from gluepot.servers import jars


def main(bootstrap: str, topic: str, batch_rows: str, cores: str) -> None:
    """Drain with `foreachBatch` on Spark's own Kafka source."""
    archives = ",".join(str(path) for path in jars.ensure("spark-kafka-baseline"))
    spark = (
        SparkSession.builder.master(f"local[{cores}]")
        .config("spark.jars", archives)
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.ui.enabled", "false")
        .getOrCreate()
    )

    def drain(given: Drain) -> float:
        def write(events: DataFrame) -> None:
            events.write.mode("append").partitionBy("country").parquet(given.table)

        return for_each_batch(spark, bootstrap, topic, batch_rows, given.checkpoint, write)

    serve(drain)


if __name__ == "__main__":
    main(*sys.argv[1:])
