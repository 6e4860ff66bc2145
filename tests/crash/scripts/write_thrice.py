"""A Glue streaming job with three writes in each batch, the last one through Spark's DataFrame."""
# ruff: noqa: I001, N816  written as users of Glue write them

import json
import sys

from awsglue import DynamicFrame
from awsglue.context import GlueContext
from awsglue.job import Job
from awsglue.transforms import RenameField
from awsglue.utils import getResolvedOptions
from pyspark.context import SparkContext

names = ["JOB_NAME", "TempDir", "connection_type", "connection_options", "output_path"]
args = getResolvedOptions(sys.argv, names)
glueContext = GlueContext(SparkContext())
job = Job(glueContext)
job.init(args["JOB_NAME"], args)

stream = glueContext.create_data_frame.from_options(
    connection_type=args["connection_type"],
    connection_options=json.loads(args["connection_options"]),
)


def write(frame, name, keys=()):
    glueContext.write_dynamic_frame.from_options(
        frame=frame,
        connection_type="s3",
        connection_options={"path": args["output_path"] + "/" + name, "partitionKeys": list(keys)},
        format="glueparquet",
        transformation_ctx=name,
    )


def process(data_frame, batch_id):
    clicks = RenameField.apply(DynamicFrame.fromDF(data_frame, glueContext, "clicks"), "id", "event_id")
    write(clicks, "copied", ["kind"])
    write(clicks.filter(f=lambda record: record["kind"] == "buy"), "bought")
    rows = DynamicFrame.fromDF(data_frame, glueContext, "rows").toDF().withColumnRenamed("id", "event_id")
    write(DynamicFrame.fromDF(rows.where("kind <> 'buy'"), glueContext, "others"), "others")


glueContext.forEachBatch(
    frame=stream,
    batch_function=process,
    options={"windowSize": "0 seconds", "checkpointLocation": args["TempDir"] + "/checkpoint"},
)
job.commit()
