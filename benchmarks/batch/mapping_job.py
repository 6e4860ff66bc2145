"""A Glue script: rows of JSON or CSV are mapped and written as a partitioned table."""

import json
import sys

from pyspark.context import SparkContext

from awsglue.context import GlueContext
from awsglue.job import Job
from awsglue.transforms import ApplyMapping
from awsglue.utils import getResolvedOptions

args = getResolvedOptions(sys.argv, ["JOB_NAME", "rows", "format", "format_options", "mapping", "table"])
glue_context = GlueContext(SparkContext.getOrCreate())
job = Job(glue_context)
job.init(args["JOB_NAME"], args)
rows = glue_context.create_dynamic_frame.from_options(
    connection_type="s3",
    connection_options={"paths": [args["rows"]]},
    format=args["format"],
    format_options=json.loads(args["format_options"]),
    transformation_ctx="rows",
)
mapped = ApplyMapping.apply(
    frame=rows, mappings=[tuple(one) for one in json.loads(args["mapping"])], transformation_ctx="mapped"
)
glue_context.write_dynamic_frame.from_options(
    frame=mapped,
    connection_type="s3",
    connection_options={"path": args["table"], "partitionKeys": ["country"]},
    format="glueparquet",
    transformation_ctx="table",
)
job.commit()
