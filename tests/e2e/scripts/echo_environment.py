"""A streaming job that prints what it was given, then counts the records of a topic into files."""
# ruff: noqa: I001, N816, E402  written as users of Glue write them

import json
import sys

import neighbour
from awsglue import DynamicFrame
from awsglue.context import GlueContext
from awsglue.job import Job
from awsglue.utils import getResolvedOptions
from pyspark.context import SparkContext

args = getResolvedOptions(sys.argv, ["JOB_NAME", "TempDir", "bootstrap", "topic", "output_path"])
glueContext = GlueContext(SparkContext())
spark = glueContext.spark_session
job = Job(glueContext)
job.init(args["JOB_NAME"], args)

import from_zip  # Spark adds --extra-py-files to the path

print(
    json.dumps(
        {
            "job_name": args["JOB_NAME"],
            "argv": sys.argv[1:],
            "app_name": spark.sparkContext.appName,
            "shuffle_partitions": spark.conf.get("spark.sql.shuffle.partitions"),
            "time_zone": spark.conf.get("spark.sql.session.timeZone"),
            "neighbour": neighbour.WORD,
            "from_zip": from_zip.WORD,
            "from_zip_in_a_worker": spark.sparkContext.parallelize([0], 1)
            .map(lambda _: __import__("from_zip").WORD)
            .first(),
        }
    ),
    flush=True,
)

stream = glueContext.create_data_frame.from_options(
    connection_type="kafka",
    connection_options={
        "bootstrap.servers": args["bootstrap"],
        "topicName": args["topic"],
        "startingOffsets": "earliest",
        "classification": "json",
        "inferSchema": "true",
    },
)


def process(data_frame, batch_id):
    glueContext.get_logger().info("hello from the script")
    glueContext.write_dynamic_frame.from_options(
        frame=DynamicFrame.fromDF(data_frame, glueContext, "numbers"),
        connection_type="s3",
        connection_options={"path": args["output_path"]},
        format="glueparquet",
    )


glueContext.forEachBatch(
    frame=stream,
    batch_function=process,
    options={"windowSize": "1 second", "checkpointLocation": args["TempDir"] + "/numbers/checkpoint/"},
)
