"""Gluepot's side: the calls a Glue script makes, nothing else."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

from pyspark.conf import SparkConf
from pyspark.context import SparkContext
from pyspark.sql import DataFrame

from awsglue import DynamicFrame
from awsglue.context import GlueContext
from benchmarks.drain.side import Drain, serve
from streaming import session
from streaming.session import StreamSession

DRAIN = session.Drain(until_caught_up=True)


@contextmanager
def unwatched() -> Iterator[StreamSession]:
    """Give the services of a run that nobody looks at."""
    yield StreamSession(drain=DRAIN)


def main(
    bootstrap: str,
    topic: str,
    batch_rows: str,
    cores: str,
    opened: Callable[[], AbstractContextManager[StreamSession]] = unwatched,
) -> None:
    """Drain with `forEachBatch`, exactly-once, schema unknown; a session is opened for each drain."""
    glue_context = GlueContext(SparkContext(conf=SparkConf().setMaster(f"local[{cores}]")))

    def drain(given: Drain) -> float:
        called: list[float] = []
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

        with opened() as services:
            session.install(services)
            glue_context.forEachBatch(
                frame=frame,
                batch_function=process,
                options={"windowSize": "1 second", "checkpointLocation": given.checkpoint},
            )
        return called[0]

    serve(drain)


if __name__ == "__main__":
    main(*sys.argv[1:])
