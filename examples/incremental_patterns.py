import sys
from awsglue.transforms import *
from awsglue.utils import getResolvedOptions
from pyspark.context import SparkContext
from awsglue.context import GlueContext
from awsglue.job import Job

args = getResolvedOptions(sys.argv, ['JOB_NAME', 'output_dir'])
glueContext = GlueContext(SparkContext())
job = Job(glueContext)
job.init(args['JOB_NAME'], args)

# Handling updates with bookmark-based incremental loads
incremental_data = glueContext.create_dynamic_frame.from_catalog(
    database="source_db",
    table_name="transactions",
    bookmark_key_fields=["last_modified"],
    transformation_ctx="incremental_source"
)


def transform_new_record(rec):
    rec["change"] = "new"
    return rec


def transform_updated_record(rec):
    rec["change"] = "updated"
    return rec


def apply_conditional_transform(rec):
    if rec["record_type"] == "INSERT":
        return transform_new_record(rec)
    elif rec["record_type"] == "UPDATE":
        return transform_updated_record(rec)
    else:
        return None  # Filter out unwanted records


conditional_transform = Map.apply(frame=incremental_data,
                                  f=apply_conditional_transform)

glueContext.write_dynamic_frame.from_options(
    frame=conditional_transform,
    connection_type="s3",
    connection_options={"path": args['output_dir'] + "/transactions"},
    format="glueparquet",
    transformation_ctx="transactions_sink"
)

# Processing partitioned data with individual bookmarks
partitioned_source = glueContext.create_dynamic_frame.from_catalog(
    database="analytics_db",
    table_name="sales_data",
    bookmark_key_fields=["transaction_date", "region"],
    transformation_ctx="partitioned_incremental"
)

sink = glueContext.getSink(
    connection_type="s3",
    path=args['output_dir'] + "/sales",
    enableUpdateCatalog=True,
    updateBehavior="UPDATE_IN_DATABASE",
    partitionKeys=["region"],
    transformation_ctx="sales_sink"
)
sink.setFormat("glueparquet", compression="snappy")
sink.setCatalogInfo(catalogDatabase="analytics_db", catalogTableName="sales_copy")
sink.writeFrame(partitioned_source)

job.commit()
