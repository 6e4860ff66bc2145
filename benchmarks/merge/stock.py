"""Stock PySpark's side, in the shape Glue's own library gives a job: persist, count, infer, then the same script.

`python -m benchmarks.merge.stock BOOTSTRAP TOPIC BATCH_ROWS CORES WAREHOUSE ROWS`.
"""

from __future__ import annotations

import sys
import time

from pyspark.sql import DataFrame, SparkSession

from benchmarks.drain.side import Drain, serve
from benchmarks.merge import orders


def main(bootstrap: str, topic: str, batch_rows: str, cores: str, warehouse: str, rows: str) -> None:
    """Merge with `foreachBatch` on Spark's own Kafka source."""
    builder = SparkSession.builder.master(f"local[{cores}]").config("spark.sql.session.timeZone", "UTC")
    builder = builder.config("spark.jars", orders.archives("iceberg", "spark-kafka-baseline"))
    spark = builder.config(map=orders.catalog_conf(warehouse)).getOrCreate()
    table = "orders_stock"
    base = orders.create(spark, table, int(rows))

    def drain(given: Drain) -> float:
        called: list[float] = []
        orders.go_back(spark, table, base)
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
                orders.merge(spark, spark.read.json(batch.rdd.map(lambda row: row.value)), given.table)
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
