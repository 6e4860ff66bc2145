"""Stock PySpark's side, in the shape Glue's own library gives a job: persist, count, infer, partitioned write."""

from __future__ import annotations

import sys

from pyspark.sql import DataFrame

from benchmarks.side import Drain, serve
from benchmarks.stock import Infer, for_each_batch, inferred_through_python, started


def drained(infer: Infer, bootstrap: str, topic: str, batch_rows: str, cores: str) -> None:
    """Drain with `foreachBatch` on Spark's own Kafka source; `infer` makes the rows of a batch."""
    spark = started(cores, {})

    def drain(given: Drain) -> float:
        def write(events: DataFrame) -> None:
            events.write.mode("append").partitionBy("country").parquet(given.table)

        return for_each_batch(spark, bootstrap, topic, batch_rows, given.checkpoint, write, infer)

    serve(drain)


if __name__ == "__main__":
    drained(inferred_through_python, *sys.argv[1:5])
