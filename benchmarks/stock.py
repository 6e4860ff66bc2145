"""What a stock PySpark side does with a topic, in the shape Glue's own library gives a job: persist, count, infer."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

from pyspark.sql import DataFrame, SparkSession

from gluepot.servers import jars


def started(cores: str, settings: Mapping[str, str]) -> SparkSession:
    """Start Spark with its own Kafka source, and with what else the settings say."""
    archives = ",".join(str(path) for path in jars.ensure("spark-kafka-baseline"))
    always = {"spark.jars": archives, "spark.driver.host": "127.0.0.1", "spark.ui.enabled": "false"}
    return SparkSession.builder.master(f"local[{cores}]").config(map={**always, **settings}).getOrCreate()


def json_stream(spark: SparkSession, bootstrap: str, topic: str, batch_rows: str) -> DataFrame:
    """Return the stream of a topic of JSON documents from its begin, one column of text."""
    return (
        spark.readStream.format("kafka")
        .option("kafka.bootstrap.servers", bootstrap)
        .option("subscribe", topic)
        .option("startingOffsets", "earliest")
        .option("maxOffsetsPerTrigger", batch_rows)
        .load()
        .selectExpr("CAST(value AS STRING) AS value")
    )


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

    def process(batch: DataFrame, batch_id: int) -> None:  # noqa: ARG001
        called.append(time.perf_counter())
        batch.persist()
        if batch.count() > 0:
            use(spark.read.json(batch.rdd.map(lambda row: row.value)))
        batch.unpersist()

    query = (
        json_stream(spark, bootstrap, topic, batch_rows)
        .writeStream.foreachBatch(process)
        .option("checkpointLocation", checkpoint)
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()
    return called[0]
