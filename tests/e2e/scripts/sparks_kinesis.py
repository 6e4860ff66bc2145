"""A job that reads Kinesis by the names of Spark's connectors."""

import sys

from pyspark.context import SparkContext

from awsglue.context import GlueContext
from awsglue.job import Job
from awsglue.utils import getResolvedOptions

args = getResolvedOptions(sys.argv, ["JOB_NAME", "endpoint", "stream", "out", "checkpoints"])
glue_context = GlueContext(SparkContext.getOrCreate())
spark = glue_context.spark_session
job = Job(glue_context)
job.init(args["JOB_NAME"], args)

by_spark = (
    spark.readStream.option("startingposition", "TRIM_HORIZON")
    .format("aws-kinesis")
    .options(**{"kinesis.streamName": args["stream"], "kinesis.endpointUrl": args["endpoint"]})
    .option("kinesis.region", "us-east-1")
    .load()
)
print("columns", ",".join(by_spark.columns))
texts = by_spark.selectExpr("CAST(data AS STRING) AS text", "partitionKey", "sequenceNumber", "streamName")
(
    texts.writeStream.format("parquet")
    .option("path", args["out"] + "/spark")
    .option("checkpointLocation", args["checkpoints"] + "/spark")
    .trigger(availableNow=True)
    .start()
    .awaitTermination()
)

by_glue = (
    spark.readStream.format("kinesis")
    .option("streamName", args["stream"])
    .option("endpointUrl", args["endpoint"])
    .option("initialPosition", "trim_horizon")
    .load()
)


def write(batch_df, batch_id):
    rows = batch_df.selectExpr("CAST(data AS STRING) AS text", "partitionKey", "approximateArrivalTimestamp AS at")
    rows.write.mode("append").parquet(args["out"] + "/glue")


glue_context.forEachBatch(
    frame=by_glue,
    batch_function=write,
    options={"windowSize": "1 seconds", "checkpointLocation": args["checkpoints"] + "/glue"},
)
job.commit()
