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

# Default ruleset used by all target nodes with data quality enabled
DEFAULT_DATA_QUALITY_RULESET = """
    Rules = [
        ColumnCount > 0
    ]
"""

# Script generated for node Amazon S3
AmazonS3_node1732400000001 = glueContext.create_dynamic_frame.from_options(format_options={"multiLine": "false"}, connection_type="s3", format="json", connection_options={"paths": ["s3://example/orders/"], "recurse": True}, transformation_ctx="AmazonS3_node1732400000001")

# Script generated for node Change Schema
ChangeSchema_node1732400000002 = ApplyMapping.apply(frame=AmazonS3_node1732400000001, mappings=[("id", "long", "order_id", "long"), ("amount", "double", "amount", "double"), ("status", "string", "status", "string")], transformation_ctx="ChangeSchema_node1732400000002")

# Script generated for node Amazon S3
EvaluateDataQuality().process_rows(frame=ChangeSchema_node1732400000002, ruleset=DEFAULT_DATA_QUALITY_RULESET, publishing_options={"dataQualityEvaluationContext": "EvaluateDataQuality_node1732400000000", "enableDataQualityResultsPublishing": True}, additional_options={"dataQualityResultsPublishing.strategy": "BEST_EFFORT", "observations.scope": "ALL"})
AmazonS3_node1732400000003 = glueContext.write_dynamic_frame.from_options(frame=ChangeSchema_node1732400000002, connection_type="s3", format="glueparquet", connection_options={"path": "s3://example/target/", "partitionKeys": []}, format_options={"compression": "snappy"}, transformation_ctx="AmazonS3_node1732400000003")

job.commit()
