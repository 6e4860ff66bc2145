"""A streaming job whose function cannot get through some of its records: numbers that end in 7."""
# ruff: noqa: I001, N816  written as users of Glue write them

import sys

from awsglue import DynamicFrame
from awsglue.context import GlueContext
from awsglue.job import Job
from awsglue.utils import getResolvedOptions
from pyspark.context import SparkContext

args = getResolvedOptions(sys.argv, ["JOB_NAME", "TempDir", "bootstrap", "topic", "output_path"])
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
    for ctx in ("copy", "sink"):
        if ctx == "sink" and frame.filter(lambda row: row["n"] % 10 == 7).count():
            raise ValueError("a number that ends in 7")
        glueContext.write_dynamic_frame.from_options(
            frame=frame,
            connection_type="s3",
            connection_options={"path": f"{args['output_path']}/{ctx}"},
            format="glueparquet",
            transformation_ctx=ctx,
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
