"""A bookmarked batch job: new rows of a table in PostgreSQL, mapped, to a table in Redshift."""
# ruff: noqa: I001, N816  written as users of Glue write them

import sys

from awsglue.context import GlueContext
from awsglue.job import Job
from awsglue.transforms import ApplyMapping
from awsglue.utils import getResolvedOptions
from pyspark.context import SparkContext

args = getResolvedOptions(sys.argv, ["JOB_NAME", "source", "target", "TempDir"])
glueContext = GlueContext(SparkContext.getOrCreate())
job = Job(glueContext)
job.init(args["JOB_NAME"], args)

source = glueContext.create_dynamic_frame.from_options(
    connection_type="postgresql",
    connection_options={"url": args["source"], "dbtable": "orders", "jobBookmarkKeys": ["id"]},
    transformation_ctx="source0",
)
mapped = ApplyMapping.apply(frame=source, mappings=[("id", "long", "id", "long")], transformation_ctx="mapped0")
glueContext.write_dynamic_frame.from_options(
    frame=mapped,
    connection_type="redshift",
    connection_options={"url": args["target"], "user": "awsuser", "password": "secret", "dbtable": "copies"},
    transformation_ctx="sink0",
)
job.commit()
