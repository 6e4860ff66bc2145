"""A published example: orders by customer and month to Amazon Redshift. Unchanged from `Convert to DataFrame` on."""

import sys
from awsglue.utils import getResolvedOptions
from pyspark.context import SparkContext
from awsglue.context import GlueContext
from awsglue.job import Job
args = getResolvedOptions(sys.argv, ['JOB_NAME'])
glueContext = GlueContext(SparkContext())
job = Job(glueContext)
job.init(args['JOB_NAME'], args)
my_dyf = glueContext.create_dynamic_frame.from_catalog(
database="curated_data",
table_name="orders",
transformation_ctx="my_dyf"
)
from awsglue.dynamicframe import DynamicFrame
# Convert to DataFrame for complex transforms
df = my_dyf.toDF()
# --- Aggregation: total revenue per customer per month ---
from pyspark.sql import functions as F
agg_df = df.groupBy("customer_id", F.date_trunc("month", "order_timestamp").alias("month")) \
.agg(
F.sum("total_amount").alias("monthly_revenue"),
F.count("order_id").alias("order_count"),
F.avg("total_amount").alias("avg_order_value")
)
# Also write summary to Redshift
glueContext.write_dynamic_frame.from_jdbc_conf(
frame=DynamicFrame.fromDF(agg_df, glueContext, "agg"),
catalog_connection="redshift-prod",
connection_options={
"dbtable": "analytics.monthly_revenue",
"database": "warehouse"
},
redshift_tmp_dir="s3://my-temp-bucket/redshift-staging/"
)
job.commit()
