"""A Glue streaming job as its users write it: one stream, mapped, to one partitioned table."""
# ruff: noqa: I001, N816  written as users of Glue write them

import json
from pathlib import Path
import sys

from awsglue import DynamicFrame
from awsglue.context import GlueContext
from awsglue.job import Job
from awsglue.transforms import ApplyMapping
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


def fail_if_told(folder):
    """Fail once, as a batch function with a passing trouble does, when somebody put a file there."""
    try:
        Path(folder, "fail").unlink()
    except FileNotFoundError:
        return
    raise RuntimeError("told to fail")


def process(data_frame, batch_id):
    # Four batches are counted, so that all but the first are staged with their count; then four are only guarded.
    if batch_id // 4 % 2 == 0:
        print(data_frame.count(), "records")
    elif data_frame.count() == 0:
        return
    fail_if_told(args["TempDir"])
    mapped = ApplyMapping.apply(
        frame=DynamicFrame.fromDF(data_frame, glueContext, "clicks"),
        mappings=[
            ("id", "bigint", "event_id", "bigint"),
            ("kind", "string", "kind", "string"),
            ("amount", "bigint", "amount", "bigint"),
            ("text", "string", "text", "string"),
        ],
        transformation_ctx="mapped",
    )
    glueContext.write_dynamic_frame.from_options(
        frame=mapped,
        connection_type="s3",
        connection_options={"path": args["output_path"] + "/copied", "partitionKeys": ["kind"]},
        format="glueparquet",
        transformation_ctx="copied",
    )


glueContext.forEachBatch(
    frame=stream,
    batch_function=process,
    options={"windowSize": "0 seconds", "checkpointLocation": args["TempDir"] + "/checkpoint"},
)
job.commit()
