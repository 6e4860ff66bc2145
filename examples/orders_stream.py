"""Orders from Kafka: late duplicates removed within a batch, one folder a day and status. Written by hand."""
import sys

from awsglue.context import GlueContext
from awsglue.dynamicframe import DynamicFrame
from awsglue.job import Job
from awsglue.utils import getResolvedOptions
from pyspark.context import SparkContext
from pyspark.sql import functions as F
from pyspark.sql.window import Window

args = getResolvedOptions(
    sys.argv, ["JOB_NAME", "bootstrap_servers", "topic", "checkpoint", "output_path"]
)
window_size = "60 seconds"
if "--window_size" in sys.argv:
    window_size = getResolvedOptions(sys.argv, ["window_size"])["window_size"]

glue_context = GlueContext(SparkContext.getOrCreate())
logger = glue_context.get_logger()
job = Job(glue_context)
job.init(args["JOB_NAME"], args)

orders = glue_context.create_data_frame_from_options(
    connection_type="kafka",
    connection_options={
        "bootstrap.servers": args["bootstrap_servers"],
        "topicName": args["topic"],
        "startingOffsets": "earliest",
        "classification": "json",
        "schema": "order_id BIGINT, status STRING, updated_at TIMESTAMP, total DECIMAL(12,2)",
    },
    transformation_ctx="orders",
)


def newest_first(batch):
    newest = Window.partitionBy("order_id").orderBy(F.col("updated_at").desc())
    return batch.withColumn("rank", F.row_number().over(newest)).where("rank = 1").drop("rank")


def process_batch(batch, batch_id):
    if batch.isEmpty():
        return
    current = newest_first(batch).withColumn("day", F.to_date("updated_at"))
    logger.info(f"batch {batch_id}: {current.count()} orders")
    sink = glue_context.getSink(
        connection_type="s3",
        path=args["output_path"],
        partitionKeys=["day", "status"],
        transformation_ctx="orders_sink",
    )
    sink.setFormat("json")
    sink.writeFrame(DynamicFrame.fromDF(current, glue_context, "current"))


glue_context.forEachBatch(
    frame=orders,
    batch_function=process_batch,
    options={"windowSize": window_size, "checkpointLocation": args["checkpoint"], "batchMaxRetries": 5},
)
job.commit()
