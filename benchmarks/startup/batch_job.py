"""Gluepot's side of a small batch job: ten rows of JSON are read, mapped and written."""

from __future__ import annotations

import sys

from benchmarks.startup.marks import mark, mark_jvm

mark("driver's own imports")

from pyspark.context import SparkContext  # noqa: E402

from awsglue.context import GlueContext  # noqa: E402
from awsglue.job import Job  # noqa: E402
from awsglue.transforms import ApplyMapping  # noqa: E402
from awsglue.utils import getResolvedOptions  # noqa: E402

mark_jvm()
args = getResolvedOptions(sys.argv, ["JOB_NAME", "rows", "table"])
spark_context = SparkContext.getOrCreate()
mark("SparkContext")
glue_context = GlueContext(spark_context)
job = Job(glue_context)
job.init(args["JOB_NAME"], args)
mark("GlueContext and session")
rows = glue_context.create_dynamic_frame.from_options(
    connection_type="s3", connection_options={"paths": [args["rows"]]}, format="json", transformation_ctx="rows"
)
mapped = ApplyMapping.apply(
    frame=rows,
    mappings=[("id", "int", "id", "long"), ("name", "string", "name", "string")],
    transformation_ctx="mapped",
)
mark("read and mapping planned")
glue_context.write_dynamic_frame.from_options(
    frame=mapped,
    connection_type="s3",
    connection_options={"path": args["table"]},
    format="glueparquet",
    transformation_ctx="table",
)
mark("rows written")
job.commit()
mark("job committed")
