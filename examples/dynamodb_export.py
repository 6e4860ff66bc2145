"""A DynamoDB export (`{"Item": {"id": {"S": "..."}}}`) as a plain table, with the SQL of an analyst."""
import sys

from awsglue.context import GlueContext
from awsglue.dynamicframe import DynamicFrame
from awsglue.job import Job
from awsglue.utils import getResolvedOptions
from pyspark.context import SparkContext

args = getResolvedOptions(sys.argv, ["JOB_NAME", "input_path", "output_path"])
glueContext = GlueContext(SparkContext())
spark = glueContext.spark_session
job = Job(glueContext)
job.init(args["JOB_NAME"], args)

export = glueContext.create_dynamic_frame.from_options(
    connection_type="s3",
    connection_options={"paths": [args["input_path"]], "recurse": True},
    format="json",
    transformation_ctx="export",
)
users = export.simplify_ddb_json()
users.toDF().createOrReplaceTempView("users")
active = spark.sql(
    """
    SELECT id, name, cast(logins AS int) AS logins
    FROM users
    WHERE active
    """
)
glueContext.write_dynamic_frame.from_options(
    frame=DynamicFrame.fromDF(active.coalesce(1), glueContext, "active"),
    connection_type="s3",
    connection_options={"path": args["output_path"]},
    format="csv",
    format_options={"quoteChar": "'", "separator": "|"},
    transformation_ctx="active",
)
job.commit()
