"""Gluepot's side of a stream: a Glue script for `gluepot run`."""

from __future__ import annotations

import sys

from benchmarks.startup.marks import mark, mark_jvm

mark("driver's own imports")

from pyspark.context import SparkContext  # noqa: E402

from awsglue.context import GlueContext  # noqa: E402
from awsglue.job import Job  # noqa: E402
from awsglue.utils import getResolvedOptions  # noqa: E402
from benchmarks.ours import by_country, for_each_batch, json_stream  # noqa: E402

mark_jvm()
args = getResolvedOptions(sys.argv, ["JOB_NAME", "bootstrap", "topic", "checkpoint", "table"])
spark_context = SparkContext()
mark("SparkContext")
glue_context = GlueContext(spark_context)
job = Job(glue_context)
job.init(args["JOB_NAME"], args)
mark("GlueContext and session")
frame = json_stream(glue_context, args["bootstrap"], args["topic"])
mark("stream made")
write = by_country(glue_context, args["table"])


def process(events: object) -> None:
    """Write a batch."""
    mark("first batch planned")
    write(events)  # type: ignore[arg-type]
    mark("first batch written")


for_each_batch(glue_context, frame, args["checkpoint"], process, "0 seconds")
job.commit()
