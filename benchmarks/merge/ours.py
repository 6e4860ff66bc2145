"""Gluepot's side: `python -m benchmarks.merge.ours FORMAT BOOTSTRAP TOPIC BATCH_ROWS CORES WAREHOUSE ROWS`."""

from __future__ import annotations

import sys

from pyspark.conf import SparkConf
from pyspark.context import SparkContext

from awsglue import DynamicFrame
from awsglue.context import GlueContext
from benchmarks.merge import orders
from benchmarks.ours import for_each_batch, json_stream
from benchmarks.side import Drain, serve
from gluepot.datalake.settings import with_formats
from gluepot.servers import jars
from gluepot.streaming.query import session
from gluepot.streaming.query.session import StreamSession


def main(form: str, bootstrap: str, topic: str, batch_rows: str, cores: str, warehouse: str, rows: str) -> None:
    """Merge with `forEachBatch`, schema unknown."""
    given = {"spark.master": f"local[{cores}]", **orders.catalog_conf(form, warehouse)}
    settings = with_formats(given, [form], jars.ensure(form))
    glue_context = GlueContext(SparkContext(conf=SparkConf().setAll(list(settings.items()))))
    spark = glue_context.spark_session
    table = orders.table_of(form, warehouse, "orders_gluepot")
    base = orders.create(spark, form, table, int(rows))
    session.install(StreamSession(drain=session.Drain(until_caught_up=True)))

    def drain(given: Drain) -> float:
        orders.go_back(spark, form, table, base)

        def merge(changes: DynamicFrame) -> None:
            orders.merge(spark, changes.toDF(), table)

        frame = json_stream(glue_context, bootstrap, topic, maxOffsetsPerTrigger=batch_rows)
        return for_each_batch(glue_context, frame, given.checkpoint, merge)

    serve(drain)


if __name__ == "__main__":
    main(*sys.argv[1:])
