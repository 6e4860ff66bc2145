import sys

from awsglue.transforms import *
from awsglue.utils import getResolvedOptions
from pyspark.context import SparkContext
from awsglue.context import GlueContext
from awsglue.job import Job
from awsglue import DynamicFrame

args = getResolvedOptions(sys.argv, ["JOB_NAME", "TempDir", "stream_arn", "output_path"])
sc = SparkContext()
glueContext = GlueContext(sc)
spark = glueContext.spark_session
job = Job(glueContext)
job.init(args["JOB_NAME"], args)

# Script generated for node Amazon Kinesis
dataframe_AmazonKinesis_node1700000000001 = glueContext.create_data_frame.from_options(
    connection_type="kinesis",
    connection_options={
        "typeOfData": "kinesis",
        "streamARN": args["stream_arn"],
        "classification": "json",
        "startingPosition": "earliest",
        "inferSchema": "true",
    },
    transformation_ctx="dataframe_AmazonKinesis_node1700000000001",
)


def processBatch(data_frame, batchId):
    if data_frame.count() > 0:
        AmazonKinesis_node1700000000001 = DynamicFrame.fromDF(
            data_frame, glueContext, "from_data_frame"
        )
        # Script generated for node Rename Field
        RenameField_node1700000000002 = RenameField.apply(
            frame=AmazonKinesis_node1700000000001,
            old_name="ts",
            new_name="event_time",
            transformation_ctx="RenameField_node1700000000002",
        )
        # Script generated for node Drop Fields
        DropFields_node1700000000003 = DropFields.apply(
            frame=RenameField_node1700000000002,
            paths=["user_agent"],
            transformation_ctx="DropFields_node1700000000003",
        )
        # Script generated for node Amazon S3
        AmazonS3_node1700000000004 = glueContext.write_dynamic_frame.from_options(
            frame=DropFields_node1700000000003,
            connection_type="s3",
            format="glueparquet",
            connection_options={
                "path": args["output_path"],
                "partitionKeys": ["country"],
            },
            format_options={"compression": "snappy"},
            transformation_ctx="AmazonS3_node1700000000004",
        )


glueContext.forEachBatch(
    frame=dataframe_AmazonKinesis_node1700000000001,
    batch_function=processBatch,
    options={
        "windowSize": "5 seconds",
        "checkpointLocation": args["TempDir"] + "/" + args["JOB_NAME"] + "/checkpoint/",
    },
)
job.commit()
