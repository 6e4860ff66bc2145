"""Flink SQL's side: schema given by hand, a JVM that stays, files that appear with each checkpoint, exactly-once."""

from __future__ import annotations

import re
import sys
import time
from pathlib import Path
from typing import Any

from benchmarks.drain.jvm import started
from benchmarks.drain.shapes import SHAPES
from benchmarks.side import Drain, serve

CHECKPOINT_EVERY = "1 s"
"""About as often as the other sides end a batch."""
RUNNING = "RUNNING"
LOOK_SECS = 0.005


def main(bootstrap: str, topic: str, _batch_rows: str, cores: str, shape: str) -> None:
    """Drain with one INSERT, from the begin of the topic to the end that it has when the query starts."""
    jvm: Any = started("flink-baseline").jvm
    columns = flink_columns(SHAPES[shape].ddl)

    def drain(given: Drain) -> float:
        conf = jvm.org.apache.flink.configuration.Configuration()
        for name, value in {
            "parallelism.default": cores,
            "execution.checkpointing.interval": CHECKPOINT_EVERY,
            "execution.checkpointing.mode": "EXACTLY_ONCE",
            "execution.checkpointing.dir": Path(given.checkpoint).as_uri(),
        }.items():
            conf.setString(name, value)
        settings = jvm.org.apache.flink.table.api.EnvironmentSettings.newInstance().inStreamingMode()
        tables = jvm.org.apache.flink.table.api.TableEnvironment.create(settings.withConfiguration(conf).build())
        tables.executeSql(
            f"""CREATE TABLE events ({columns}) WITH (
                'connector' = 'kafka', 'topic' = '{topic}', 'properties.bootstrap.servers' = '{bootstrap}',
                'scan.startup.mode' = 'earliest-offset', 'scan.bounded.mode' = 'latest-offset', 'format' = 'json')"""
        )
        tables.executeSql(
            f"""CREATE TABLE files ({columns}) PARTITIONED BY (`country`) WITH (
                'connector' = 'filesystem', 'path' = '{Path(given.table).as_uri()}',
                'format' = 'parquet', 'parquet.compression' = 'SNAPPY')"""
        )
        inserted = tables.executeSql("INSERT INTO files SELECT * FROM events")
        job = inserted.getJobClient().get()
        while job.getJobStatus().get().toString() != RUNNING:
            time.sleep(LOOK_SECS)  # noqa: TID251  the pace of a measurement, not of the product
        began = time.perf_counter()
        getattr(inserted, "await")()  # a keyword here
        for file in Path(given.table).glob("*/part-*"):
            file.rename(f"{file}.parquet")  # the name that the reader of all sides looks for; Flink gives no suffix
        return began

    serve(drain)


def flink_columns(ddl: str) -> str:
    """Return Flink's columns for those of Spark, every name in quotes."""
    return re.sub(r"(\w+):? (?=[A-Z])", r"`\1` ", ddl).replace("STRUCT<", "ROW<")


if __name__ == "__main__":
    main(*sys.argv[1:])
