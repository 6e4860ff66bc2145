"""A stream whose rows take their time: 3 ms each, so that a worker does 333 a second whatever the machine does."""
# ruff: noqa: I001, N816  written as users of Glue write them

import sys
import time

from awsglue.context import GlueContext
from awsglue.dynamicframe import DynamicFrame
from awsglue.job import Job
from awsglue.utils import getResolvedOptions
from pyspark.context import SparkContext

args = getResolvedOptions(sys.argv, ["JOB_NAME", "TempDir", "output_path", "bootstrap", "topic"])
glueContext = GlueContext(SparkContext.getOrCreate())
job = Job(glueContext)
job.init(args["JOB_NAME"], args)
frame = glueContext.create_data_frame.from_options(
    "kafka",
    {
        "bootstrap.servers": args["bootstrap"],
        "security.protocol": "PLAINTEXT",
        "topicName": args["topic"],
        "startingOffsets": "earliest",
        "classification": "json",
        "inferSchema": "true",
        "maxOffsetsPerTrigger": "6000",
    },
)


def slowly(rows):
    for _ in rows:
        time.sleep(0.003)


def process(data_frame, batch_id):
    data_frame.foreachPartition(slowly)
    records = DynamicFrame.fromDF(data_frame, glueContext, "from_data_frame")
    glueContext.write_dynamic_frame.from_options(
        frame=records, connection_type="s3", format="glueparquet", connection_options={"path": args["output_path"]}
    )


glueContext.forEachBatch(
    frame=frame,
    batch_function=process,
    options={"windowSize": "3 seconds", "checkpointLocation": args["TempDir"] + "/checkpoint"},
)
