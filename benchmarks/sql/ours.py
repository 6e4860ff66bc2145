"""Gluepot's side: `python -m benchmarks.sql.ours BOOTSTRAP TOPIC BATCH_ROWS CORES`."""

from __future__ import annotations

import sys

from pyspark.conf import SparkConf
from pyspark.context import SparkContext

from awsglue import DynamicFrame
from awsglue.context import GlueContext
from benchmarks.ours import for_each_batch, json_stream
from benchmarks.side import Drain, serve
from benchmarks.sql import upsert
from gluepot.streaming.query import session
from gluepot.streaming.query.session import StreamSession


def main(bootstrap: str, topic: str, batch_rows: str, cores: str) -> None:
    """Use each batch as rows, schema unknown."""
    glue_context = GlueContext(SparkContext(conf=SparkConf().setMaster(f"local[{cores}]")))
    spark = glue_context.spark_session
    upsert.known(spark)
    session.install(StreamSession(drain=session.Drain(until_caught_up=True)))

    def drain(given: Drain) -> float:
        def use(clicks: DynamicFrame) -> None:
            upsert.merge(spark, clicks.toDF(), given.table)

        frame = json_stream(glue_context, bootstrap, topic, maxOffsetsPerTrigger=batch_rows)
        return for_each_batch(glue_context, frame, given.checkpoint, use)

    serve(drain)


if __name__ == "__main__":
    main(*sys.argv[1:])
