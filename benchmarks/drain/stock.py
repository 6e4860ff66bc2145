"""Stock PySpark's side, in the shape Glue's own library gives a job: persist, count, infer, partitioned write."""

from __future__ import annotations

import sys
import time

from pyspark.sql import DataFrame, SparkSession

from benchmarks.drain.side import Drain, serve
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
        called: list[float] = []
        stream = (
            spark.readStream.format("kafka")
            .option("kafka.bootstrap.servers", bootstrap)
            .option("subscribe", topic)
            .option("startingOffsets", "earliest")
            .option("maxOffsetsPerTrigger", batch_rows)
            .load()
            .selectExpr("CAST(value AS STRING) AS value")
        )

        def process(batch: DataFrame, batch_id: int) -> None:  # noqa: ARG001
            called.append(time.perf_counter())
            batch.persist()
            if batch.count() > 0:
                events = spark.read.json(batch.rdd.map(lambda row: row.value))
                events.write.mode("append").partitionBy("country").parquet(given.table)
            batch.unpersist()

        query = (
            stream.writeStream.foreachBatch(process)
            .option("checkpointLocation", given.checkpoint)
            .trigger(availableNow=True)
            .start()
        )
        query.awaitTermination()
        return called[0]

    serve(drain)


if __name__ == "__main__":
    main(*sys.argv[1:])
