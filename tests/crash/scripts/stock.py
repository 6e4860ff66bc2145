"""What restarts are compared with: stock PySpark, its own Kafka source, foreachBatch, partitioned Parquet.

`given` knows the schema of the records; `inferred` learns it from each batch, as Glue's library does.
"""

import argparse

from pyspark.sql import SparkSession
from pyspark.sql.functions import col, from_json

parser = argparse.ArgumentParser()
for name in ("bootstrap", "topic", "jars", "folder", "schema"):
    parser.add_argument(f"--{name}")
args = parser.parse_args()

spark = (
    SparkSession.builder.master("local[2]")
    .config("spark.jars", args.jars)
    .config("spark.driver.host", "127.0.0.1")
    .config("spark.ui.enabled", "false")
    .getOrCreate()
)
stream = (
    spark.readStream.format("kafka")
    .option("kafka.bootstrap.servers", args.bootstrap)
    .option("subscribe", args.topic)
    .option("startingOffsets", "earliest")
    .option("maxOffsetsPerTrigger", "150")
    .load()
    .selectExpr("CAST(value AS STRING) AS value")
)


def parsed(batch):
    if args.schema == "given":
        fields = from_json("value", "id BIGINT, kind STRING, amount BIGINT, text STRING")
        return batch.select(fields.alias("record")).select("record.*")
    return spark.read.json(batch.rdd.map(lambda row: row.value)).select("id", "kind", "amount", "text")


def process(batch, batch_id):
    batch.persist()
    if batch.count() > 0:
        rows = parsed(batch).where(col("id").isNotNull())
        rows.write.mode("append").partitionBy("kind").parquet(args.folder + "/table")
    batch.unpersist()


stream.writeStream.foreachBatch(process).option("checkpointLocation", args.folder + "/checkpoint").trigger(
    processingTime="0 seconds"
).start().awaitTermination()
