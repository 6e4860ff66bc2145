"""Click events, appended to a Delta table through Glue's connector for data sources of Spark. By hand.

The stream is Kafka or Kinesis: --stream_type kinesis --stream_options '{"streamARN": "...", "startingPosition": "earliest"}'
"""
import json
import sys

from awsglue import DynamicFrame
from awsglue.context import GlueContext
from awsglue.job import Job
from awsglue.utils import getResolvedOptions
from pyspark.context import SparkContext
from pyspark.sql.functions import current_timestamp, to_date

args = getResolvedOptions(
    sys.argv, ["JOB_NAME", "TempDir", "stream_type", "stream_options", "output_path", "window_size"]
)

sc = SparkContext()
glueContext = GlueContext(sc)
spark = glueContext.spark_session
job = Job(glueContext)
job.init(args["JOB_NAME"], args)

dataframe = glueContext.create_data_frame.from_options(
    connection_type=args["stream_type"],
    connection_options={**json.loads(args["stream_options"]), "classification": "json", "inferSchema": "true"},
    transformation_ctx="dataframe",
)


def processBatch(data_frame, batchId):
    if data_frame.count() > 0:
        frame = DynamicFrame.fromDF(data_frame, glueContext, "from_data_frame")
        clicks = frame.toDF().withColumn("day", to_date("clicked_at")).withColumn("loaded_at", current_timestamp())
        glueContext.write_dynamic_frame.from_options(
            frame=DynamicFrame.fromDF(clicks, glueContext, "clicks"),
            connection_type="custom.spark",
            connection_options={"className": "delta", "path": args["output_path"], "mergeSchema": "true"},
            transformation_ctx="delta_sink",
        )


glueContext.forEachBatch(
    frame=dataframe,
    batch_function=processBatch,
    options={
        "windowSize": args["window_size"],
        "checkpointLocation": args["TempDir"] + "/" + args["JOB_NAME"] + "/checkpoint/",
    },
)
job.commit()
