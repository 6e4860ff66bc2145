"""What a stock PySpark side does with a topic: it persists, counts and infers its records."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.classic.dataframe import DataFrame as ClassicDataFrame

from benchmarks.side import master_of
from gluepot.servers import jars


def started(machine: str, settings: Mapping[str, str]) -> SparkSession:
    """Start Spark with its own Kafka source, and with what else the settings say; `machine` as in `master_of`."""
    archives = ",".join(str(path) for path in jars.ensure("spark-kafka"))
    always = {"spark.jars": archives, "spark.driver.host": "127.0.0.1", "spark.ui.enabled": "false"}
    return SparkSession.builder.master(master_of(machine)).config(map={**always, **settings}).getOrCreate()


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


Infer = Callable[[SparkSession, DataFrame], DataFrame]
"""Makes rows of a column of JSON texts, with the schema that the texts have."""


def inferred_through_python(spark: SparkSession, texts: DataFrame) -> DataFrame:
    """Infer as Glue's library does: each text goes through a Python function on its way to Spark's inference."""
    return spark.read.json(texts.rdd.map(lambda row: row.value))


def inferred_in_jvm(spark: SparkSession, texts: DataFrame) -> DataFrame:
    """Infer without Python: Spark's reader takes a Dataset of texts, which PySpark hides behind its RDD of texts."""
    jvm = spark.sparkContext._jvm  # noqa: SLF001  here and below: scripts that do this have no other way
    assert jvm is not None
    as_texts = getattr(texts._jdf, "as")(jvm.org.apache.spark.sql.Encoders.STRING())  # noqa: SLF001
    return ClassicDataFrame(spark._jsparkSession.read().json(as_texts), spark)  # noqa: SLF001


def in_glue_shape(
    spark: SparkSession, use: Callable[[DataFrame], None], called: list[float], infer: Infer = inferred_through_python
) -> Callable[[DataFrame, int], None]:
    """Return a batch function that persists, counts and infers, then uses the rows.

    Args:
        spark: the session.
        use: what is done with the rows of a batch.
        called: gets `time.perf_counter()` of each call.
        infer: makes the rows.
    """

    def process(batch: DataFrame, batch_id: int) -> None:  # noqa: ARG001
        called.append(time.perf_counter())
        batch.persist()
        if batch.count() > 0:
            use(infer(spark, batch))
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
    spark: SparkSession,
    bootstrap: str,
    topic: str,
    batch_rows: str,
    checkpoint: str,
    use: Callable[[DataFrame], None],
    infer: Infer = inferred_through_python,
) -> float:
    """Drain a topic through Spark's own Kafka source; return `time.perf_counter()` of the first batch.

    Args:
        spark: the session.
        bootstrap: `host:port` of the broker.
        topic: a topic of JSON documents.
        batch_rows: limit of a batch.
        checkpoint: an empty folder.
        use: what is done with the rows of a batch.
        infer: makes the rows.
    """
    called: list[float] = []
    query = (
        json_stream(spark, bootstrap, topic, maxOffsetsPerTrigger=batch_rows)
        .writeStream.foreachBatch(in_glue_shape(spark, use, called, infer))
        .option("checkpointLocation", checkpoint)
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()
    return called[0]
