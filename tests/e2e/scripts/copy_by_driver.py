"""A bookmarked batch job between two tables of a database that only a Java driver reaches."""
# ruff: noqa: I001, N816  written as users of Glue write them

import sys

from awsglue.context import GlueContext
from awsglue.job import Job
from awsglue.utils import getResolvedOptions
from pyspark.context import SparkContext

args = getResolvedOptions(sys.argv, ["JOB_NAME", "url", "jar"])
glueContext = GlueContext(SparkContext.getOrCreate())
job = Job(glueContext)
job.init(args["JOB_NAME"], args)

database = {"url": args["url"], "customJdbcDriverS3Path": args["jar"]}
source = glueContext.create_dynamic_frame.from_options(
    connection_type="jdbc",
    connection_options={**database, "dbtable": "orders", "jobBookmarkKeys": ["id"]},
    transformation_ctx="source0",
)
glueContext.write_dynamic_frame.from_options(
    frame=source,
    connection_type="jdbc",
    connection_options={**database, "dbtable": "copies"},
    transformation_ctx="sink0",
)
job.commit()
