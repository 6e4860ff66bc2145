"""Stock PySpark's side: `python -m benchmarks.startup.stock BOOTSTRAP TOPIC CHECKPOINT TABLE CORES`."""

from __future__ import annotations

import sys

from pyspark.sql import DataFrame

from benchmarks.stock import for_each_batch, started


def main(bootstrap: str, topic: str, checkpoint: str, table: str, cores: str) -> None:
    """Start Spark and write what there is, in the shape of Glue's library."""

    def write(events: DataFrame) -> None:
        events.write.mode("append").partitionBy("country").parquet(table)

    for_each_batch(started(cores, {}), bootstrap, topic, "1000000", checkpoint, write)


if __name__ == "__main__":
    main(*sys.argv[1:])
