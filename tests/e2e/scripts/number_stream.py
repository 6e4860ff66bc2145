"""A streaming job as a user writes one: numbers from a topic to files, `pause` seconds in each batch.

While there is a file `hold` in its folder, a batch does not go on.
"""
# ruff: noqa: I001, N816  written as users of Glue write them

import sys
import time
from pathlib import Path

from awsglue import DynamicFrame
from awsglue.context import GlueContext
from awsglue.job import Job
from awsglue.utils import getResolvedOptions
from pyspark.context import SparkContext

names = ["JOB_NAME", "TempDir", "bootstrap", "topic", "output_path", "pause"]
args = getResolvedOptions(sys.argv, names + ["window"] * ("--window" in sys.argv))
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
        "maxOffsetsPerTrigger": "100",
    },
)


def process(data_frame, batch_id):
    frame = DynamicFrame.fromDF(data_frame, glueContext, "numbers")
    Path(args["TempDir"], f"in-batch-{batch_id}").touch()
    time.sleep(float(args["pause"]))
    while Path(args["TempDir"], "hold").exists():
        time.sleep(0.05)
    glueContext.write_dynamic_frame.from_options(
        frame=frame,
        connection_type="s3",
        connection_options={"path": args["output_path"]},
        format="glueparquet",
        transformation_ctx="sink",
    )


glueContext.forEachBatch(
    frame=stream,
    batch_function=process,
    options={"windowSize": args.get("window", "1 second"), "checkpointLocation": args["TempDir"] + "/checkpoint"},
)
job.commit()
print("committed")
