"""A Glue script: tables of Parquet become views, a query is run over them, and its result is written."""

import sys

from pyspark.context import SparkContext

from awsglue.context import GlueContext
from awsglue.dynamicframe import DynamicFrame
from awsglue.job import Job
from awsglue.utils import getResolvedOptions

args = getResolvedOptions(sys.argv, ["JOB_NAME", "folder", "tables", "query", "table"])
glue_context = GlueContext(SparkContext.getOrCreate())
job = Job(glue_context)
job.init(args["JOB_NAME"], args)
for name in args["tables"].split(","):
    rows = glue_context.create_dynamic_frame.from_options(
        connection_type="s3",
        connection_options={"paths": [f"{args['folder']}/{name}.parquet"]},
        format="parquet",
        transformation_ctx=name,
    )
    rows.toDF().createOrReplaceTempView(name)
result = glue_context.spark_session.sql(args["query"])
numbered = result.toDF(*(f"c{number}" for number in range(len(result.columns))))
glue_context.write_dynamic_frame.from_options(
    frame=DynamicFrame.fromDF(numbered, glue_context, "result"),
    connection_type="s3",
    connection_options={"path": args["table"]},
    format="glueparquet",
    transformation_ctx="result",
)
job.commit()
