"""Stock PySpark's side, in the shape Glue's own library gives a job: persist, count, infer, then the same script.

`python -m benchmarks.sql.stock BOOTSTRAP TOPIC BATCH_ROWS CORES`.
"""

from __future__ import annotations

import sys

from pyspark.sql import DataFrame

from benchmarks.side import Drain, serve
from benchmarks.sql import upsert
from benchmarks.stock import Infer, for_each_batch, inferred_through_python, started


def used(infer: Infer, bootstrap: str, topic: str, batch_rows: str, cores: str) -> None:
    """Use each batch as rows; `infer` makes them."""
    spark = started(cores, {"spark.sql.session.timeZone": "UTC"})
    upsert.known(spark)

    def drain(given: Drain) -> float:
        def use(clicks: DataFrame) -> None:
            upsert.merge(spark, clicks, given.table)

        return for_each_batch(spark, bootstrap, topic, batch_rows, given.checkpoint, use, infer)

    serve(drain)


if __name__ == "__main__":
    used(inferred_through_python, *sys.argv[1:])
