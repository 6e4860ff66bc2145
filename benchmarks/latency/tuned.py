"""Stock PySpark's side as an expert writes it: schema given by hand, nothing read twice, checkpoints without forks.

`python -m benchmarks.latency.tuned BOOTSTRAP TOPIC SECS CORES SHAPE [WINDOW_SECS]`.
"""

from __future__ import annotations

import sys
import time

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812  the name everybody gives it

from benchmarks.drain.shapes import SHAPES
from benchmarks.drain.tuned import SETTINGS
from benchmarks.side import Drain, serve
from benchmarks.stock import json_stream, run_for, started


def main(bootstrap: str, topic: str, secs: str, cores: str, shape: str, window_secs: str = "0") -> None:
    """Write with `foreachBatch`, a batch each window, or one after the other, for so long."""
    spark = started(cores, SETTINGS)
    schema = f"{SHAPES[shape].ddl}, sent_ms DOUBLE"

    def run(given: Drain) -> float:
        called: list[float] = []

        def write(batch: DataFrame, batch_id: int) -> None:  # noqa: ARG001
            called.append(time.perf_counter())
            batch.write.mode("append").partitionBy("country").parquet(given.table)

        rows = json_stream(spark, bootstrap, topic).select(F.from_json("value", schema).alias("row")).select("row.*")
        run_for(float(secs), rows, write, given.checkpoint, window_secs)
        return called[0]

    serve(run)


if __name__ == "__main__":
    main(*sys.argv[1:])
