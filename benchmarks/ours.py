"""What a side of ours does with a topic: the calls a Glue script makes, nothing else."""

from __future__ import annotations

import time
from collections.abc import Callable

from pyspark.sql import DataFrame

from awsglue import DynamicFrame
from awsglue.context import GlueContext


def json_stream(glue_context: GlueContext, bootstrap: str, topic: str, **options: str) -> DataFrame:
    """Return the stream of a topic of JSON documents from its begin, schema unknown; `options` are further ones."""
    return glue_context.create_data_frame.from_options(
        connection_type="kafka",
        connection_options={
            "bootstrap.servers": bootstrap,
            "topicName": topic,
            "startingOffsets": "earliest",
            "classification": "json",
            "inferSchema": "true",
            **options,
        },
    )


def by_country(glue_context: GlueContext, folder: str) -> Callable[[DynamicFrame], None]:
    """Return what writes events into a table partitioned by country."""

    def write(events: DynamicFrame) -> None:
        glue_context.write_dynamic_frame.from_options(
            frame=events,
            connection_type="s3",
            connection_options={"path": folder, "partitionKeys": ["country"]},
            format="glueparquet",
            format_options={"compression": "snappy"},
        )

    return write


def for_each_batch(
    glue_context: GlueContext,
    frame: DataFrame,
    checkpoint: str,
    use: Callable[[DynamicFrame], None],
    window_size: str = "1 second",
) -> float:
    """Run a stream to its end, counting each batch as scripts do; return `time.perf_counter()` of the first batch.

    Args:
        glue_context: the context.
        frame: the stream.
        checkpoint: an empty folder.
        use: what is done with the records of a batch.
        window_size: window size of the stream; a drain has no windows.
    """
    called: list[float] = []

    def process(data_frame: DataFrame, batch_id: int) -> None:  # noqa: ARG001
        called.append(time.perf_counter())
        if data_frame.count() > 0:
            use(DynamicFrame.fromDF(data_frame, glue_context, "batch"))

    glue_context.forEachBatch(
        frame=frame,
        batch_function=process,
        options={"windowSize": window_size, "checkpointLocation": checkpoint},
    )
    return called[0]
