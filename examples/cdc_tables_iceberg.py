"""Changes of several tables on one stream, as AWS DMS writes them, each into its own Iceberg table. By hand.

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
    sys.argv, ["JOB_NAME", "TempDir", "stream_type", "stream_options", "database", "primary_keys", "window_size"]
)
DATABASE = f"glue_catalog.{args['database']}"
PRIMARY_KEYS = json.loads(args["primary_keys"])

glueContext = GlueContext(SparkContext.getOrCreate())
spark = glueContext.spark_session
logger = glueContext.get_logger()
job = Job(glueContext)
job.init(args["JOB_NAME"], args)

spark.sql(f"CREATE DATABASE IF NOT EXISTS {DATABASE}")

changes_stream = glueContext.create_data_frame.from_options(
    connection_type=args["stream_type"],
    connection_options={**json.loads(args["stream_options"]), "classification": "json", "inferSchema": "true"},
    transformation_ctx="changes_stream",
)


def apply_changes(table_name, changes):
    key = PRIMARY_KEYS[table_name]
    target = f"{DATABASE}.{table_name}"

    # The fields of all tables are in one struct; a pass through JSON leaves those of this table.
    documents = changes.select(
        F.to_json(F.struct("data.*", F.col("metadata.operation").alias("op"), F.col("metadata.timestamp").alias("ts")))
    )
    rows = spark.read.json(documents.rdd.map(lambda row: row[0]))
    last = Window.partitionBy(key).orderBy(F.desc("ts"))
    rows = rows.withColumn("rn", F.row_number().over(last)).where("rn = 1").drop("rn", "ts")
    rows.createOrReplaceTempView(f"changes_{table_name}")

    columns = [field for field in rows.schema.fields if field.name != "op"]
    ddl = ", ".join(f"{field.name} {field.dataType.simpleString()}" for field in columns)
    spark.sql(f"CREATE TABLE IF NOT EXISTS {target} ({ddl}) USING iceberg TBLPROPERTIES ('format-version' = '2')")

    names = [field.name for field in columns]
    spark.sql(
        f"""MERGE INTO {target} t
        USING (SELECT {", ".join(names)} FROM changes_{table_name} WHERE op IN ('load', 'insert', 'update')) s
        ON t.{key} = s.{key}
        WHEN MATCHED THEN UPDATE SET {", ".join(f"t.{name} = s.{name}" for name in names)}
        WHEN NOT MATCHED THEN INSERT ({", ".join(names)}) VALUES ({", ".join(f"s.{name}" for name in names)})"""
    )
    spark.sql(
        f"DELETE FROM {target} WHERE {key} IN (SELECT {key} FROM changes_{table_name} WHERE op = 'delete')"
    )


def process_batch(data_frame, batch_id):
    if data_frame.count() > 0:
        changes = DynamicFrame.fromDF(data_frame, glueContext, "changes").toDF()
        table_name = F.col("metadata.`table-name`")
        for row in changes.select(table_name.alias("name")).distinct().collect():
            apply_changes(row["name"], changes.where(table_name == row["name"]))
            logger.info(f"batch {batch_id}: {row['name']} is up to date")


glueContext.forEachBatch(
    frame=changes_stream,
    batch_function=process_batch,
    options={
        "windowSize": args["window_size"],
        "checkpointLocation": args["TempDir"] + "/" + args["JOB_NAME"] + "/checkpoint/",
    },
)
job.commit()
