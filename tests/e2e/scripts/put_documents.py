"""A streaming job that writes each batch to a store, whose connection type and options are arguments."""
# ruff: noqa: I001, N816  written as users of Glue write them

import json
import sys

from awsglue import DynamicFrame
from awsglue.context import GlueContext
from awsglue.job import Job
from awsglue.utils import getResolvedOptions
from pyspark.context import SparkContext

args = getResolvedOptions(
    sys.argv, ["JOB_NAME", "TempDir", "bootstrap", "topic", "connection_type", "connection_options"]
)
glueContext = GlueContext(SparkContext())
job = Job(glueContext)
job.init(args["JOB_NAME"], args)

stream = glueContext.create_data_frame.from_options(
    connection_type="kafka",
    connection_options={
        "bootstrap.servers": args["bootstrap"],
        "topicName": args["topic"],
        "startingOffsets": "earliest",
        "classification": "json",
        "inferSchema": "true",
    },
)


def process(data_frame, batch_id):
    frame = DynamicFrame.fromDF(data_frame, glueContext, "numbers")
    glueContext.write_dynamic_frame.from_options(
        frame=frame,
        connection_type=args["connection_type"],
        connection_options=json.loads(args["connection_options"]),
        transformation_ctx="put",
    )


glueContext.forEachBatch(
    frame=stream,
    batch_function=process,
    options={
        "windowSize": "1 second",
        "checkpointLocation": args["TempDir"] + "/checkpoint",
        "batchMaxRetries": "0",
    },
)
job.commit()
