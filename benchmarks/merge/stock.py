"""Stock PySpark's side, in the shape Glue's own library gives a job: persist, count, infer, then the same script.

`python -m benchmarks.merge.stock FORMAT BOOTSTRAP TOPIC BATCH_ROWS CORES WAREHOUSE ROWS`.
"""

from __future__ import annotations

import sys

from pyspark.sql import DataFrame, SparkSession

from benchmarks.merge import orders
from benchmarks.side import Drain, serve
from benchmarks.stock import Infer, for_each_batch, inferred_through_python


def main(
    side: str,
    infer: Infer,
    form: str,
    bootstrap: str,
    topic: str,
    batch_rows: str,
    cores: str,
    warehouse: str,
    rows: str,
) -> None:
    """Merge with `foreachBatch` on Spark's own Kafka source.

    Args:
        side: the side's table.
        infer: makes the rows of a batch.
        form: of the table.
        bootstrap: `host:port` of the broker.
        topic: a topic of changes.
        batch_rows: limit of a batch.
        cores: of Spark.
        warehouse: folder of the tables.
        rows: of the table at the begin.
    """
    builder = SparkSession.builder.master(f"local[{cores}]").config("spark.sql.session.timeZone", "UTC")
    builder = builder.config("spark.jars", orders.archives(form, "spark-kafka"))
    spark = builder.config(map=orders.catalog_conf(form, warehouse)).getOrCreate()
    table = orders.table_of(form, warehouse, side)
    base = orders.create(spark, form, table, int(rows))

    def drain(given: Drain) -> float:
        orders.go_back(spark, form, table, base)

        def merge(changes: DataFrame) -> None:
            orders.merge(spark, changes, table)

        return for_each_batch(spark, bootstrap, topic, batch_rows, given.checkpoint, merge, infer)

    serve(drain)


if __name__ == "__main__":
    main("orders_stock", inferred_through_python, *sys.argv[1:])
