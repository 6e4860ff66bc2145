"""Gluepot's side: a Glue script for `gluepot run`."""

from __future__ import annotations

import sys

from pyspark.context import SparkContext

from awsglue.context import GlueContext
from awsglue.job import Job
from awsglue.utils import getResolvedOptions
from benchmarks.ours import by_country, for_each_batch, json_stream

args = getResolvedOptions(sys.argv, ["JOB_NAME", "bootstrap", "topic", "checkpoint", "table"])
glue_context = GlueContext(SparkContext())
job = Job(glue_context)
job.init(args["JOB_NAME"], args)
frame = json_stream(glue_context, args["bootstrap"], args["topic"])
for_each_batch(glue_context, frame, args["checkpoint"], by_country(glue_context, args["table"]), "0 seconds")
job.commit()
