"""A table of a lake as it was: appended to, then appended to with a further column; read back by every call of Glue."""
# ruff: noqa: I001, N816  written as users of Glue write them

import json
import sys
from pathlib import Path

from awsglue.context import GlueContext
from awsglue.dynamicframe import DynamicFrame
from awsglue.job import Job
from awsglue.utils import getResolvedOptions
from pyspark.context import SparkContext
from pyspark.sql.functions import lit

args = getResolvedOptions(sys.argv, ["JOB_NAME", "format", "path", "output_path"])
glueContext = GlueContext(SparkContext.getOrCreate())
spark = glueContext.spark_session
job = Job(glueContext)
job.init(args["JOB_NAME"], args)

connection_type, path = args["format"], args["path"]
if connection_type == "iceberg":
    spark.sql("CREATE NAMESPACE IF NOT EXISTS glue_catalog.lake")
    spark.sql(f"CREATE TABLE {path} (n bigint) USING iceberg TBLPROPERTIES ('write.spark.accept-any-schema' = 'true')")
numbers = spark.range(10).withColumnRenamed("id", "n")
glueContext.write_dynamic_frame.from_options(
    frame=DynamicFrame.fromDF(numbers, glueContext, "numbers"),
    connection_type=connection_type,
    connection_options={"path": path},
)
if connection_type == "iceberg":
    snapshot_id, epoch_ms = (
        spark.table(f"{path}.snapshots").selectExpr("snapshot_id", "unix_millis(committed_at)").first()
    )
    spark.sql(f"ALTER TABLE {path} CREATE TAG first")
    spark.sql(f"ALTER TABLE {path} CREATE BRANCH aside")
    chosen = {
        "snapshot-id": snapshot_id,
        "as-of-timestamp": epoch_ms,
        "tag": "first",
        "branch": "aside",
        "versionAsOf": snapshot_id,
    }
else:
    (at,) = spark.sql(f"DESCRIBE HISTORY delta.`{path}`").select("timestamp").first()
    chosen = {"versionAsOf": 0, "timestampAsOf": str(at)}
glueContext.write_data_frame.from_catalog(
    frame=numbers.limit(5).withColumn("note", lit("late")),
    database="lake",
    table_name="numbers",
    additional_options={"mergeSchema": "true"},
)

counts = {}
for name, value in {"": None, **chosen}.items():
    options = {name: value} if name else {}
    where = {"connection_type": connection_type, "connection_options": {"path": path, **options}}
    table = {"database": "lake", "table_name": "numbers", "additional_options": options}
    counts[name] = [
        glueContext.create_data_frame.from_options(**where).count(),
        glueContext.create_dynamic_frame.from_options(**where).count(),
        glueContext.create_data_frame.from_catalog(**table).count(),
        glueContext.create_dynamic_frame.from_catalog(**table).count(),
        glueContext.create_data_frame.from_catalog(**table, push_down_predicate="n >= 5").count(),
    ]

if connection_type == "iceberg":
    crawled = {"database": "found", "table_name": "clicks"}
    counts["crawled"] = [
        glueContext.create_data_frame.from_catalog(**crawled).count(),
        glueContext.create_dynamic_frame.from_catalog(**crawled, push_down_predicate="id > 1").count(),
    ]

with Path(args["output_path"]).open("w") as out:
    json.dump(counts, out)
job.commit()
