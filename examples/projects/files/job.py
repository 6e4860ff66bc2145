"""Orders from files of JSON, into a table of Parquet files. Each run reads the files that no run has read before."""
import sys

from awsglue.context import GlueContext
from awsglue.job import Job
from awsglue.utils import getResolvedOptions
from pyspark.context import SparkContext

args = getResolvedOptions(sys.argv, ["JOB_NAME", "input_path", "output_path"])
glueContext = GlueContext(SparkContext())
job = Job(glueContext)
job.init(args["JOB_NAME"], args)

orders = glueContext.create_dynamic_frame.from_options(
    connection_type="s3",
    connection_options={"paths": [args["input_path"]], "recurse": True},
    format="json",
    transformation_ctx="orders",
)
orders = orders.resolveChoice(specs=[("price", "cast:double")], transformation_ctx="prices")
glueContext.write_dynamic_frame.from_options(
    frame=orders,
    connection_type="s3",
    format="glueparquet",
    connection_options={"path": args["output_path"], "partitionKeys": ["country"]},
    transformation_ctx="table",
)
job.commit()
