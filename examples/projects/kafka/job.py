"""Orders from a topic of Kafka, into a table of Parquet files."""
import sys

from awsglue import DynamicFrame
from awsglue.context import GlueContext
from awsglue.job import Job
from awsglue.utils import getResolvedOptions
from pyspark.context import SparkContext

args = getResolvedOptions(sys.argv, ["JOB_NAME", "TempDir", "output_path"])
glueContext = GlueContext(SparkContext())
job = Job(glueContext)
job.init(args["JOB_NAME"], args)

orders = glueContext.create_data_frame.from_options(
    connection_type="kafka",
    connection_options={
        "connectionName": "broker",
        "topicName": "orders",
        "startingOffsets": "earliest",
        "classification": "json",
        "inferSchema": "true",
    },
    transformation_ctx="orders",
)


def process_batch(data_frame, batch_id):
    if data_frame.count() > 0:
        frame = DynamicFrame.fromDF(data_frame, glueContext, "frame")
        frame = frame.resolveChoice(specs=[("price", "cast:double")], transformation_ctx="prices")
        glueContext.write_dynamic_frame.from_options(
            frame=frame,
            connection_type="s3",
            format="glueparquet",
            connection_options={"path": args["output_path"], "partitionKeys": ["country"]},
            transformation_ctx="table",
        )


glueContext.forEachBatch(
    frame=orders,
    batch_function=process_batch,
    options={
        "windowSize": "5 seconds",
        "checkpointLocation": args["TempDir"] + "/" + args["JOB_NAME"] + "/checkpoint/",
    },
)
job.commit()
