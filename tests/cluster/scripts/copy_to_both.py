"""A Glue streaming job as its users write it: one stream, to a table of files and to one of PostgreSQL."""
# ruff: noqa: I001, N816  written as users of Glue write them

import json
import sys

from awsglue import DynamicFrame
from awsglue.context import GlueContext
from awsglue.job import Job
from awsglue.transforms import RenameField
from awsglue.utils import getResolvedOptions
from pyspark.context import SparkContext

names = ["JOB_NAME", "TempDir", "connection_type", "connection_options", "output_path", "database"]
args = getResolvedOptions(sys.argv, names)
glueContext = GlueContext(SparkContext())
job = Job(glueContext)
job.init(args["JOB_NAME"], args)

stream = glueContext.create_data_frame.from_options(
    connection_type=args["connection_type"],
    connection_options=json.loads(args["connection_options"]),
)


def process(data_frame, batch_id):
    clicks = RenameField.apply(DynamicFrame.fromDF(data_frame, glueContext, "clicks"), "id", "event_id")
    glueContext.write_dynamic_frame.from_options(
        frame=clicks,
        connection_type="s3",
        connection_options={"path": args["output_path"] + "/copied", "partitionKeys": ["kind"]},
        format="glueparquet",
        transformation_ctx="files",
    )
    glueContext.write_dynamic_frame.from_options(
        frame=clicks,
        connection_type="postgresql",
        connection_options={"url": args["database"], "dbtable": "copied"},
        transformation_ctx="rows",
    )


glueContext.forEachBatch(
    frame=stream,
    batch_function=process,
    options={"windowSize": "0 seconds", "checkpointLocation": args["TempDir"] + "/checkpoint"},
)
job.commit()
