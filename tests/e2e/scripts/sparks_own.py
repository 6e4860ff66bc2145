"""A job in Spark's own words: its Kafka connector, its writers, and tables by their names."""

import sys

from pyspark.context import SparkContext
from pyspark.sql import SparkSession

from awsglue.context import GlueContext
from awsglue.job import Job
from awsglue.utils import getResolvedOptions

args = getResolvedOptions(sys.argv, ["JOB_NAME", "servers", "topic", "checkpoints"])
spark = SparkSession.builder.enableHiveSupport().getOrCreate()
glue_context = GlueContext(SparkContext.getOrCreate())
job = Job(glue_context)
job.init(args["JOB_NAME"], args)

options = {"kafka.bootstrap.servers": args["servers"], "subscribe": args["topic"], "startingOffsets": "earliest"}
batch = spark.read.format("kafka").options(**options).load()
print("read", batch.count(), ",".join(batch.columns))

spark.sql("CREATE DATABASE IF NOT EXISTS shop")
spark.sql("CREATE TABLE IF NOT EXISTS shop.numbers (n BIGINT, size BIGINT) USING delta")
stream = spark.readStream.format("kafka").options(**options).option("maxOffsetsPerTrigger", 4).load()


def add(batch_df, batch_id):
    numbers = batch_df.selectExpr("CAST(get_json_object(CAST(value AS STRING), '$.n') AS BIGINT) AS n")
    numbers.createOrReplaceTempView("numbers")
    batch_df.sparkSession.sql("INSERT INTO shop.numbers SELECT n, count(*) OVER () FROM numbers")


query = (
    stream.writeStream.foreachBatch(add)
    .option("checkpointLocation", args["checkpoints"] + "/spark")
    .trigger(availableNow=True)
    .start()
)
query.awaitTermination()
glue_context.forEachBatch(
    frame=stream,
    batch_function=add,
    options={"windowSize": "1 seconds", "checkpointLocation": args["checkpoints"] + "/glue"},
)
counts = spark.sql("SELECT n, count(*) AS times, max(size) AS size FROM shop.numbers GROUP BY n ORDER BY n")
for row in counts.collect():
    print("number", row.n, row.times, row.size)
seen = glue_context.create_dynamic_frame.from_catalog(database="shop", table_name="numbers")
print("from_catalog", seen.count())
job.commit()
