"""Gluepot's side: the calls a Glue script makes, nothing else."""

from __future__ import annotations

import sys
import time

from pyspark.conf import SparkConf
from pyspark.context import SparkContext
from pyspark.sql import DataFrame

from awsglue import DynamicFrame
from awsglue.context import GlueContext
from benchmarks.drain.side import Drain, serve
from streaming import session
from streaming.session import StreamSession


def main(bootstrap: str, topic: str, batch_rows: str, cores: str) -> None:
    """Drain with `forEachBatch`, exactly-once, schema unknown."""
    glue_context = GlueContext(SparkContext(conf=SparkConf().setMaster(f"local[{cores}]")))

    def drain(given: Drain) -> float:
        called: list[float] = []
        session.install(StreamSession(drain=session.Drain(until_caught_up=True)))
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
            if data_frame.count() == 0:
                return
            glue_context.write_dynamic_frame.from_options(
                frame=DynamicFrame.fromDF(data_frame, glue_context, "events"),
                connection_type="s3",
                connection_options={"path": given.table, "partitionKeys": ["country"]},
                format="glueparquet",
                format_options={"compression": "snappy"},
            )

        glue_context.forEachBatch(
            frame=frame,
            batch_function=process,
            options={"windowSize": "1 second", "checkpointLocation": given.checkpoint},
        )
        return called[0]

    serve(drain)


if __name__ == "__main__":
    main(*sys.argv[1:])
