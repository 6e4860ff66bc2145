"""Numbers from Kafka appended to a table of a lake by Glue's own writers: Delta by its path, Iceberg by its name."""
# ruff: noqa: I001, N816  written as users of Glue write them

import sys

from awsglue.context import GlueContext
from awsglue.dynamicframe import DynamicFrame
from awsglue.job import Job
from awsglue.utils import getResolvedOptions
from pyspark.context import SparkContext

args = getResolvedOptions(sys.argv, ["JOB_NAME", "TempDir", "bootstrap_servers", "topic", "format", "output_path"])
glueContext = GlueContext(SparkContext.getOrCreate())
spark = glueContext.spark_session
job = Job(glueContext)
job.init(args["JOB_NAME"], args)

if args["format"] == "iceberg":
    spark.sql("CREATE NAMESPACE IF NOT EXISTS glue_catalog.lake")
    spark.sql("CREATE TABLE IF NOT EXISTS glue_catalog.lake.numbers (n bigint) USING iceberg")


def process_batch(data_frame, batch_id):
    frame = DynamicFrame.fromDF(data_frame, glueContext, "frame")
    if args["format"] == "iceberg":
        glueContext.write_data_frame.from_catalog(
            frame=frame.toDF(), database="lake", table_name="numbers", transformation_ctx="sink"
        )
    else:
        glueContext.write_dynamic_frame.from_options(
            frame=frame,
            connection_type="delta",
            connection_options={"path": args["output_path"]},
            transformation_ctx="sink",
        )


stream = glueContext.create_data_frame.from_options(
    connection_type="kafka",
    connection_options={
        "bootstrap.servers": args["bootstrap_servers"],
        "topicName": args["topic"],
        "startingOffsets": "earliest",
        "classification": "json",
        "inferSchema": "true",
    },
)
glueContext.forEachBatch(
    frame=stream,
    batch_function=process_batch,
    options={"windowSize": "1 second", "checkpointLocation": args["TempDir"] + "/checkpoint"},
)
job.commit()
