"""Payments whose amounts are numbers or texts: clean them, keep what is wrong apart. Written by hand."""
import sys

from awsglue.context import GlueContext
from awsglue.job import Job
from awsglue.transforms import Filter, Map, ResolveChoice, SelectFromCollection, SplitRows
from awsglue.utils import getResolvedOptions
from pyspark.sql import SparkSession

args = getResolvedOptions(sys.argv, ["JOB_NAME", "input_path", "output_path"])
glueContext = GlueContext(SparkSession.builder.getOrCreate())
job = Job(glueContext)
job.init(args["JOB_NAME"], args)

payments = glueContext.create_dynamic_frame_from_options(
    "s3",
    {"paths": [args["input_path"]], "groupFiles": "inPartition"},
    format="json",
    transformation_ctx="payments",
)
payments.printSchema()
print(f"{payments.count()} payments, {payments.errorsCount()} lines that are none")


def mask_card(record):
    record["card"] = "*" * 12 + record["card"][-4:]
    if record["customer"]["country"] == "??":
        raise ValueError(f"payment {record['id']} has no country")
    return record


typed = ResolveChoice.apply(payments, specs=[("amount", "cast:double")], transformation_ctx="typed")
masked = Map.apply(frame=typed, f=mask_card, info="mask cards", stageThreshold=10, transformation_ctx="masked")
positive = Filter.apply(frame=masked, f=lambda row: row["amount"] > 0, transformation_ctx="positive")
split = SplitRows.apply(positive, {"amount": {">=": 1000}}, "large", "small", transformation_ctx="split")

for name in ("large", "small"):
    part = SelectFromCollection.apply(dfc=split, key=name, transformation_ctx=f"part_{name}")
    glueContext.write_dynamic_frame_from_options(
        frame=part.unnest().rename_field("`customer.country`", "country"),
        connection_type="s3",
        connection_options={"path": f"{args['output_path']}/{name}"},
        format="parquet",
        transformation_ctx=f"write_{name}",
    )
glueContext.write_dynamic_frame_from_options(
    frame=masked.errorsAsDynamicFrame(),
    connection_type="s3",
    connection_options={"path": f"{args['output_path']}/errors"},
    format="json",
    transformation_ctx="write_errors",
)
job.commit()
