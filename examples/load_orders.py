import sys

from pyspark.context import SparkContext

from awsglue.context import GlueContext
from awsglue.job import Job
from awsglue.transforms import ApplyMapping
from awsglue.utils import getResolvedOptions

args = getResolvedOptions(sys.argv, ["JOB_NAME", "input_path", "output_path"])
glueContext = GlueContext(SparkContext.getOrCreate())
job = Job(glueContext)
job.init(args["JOB_NAME"], args)

# The bookmark makes each run read the files that no earlier run has read.
orders = glueContext.create_dynamic_frame.from_options(
    connection_type="s3",
    connection_options={"paths": [args["input_path"]], "recurse": True},
    format="json",
    transformation_ctx="orders",
)
typed = ApplyMapping.apply(
    frame=orders,
    mappings=[
        ("order_id", "string", "order_id", "string"),
        ("ordered_at", "string", "ordered_at", "timestamp"),
        ("country", "string", "country", "string"),
        ("amount", "double", "amount", "double"),
    ],
    transformation_ctx="typed",
)
glueContext.write_dynamic_frame.from_options(
    frame=typed,
    connection_type="s3",
    connection_options={"path": args["output_path"], "partitionKeys": ["country"]},
    format="glueparquet",
    transformation_ctx="written",
)
print(f"{typed.count()} new orders were loaded.")
job.commit()
