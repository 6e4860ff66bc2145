"""Changes of orders, merged into an Iceberg table. In the style of public samples of change data capture.

The stream is Kafka or Kinesis: --stream_type kinesis --stream_options '{"streamARN": "...", "startingPosition": "earliest"}'
"""
import json
import sys

from awsglue import DynamicFrame
from awsglue.context import GlueContext
from awsglue.job import Job
from awsglue.utils import getResolvedOptions
from pyspark.conf import SparkConf
from pyspark.context import SparkContext
from pyspark.sql.functions import col, desc, row_number, to_timestamp
from pyspark.sql.window import Window

args = getResolvedOptions(
    sys.argv,
    [
        "JOB_NAME",
        "TempDir",
        "catalog",
        "database_name",
        "table_name",
        "primary_key",
        "stream_type",
        "stream_options",
        "iceberg_s3_path",
        "lock_table_name",
        "aws_region",
        "window_size",
    ],
)

CATALOG = args["catalog"]
DATABASE = args["database_name"]
TABLE_NAME = args["table_name"]
PRIMARY_KEY = args["primary_key"]


def set_spark_iceberg_conf() -> SparkConf:
    conf_list = [
        (f"spark.sql.catalog.{CATALOG}", "org.apache.iceberg.spark.SparkCatalog"),
        (f"spark.sql.catalog.{CATALOG}.warehouse", args["iceberg_s3_path"]),
        (f"spark.sql.catalog.{CATALOG}.catalog-impl", "org.apache.iceberg.aws.glue.GlueCatalog"),
        (f"spark.sql.catalog.{CATALOG}.io-impl", "org.apache.iceberg.aws.s3.S3FileIO"),
        (f"spark.sql.catalog.{CATALOG}.lock-impl", "org.apache.iceberg.aws.dynamodb.DynamoDbLockManager"),
        (f"spark.sql.catalog.{CATALOG}.lock.table", args["lock_table_name"]),
        ("spark.sql.extensions", "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions"),
        ("spark.sql.iceberg.handle-timestamp-without-timezone", "true"),
    ]
    return SparkConf().setAll(conf_list)


glueContext = GlueContext(SparkContext(conf=set_spark_iceberg_conf()))
spark = glueContext.spark_session
logger = glueContext.get_logger()
job = Job(glueContext)
job.init(args["JOB_NAME"], args)

spark.sql(f"CREATE DATABASE IF NOT EXISTS {CATALOG}.{DATABASE}")
spark.sql(
    f"""CREATE TABLE IF NOT EXISTS {CATALOG}.{DATABASE}.{TABLE_NAME} (
        order_id bigint, status string, total double, updated_at timestamp)
        USING iceberg PARTITIONED BY (bucket(4, order_id))
        TBLPROPERTIES ('format-version' = '2')"""
)

streaming_data = glueContext.create_data_frame.from_options(
    connection_type=args["stream_type"],
    connection_options={**json.loads(args["stream_options"]), "classification": "json", "inferSchema": "true"},
    transformation_ctx="streaming_data",
)


def process_batch(data_frame, batch_id):
    if data_frame.count() == 0:
        return
    stream_data = DynamicFrame.fromDF(data_frame, glueContext, "from_data_frame").toDF()

    window = Window.partitionBy(PRIMARY_KEY).orderBy(desc("updated_at"))
    newest = stream_data.withColumn("row_number", row_number().over(window)).filter(col("row_number") == 1)
    upserts = newest.drop("row_number").withColumn("updated_at", to_timestamp("updated_at"))
    upserts.createOrReplaceTempView(f"{TABLE_NAME}_upsert")

    spark.sql(
        f"""MERGE INTO {CATALOG}.{DATABASE}.{TABLE_NAME} t
        USING (SELECT order_id, status, total, updated_at FROM {TABLE_NAME}_upsert) s
        ON t.{PRIMARY_KEY} = s.{PRIMARY_KEY}
        WHEN MATCHED AND s.status = 'deleted' THEN DELETE
        WHEN MATCHED AND s.updated_at >= t.updated_at THEN UPDATE SET *
        WHEN NOT MATCHED AND s.status <> 'deleted' THEN INSERT *"""
    )
    logger.info(f"batch {batch_id} is merged")


glueContext.forEachBatch(
    frame=streaming_data,
    batch_function=process_batch,
    options={
        "windowSize": args["window_size"],
        "checkpointLocation": "/".join([args["TempDir"], args["JOB_NAME"], "checkpoint/"]),
    },
)
job.commit()
