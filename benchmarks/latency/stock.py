"""Stock PySpark's side, in the shape Glue's own library gives a job.

`python -m benchmarks.latency.stock BOOTSTRAP TOPIC SECS CORES SHAPE [WINDOW_SECS]`.
"""

from __future__ import annotations

import sys

from pyspark.sql import DataFrame

from benchmarks.side import Drain, serve
from benchmarks.stock import in_glue_shape, json_stream, run_for, started


def main(bootstrap: str, topic: str, secs: str, cores: str, _shape: str, window_secs: str = "0") -> None:
    """Persist, count, infer and write with `foreachBatch`, a batch each window, or one after the other, for so long."""
    spark = started(cores, {})

    def run(given: Drain) -> float:
        def write(batch: DataFrame) -> None:
            batch.write.mode("append").partitionBy("country").parquet(given.table)

        called: list[float] = []
        rows, process = json_stream(spark, bootstrap, topic), in_glue_shape(spark, write, called)
        run_for(float(secs), rows, process, given.checkpoint, window_secs)
        return called[0]

    serve(run)


if __name__ == "__main__":
    main(*sys.argv[1:])
