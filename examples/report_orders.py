import sys

from pyspark.context import SparkContext
from pyspark.sql import functions as F

from awsglue.context import GlueContext
from awsglue.job import Job
from awsglue.utils import getResolvedOptions

args = getResolvedOptions(sys.argv, ["JOB_NAME", "input_path"])
glueContext = GlueContext(SparkContext.getOrCreate())
job = Job(glueContext)
job.init(args["JOB_NAME"], args)

orders = glueContext.create_dynamic_frame.from_options(
    connection_type="s3",
    connection_options={"paths": [args["input_path"]], "recurse": True},
    format="parquet",
    transformation_ctx="orders",
).toDF()
by_country = orders.groupBy("country").agg(
    F.count("*").alias("orders"), F.round(F.sum("amount"), 2).alias("amount")
)
by_country.orderBy(F.desc("amount")).show()
job.commit()
