import sys
from awsglue.transforms import *
from awsglue.utils import getResolvedOptions
from pyspark.context import SparkContext
from awsglue.context import GlueContext
from awsglue.job import Job
from awsglue.dynamicframe import DynamicFrame
import salesdata_generator
import repartition_date

args = getResolvedOptions(sys.argv, ["JOB_NAME", "output_path"])
sc = SparkContext()
glueContext = GlueContext(sc)
spark = glueContext.spark_session
job = Job(glueContext)
job.init(args["JOB_NAME"], args)

# Script generated for node Placeholder
Placeholder_node1669816600001 = glueContext.create_dynamic_frame.from_options(
    format_options={"multiline": False},
    connection_type="s3",
    format="json",
    connection_options={"paths": [args["output_path"] + "/file_that_doesnt_exist"], "recurse": True},
    transformation_ctx="Placeholder_node1669816600001",
)

# Script generated for node Synthetic Sales Data Generator
SyntheticSalesDataGenerator_node1669816610002 = (
    Placeholder_node1669816600001.salesdata_generator(numSamples=10000, year=2021)
)

# Script generated for node Repartition by date
Repartitionbydate_node1669816620003 = (
    SyntheticSalesDataGenerator_node1669816610002.repartition_date(dateCol="sale_date")
)

# Script generated for node Amazon S3
AmazonS3_node1669816624410 = glueContext.write_dynamic_frame.from_options(
    frame=Repartitionbydate_node1669816620003,
    connection_type="s3",
    format="glueparquet",
    connection_options={
        "path": args["output_path"],
        "partitionKeys": ["year", "month", "day"],
    },
    format_options={"compression": "snappy"},
    transformation_ctx="AmazonS3_node1669816624410",
)

job.commit()
