"""The job that `gluepot prepare` runs. It does a little of all that most jobs do, so that Spark loads those classes."""

import sys

from pyspark import SparkContext
from pyspark.sql import DataFrame

from awsglue.context import GlueContext
from awsglue.dynamicframe import DynamicFrame
from awsglue.job import Job
from awsglue.utils import getResolvedOptions

args = getResolvedOptions(sys.argv, ["JOB_NAME", "TempDir"])
glue_context = GlueContext(SparkContext())
spark = glue_context.spark_session
job = Job(glue_context)
job.init("prepare", args)
table = f"{args['TempDir']}/table"


def process(data_frame: DataFrame, _: int) -> None:
    """Write one batch."""
    frame = DynamicFrame.fromDF(data_frame.selectExpr("value", "value % 3 AS kind"), glue_context, "numbers")
    glue_context.write_dynamic_frame.from_options(
        frame=frame,
        connection_type="s3",
        connection_options={"path": table, "partitionKeys": ["kind"]},
        format="glueparquet",
    )


stream = spark.readStream.format("rate-micro-batch").option("rowsPerBatch", 10).load()
glue_context.forEachBatch(
    stream, process, {"windowSize": "0 seconds", "checkpointLocation": f"{args['TempDir']}/checkpoint"}
)
spark.read.format("gluepot").load(table).groupBy("kind").count().collect()
spark.read.parquet(table).createOrReplaceTempView("numbers")
spark.sql("SELECT kind, sum(value) FROM numbers GROUP BY kind ORDER BY kind").collect()
job.commit()
