"""Gluepot's side: `python -m benchmarks.merge.ours BOOTSTRAP TOPIC BATCH_ROWS CORES WAREHOUSE ROWS`."""

from __future__ import annotations

import sys
import time

from pyspark.conf import SparkConf
from pyspark.context import SparkContext
from pyspark.sql import DataFrame

from awsglue import DynamicFrame
from awsglue.context import GlueContext
from benchmarks.drain.side import Drain, serve
from benchmarks.merge import orders
from streaming import session
from streaming.session import StreamSession


def main(bootstrap: str, topic: str, batch_rows: str, cores: str, warehouse: str, rows: str) -> None:
    """Merge with `forEachBatch`, schema unknown."""
    conf = SparkConf().setMaster(f"local[{cores}]").setAll(list(orders.catalog_conf(warehouse).items()))
    glue_context = GlueContext(SparkContext(conf=conf.set("spark.jars", orders.archives("iceberg"))))
    spark = glue_context.spark_session
    table = "orders_gluepot"
    base = orders.create(spark, table, int(rows))
    session.install(StreamSession(drain=session.Drain(until_caught_up=True)))

    def drain(given: Drain) -> float:
        called: list[float] = []
        orders.go_back(spark, table, base)
        frame = glue_context.create_data_frame.from_options(
            connection_type="kafka",
            connection_options={
                "bootstrap.servers": bootstrap,
                "topicName": topic,
                "startingOffsets": "earliest",
                "classification": "json",
                "inferSchema": "true",
                "maxOffsetsPerTrigger": batch_rows,
            },
        )

        def process(data_frame: DataFrame, batch_id: int) -> None:  # noqa: ARG001
            called.append(time.perf_counter())
            if data_frame.count() > 0:
                orders.merge(spark, DynamicFrame.fromDF(data_frame, glue_context, "changes").toDF(), given.table)

        glue_context.forEachBatch(
            frame=frame,
            batch_function=process,
            options={"windowSize": "1 second", "checkpointLocation": given.checkpoint},
        )
        return called[0]

    serve(drain)


if __name__ == "__main__":
    main(*sys.argv[1:])
