import sys
from awsglue.transforms import *
from awsglue.utils import getResolvedOptions
from pyspark.context import SparkContext
from awsglue.context import GlueContext
from awsglue.job import Job
from awsgluedq.transforms import EvaluateDataQuality

args = getResolvedOptions(sys.argv, ['JOB_NAME'])
sc = SparkContext()
glueContext = GlueContext(sc)
spark = glueContext.spark_session
job = Job(glueContext)
job.init(args['JOB_NAME'], args)

# Script generated for node Orders
Orders_node1 = glueContext.create_dynamic_frame.from_options(format_options={"multiLine": "false"}, connection_type="s3", format="json", connection_options={"paths": ["s3://example/orders/"], "recurse": True}, transformation_ctx="Orders_node1")

# Script generated for node Customers
Customers_node2 = glueContext.create_dynamic_frame.from_options(format_options={"quoteChar": "\"", "withHeader": True, "separator": ","}, connection_type="s3", format="csv", connection_options={"paths": ["s3://example/customers/"], "recurse": True}, transformation_ctx="Customers_node2")

# Script generated for node Evaluate Data Quality (Multiframe)
EvaluateDataQualityMultiframe_node3_additional_sources = {
"customers": Customers_node2
}

EvaluateDataQualityMultiframe_node3_ruleset = """
    Rules = [
        ReferentialIntegrity "customer" "customers.name" >= 0.9,
        RowCountMatch "customers" > 1,
        AggregateMatch "sum(amount)" "sum(amount)" = 1,
        CustomSql "select count(*) from primary p left anti join customers c on p.customer = c.name" < 1
    ]
"""

EvaluateDataQualityMultiframe_node3 = EvaluateDataQuality().process_rows(frame=Orders_node1, additional_data_sources=EvaluateDataQualityMultiframe_node3_additional_sources, ruleset=EvaluateDataQualityMultiframe_node3_ruleset, publishing_options={"dataQualityEvaluationContext": "EvaluateDataQualityMultiframe_node3", "enableDataQualityCloudWatchMetrics": True, "enableDataQualityResultsPublishing": True}, additional_options={"performanceTuning.caching":"CACHE_NOTHING", "observations.scope":"ALL"})

# Script generated for node Amazon S3
AmazonS3_node4 = glueContext.write_dynamic_frame.from_options(frame=Orders_node1, connection_type="s3", format="json", connection_options={"path": "s3://example/target/", "partitionKeys": []}, transformation_ctx="AmazonS3_node4")

assert EvaluateDataQualityMultiframe_node3[EvaluateDataQuality.DATA_QUALITY_RULE_OUTCOMES_KEY].filter(lambda x: x["Outcome"] == "Failed").count() == 0, "The job failed due to failing DQ rules for node: Orders_node1"

job.commit()
