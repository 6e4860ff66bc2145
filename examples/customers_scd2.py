"""Customers with their history kept: a slowly changing dimension of type 2 in Iceberg. By hand.

The stream is Kafka or Kinesis: --stream_type kinesis --stream_options '{"streamARN": "...", "startingPosition": "earliest"}'
"""
import json
import sys

from awsglue.context import GlueContext
from awsglue.dynamicframe import DynamicFrame
from awsglue.job import Job
from awsglue.utils import getResolvedOptions
from pyspark.context import SparkContext
from pyspark.sql import functions as F
from pyspark.sql.window import Window

args = getResolvedOptions(
    sys.argv, ["JOB_NAME", "TempDir", "stream_type", "stream_options", "table", "window_size"]
)
TABLE = args["table"]

glueContext = GlueContext(SparkContext.getOrCreate())
spark = glueContext.spark_session
job = Job(glueContext)
job.init(args["JOB_NAME"], args)

spark.sql(f"CREATE DATABASE IF NOT EXISTS {TABLE.rpartition('.')[0]}")
spark.sql(
    f"""CREATE TABLE IF NOT EXISTS {TABLE} (
        customer_id bigint, city string, valid_from timestamp, valid_to timestamp, is_current boolean)
        USING iceberg TBLPROPERTIES ('format-version' = '2')"""
)

customers = glueContext.create_data_frame.from_options(
    connection_type=args["stream_type"],
    connection_options={**json.loads(args["stream_options"]), "classification": "json", "inferSchema": "true"},
    transformation_ctx="customers",
)


def process_batch(data_frame, batch_id):
    if data_frame.count() == 0:
        return
    updates = DynamicFrame.fromDF(data_frame, glueContext, "updates").toDF()
    updates = updates.withColumn("changed_at", F.to_timestamp("changed_at"))
    newest = Window.partitionBy("customer_id").orderBy(F.desc("changed_at"))
    updates = updates.withColumn("rn", F.row_number().over(newest)).where("rn = 1").drop("rn")
    updates.createOrReplaceTempView("updates")

    # A changed customer comes twice: with a key to close the row that is there, without one to insert the new row.
    spark.sql(
        f"""MERGE INTO {TABLE} t
        USING (
            SELECT customer_id AS merge_key, customer_id, city, changed_at FROM updates
            UNION ALL
            SELECT NULL AS merge_key, u.customer_id, u.city, u.changed_at
            FROM updates u JOIN {TABLE} c ON u.customer_id = c.customer_id
            WHERE c.is_current AND u.city <> c.city AND u.changed_at > c.valid_from
        ) s
        ON t.customer_id = s.merge_key
        WHEN MATCHED AND t.is_current AND t.city <> s.city AND s.changed_at > t.valid_from
            THEN UPDATE SET is_current = false, valid_to = s.changed_at
        WHEN NOT MATCHED THEN INSERT (customer_id, city, valid_from, valid_to, is_current)
            VALUES (s.customer_id, s.city, s.changed_at, NULL, true)"""
    )


glueContext.forEachBatch(
    frame=customers,
    batch_function=process_batch,
    options={
        "windowSize": args["window_size"],
        "checkpointLocation": args["TempDir"] + "/" + args["JOB_NAME"] + "/checkpoint/",
    },
)
job.commit()
