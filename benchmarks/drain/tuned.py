"""Stock PySpark's side as an expert writes it: schema given by hand, nothing read twice, checkpoints without forks."""

from __future__ import annotations

import sys
import time

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812  the name everybody gives it

from benchmarks.drain.shapes import SHAPES
from benchmarks.side import Drain, serve
from benchmarks.stock import json_stream, started

SETTINGS = {
    "spark.sql.streaming.checkpointFileManagerClass": (
        "org.apache.spark.sql.execution.streaming.checkpointing.FileSystemBasedCheckpointFileManager"
    ),
    "spark.hadoop.fs.file.impl": "org.apache.hadoop.fs.RawLocalFileSystem",
}


def main(bootstrap: str, topic: str, batch_rows: str, cores: str, shape: str) -> None:
    """Drain with `foreachBatch` on Spark's own Kafka source."""
    spark = started(cores, SETTINGS)
    schema = SHAPES[shape].ddl

    def drain(given: Drain) -> float:
        called: list[float] = []

        def write(batch: DataFrame, batch_id: int) -> None:  # noqa: ARG001
            called.append(time.perf_counter())
            batch.write.mode("append").partitionBy("country").parquet(given.table)

        rows = json_stream(spark, bootstrap, topic, maxOffsetsPerTrigger=batch_rows).select(
            F.from_json("value", schema).alias("row")
        )
        query = (
            rows.select("row.*")
            .writeStream.foreachBatch(write)
            .option("checkpointLocation", given.checkpoint)
            .trigger(availableNow=True)
            .start()
        )
        query.awaitTermination()
        return called[0]

    serve(drain)


if __name__ == "__main__":
    main(*sys.argv[1:])
