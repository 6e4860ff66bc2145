"""What a stock PySpark side does with a topic, in the shape Glue's own library gives a job: persist, count, infer."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

from pyspark.sql import DataFrame, SparkSession

from gluepot.servers import jars


def started(cores: str, settings: Mapping[str, str]) -> SparkSession:
    """Start Spark with its own Kafka source, and with what else the settings say."""
    archives = ",".join(str(path) for path in jars.ensure("spark-kafka"))
    always = {"spark.jars": archives, "spark.driver.host": "127.0.0.1", "spark.ui.enabled": "false"}
    return SparkSession.builder.master(f"local[{cores}]").config(map={**always, **settings}).getOrCreate()


def json_stream(spark: SparkSession, bootstrap: str, topic: str, **options: str) -> DataFrame:
    """Return the stream of a topic of JSON documents from its begin, one column of text; `options` are further ones."""
    return (
        spark.readStream.format("kafka")
        .option("kafka.bootstrap.servers", bootstrap)
        .option("subscribe", topic)
        .option("startingOffsets", "earliest")
        .options(**options)
        .load()
        .selectExpr("CAST(value AS STRING) AS value")
    )


def in_glue_shape(
    spark: SparkSession, use: Callable[[DataFrame], None], called: list[float]
) -> Callable[[DataFrame, int], None]:
    """Return a batch function that persists, counts and infers, then uses the rows.

    Args:
        spark: the session.
        use: what is done with the rows of a batch.
        called: gets `time.perf_counter()` of each call.
    """

    def process(batch: DataFrame, batch_id: int) -> None:  # noqa: ARG001
        called.append(time.perf_counter())
        batch.persist()
        if batch.count() > 0:
            use(spark.read.json(batch.rdd.map(lambda row: row.value)))
        batch.unpersist()

    return process


def run_for(
    secs: float, rows: DataFrame, process: Callable[[DataFrame, int], None], checkpoint: str, window_secs: str
) -> None:
    """Run a stream for a time, a batch each window; where that is 0, as soon as the one before has ended."""
    query = (
        rows.writeStream.foreachBatch(process)
        .trigger(processingTime=f"{window_secs} seconds")
        .option("checkpointLocation", checkpoint)
        .start()
    )
    query.awaitTermination(secs)  # type: ignore[arg-type]  # fractions of a second work
    query.stop()


def for_each_batch(
    spark: SparkSession, bootstrap: str, topic: str, batch_rows: str, checkpoint: str, use: Callable[[DataFrame], None]
) -> float:
    """Drain a topic through Spark's own Kafka source; return `time.perf_counter()` of the first batch.

    Args:
        spark: the session.
        bootstrap: `host:port` of the broker.
        topic: a topic of JSON documents.
        batch_rows: limit of a batch.
        checkpoint: an empty folder.
        use: what is done with the rows of a batch.
    """
    called: list[float] = []
    query = (
        json_stream(spark, bootstrap, topic, maxOffsetsPerTrigger=batch_rows)
        .writeStream.foreachBatch(in_glue_shape(spark, use, called))
        .option("checkpointLocation", checkpoint)
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()
    return called[0]
