"""What a stock PySpark side does with a topic, in the shape Glue's own library gives a job: persist, count, infer."""

from __future__ import annotations

import time
from collections.abc import Callable

from pyspark.sql import DataFrame, SparkSession


def for_each_batch(
    spark: SparkSession, bootstrap: str, topic: str, batch_rows: str, checkpoint: str, use: Callable[[DataFrame], None]
) -> float:
    """Drain a topic through Spark's own Kafka source; return `time.perf_counter()` of the first batch.

    Args:
        spark: the session.
        bootstrap: `host:port` of the broker.
        topic: of JSON documents.
        batch_rows: limit of a batch.
        checkpoint: an empty folder.
        use: what is done with the rows of a batch.
    """
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
            use(spark.read.json(batch.rdd.map(lambda row: row.value)))
        batch.unpersist()

    query = (
        stream.writeStream.foreachBatch(process)
        .option("checkpointLocation", checkpoint)
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()
    return called[0]
