"""Logs in every way a script can: Glue's logger, Spark's own, a batch of a query."""

import sys

from pyspark.context import SparkContext

from awsglue.context import GlueContext
from awsglue.utils import getResolvedOptions

args = getResolvedOptions(sys.argv, ["JOB_NAME", "bootstrap", "topic", "checkpoint"])
glue_context = GlueContext(SparkContext.getOrCreate())
slf4j = glue_context.spark_session._jvm.org.slf4j.LoggerFactory
slf4j.getLogger("shop.Java").warn('a "quoted" line, password=hunter2 and more')

stream = glue_context.create_data_frame.from_options(
    connection_type="kafka",
    connection_options={
        "bootstrap.servers": args["bootstrap"],
        "topicName": args["topic"],
        "startingOffsets": "earliest",
        "classification": "json",
        "inferSchema": "true",
    },
)


def process(frame, batch_id):
    glue_context.get_logger().info(f"batch of {frame.count()}, secret=hunter2")


glue_context.forEachBatch(
    frame=stream, batch_function=process, options={"windowSize": "1 second", "checkpointLocation": args["checkpoint"]}
)
