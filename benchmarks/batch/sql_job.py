"""A Glue script: rows of JSON or CSV become a DataFrame, SQL aggregates them, and the result is written."""

import json
import sys

from pyspark.context import SparkContext

from awsglue.context import GlueContext
from awsglue.dynamicframe import DynamicFrame
from awsglue.job import Job
from awsglue.utils import getResolvedOptions

args = getResolvedOptions(sys.argv, ["JOB_NAME", "rows", "format", "format_options", "sql", "table"])
glue_context = GlueContext(SparkContext.getOrCreate())
job = Job(glue_context)
job.init(args["JOB_NAME"], args)
rows = glue_context.create_dynamic_frame.from_options(
    connection_type="s3",
    connection_options={"paths": [args["rows"]]},
    format=args["format"],
    format_options=json.loads(args["format_options"]),
    transformation_ctx="rows",
)
rows.toDF().createOrReplaceTempView("orders")
summed = glue_context.spark_session.sql(args["sql"])
glue_context.write_dynamic_frame.from_options(
    frame=DynamicFrame.fromDF(summed, glue_context, "summed"),
    connection_type="s3",
    connection_options={"path": args["table"]},
    format="glueparquet",
    transformation_ctx="table",
)
job.commit()
