import sys
from awsglue.transforms import *
from awsglue.utils import getResolvedOptions
from pyspark.context import SparkContext
from awsglue.context import GlueContext
from awsglue.job import Job
from awsgluedq.transforms import EvaluateDataQuality
from awsglue.dynamicframe import DynamicFrameCollection
from awsglue import DynamicFrame
import concurrent.futures
import re

class GroupFilter:
      def __init__(self, name, filters):
        self.name = name
        self.filters = filters

def apply_group_filter(source_DyF, group):
    return(Filter.apply(frame = source_DyF, f = group.filters))

def threadedRoute(glue_ctx, source_DyF, group_filters) -> DynamicFrameCollection:
    dynamic_frames = {}
    with concurrent.futures.ThreadPoolExecutor() as executor:
        future_to_filter = {executor.submit(apply_group_filter, source_DyF, gf): gf for gf in group_filters}
        for future in concurrent.futures.as_completed(future_to_filter):
            gf = future_to_filter[future]
            if future.exception() is not None:
                print('%r generated an exception: %s' % (gf, future.exception()))
            else:
                dynamic_frames[gf.name] = future.result()
    return DynamicFrameCollection(dynamic_frames, glue_ctx)

args = getResolvedOptions(sys.argv, ['JOB_NAME'])
sc = SparkContext()
glueContext = GlueContext(sc)
spark = glueContext.spark_session
job = Job(glueContext)
job.init(args['JOB_NAME'], args)

# Script generated for node Amazon S3
AmazonS3_node1 = glueContext.create_dynamic_frame.from_options(format_options={"multiLine": "false"}, connection_type="s3", format="json", connection_options={"paths": ["s3://example/orders/"], "recurse": True}, transformation_ctx="AmazonS3_node1")

# Script generated for node Evaluate Data Quality
EvaluateDataQuality_node2_ruleset = """
    # Example rules: Completeness "colA" between 0.4 and 0.8, ColumnCount > 10
    Rules = [
        IsComplete "id",
        IsUnique "id",
        ColumnValues "amount" > 0 where "status <> 'refund'",
        ColumnValues "status" in ["new", "paid", "refund"] with threshold > 0.5,
        RowCount > 3
    ]
"""

EvaluateDataQuality_node2 = EvaluateDataQuality().process_rows(frame=AmazonS3_node1, ruleset=EvaluateDataQuality_node2_ruleset, publishing_options={"dataQualityEvaluationContext": "EvaluateDataQuality_node2", "enableDataQualityCloudWatchMetrics": True, "enableDataQualityResultsPublishing": True, "resultsS3Prefix": "s3://example/results/"}, additional_options={"observations.scope":"ALL","performanceTuning.caching":"CACHE_NOTHING"})

# Script generated for node ruleOutcomes
ruleOutcomes_node3 = SelectFromCollection.apply(dfc=EvaluateDataQuality_node2, key="ruleOutcomes", transformation_ctx="ruleOutcomes_node3")

# Script generated for node rowLevelOutcomes
rowLevelOutcomes_node4 = SelectFromCollection.apply(dfc=EvaluateDataQuality_node2, key="rowLevelOutcomes", transformation_ctx="rowLevelOutcomes_node4")

# Script generated for node Conditional Router
ConditionalRouter_node5 = threadedRoute(glueContext,
  source_DyF = rowLevelOutcomes_node4,
  group_filters = [GroupFilter(name = "failed_group", filters = lambda row: (bool(re.match("Failed", row["DataQualityEvaluationResult"])))), GroupFilter(name = "default_group", filters = lambda row: (not(bool(re.match("Failed", row["DataQualityEvaluationResult"])))))])

# Script generated for node failed_group
failed_group_node6 = SelectFromCollection.apply(dfc=ConditionalRouter_node5, key="failed_group", transformation_ctx="failed_group_node6")

# Script generated for node default_group
default_group_node7 = SelectFromCollection.apply(dfc=ConditionalRouter_node5, key="default_group", transformation_ctx="default_group_node7")

# Script generated for node Drop Fields
DropFields_node8 = DropFields.apply(frame=default_group_node7, paths=["DataQualityRulesPass", "DataQualityRulesFail", "DataQualityRulesSkip", "DataQualityEvaluationResult"], transformation_ctx="DropFields_node8")

# Script generated for node Amazon S3
AmazonS3_node9 = glueContext.write_dynamic_frame.from_options(frame=failed_group_node6, connection_type="s3", format="json", connection_options={"path": "s3://example/quarantine/", "partitionKeys": []}, transformation_ctx="AmazonS3_node9")

# Script generated for node Amazon S3
AmazonS3_node10 = glueContext.write_dynamic_frame.from_options(frame=DropFields_node8, connection_type="s3", format="glueparquet", connection_options={"path": "s3://example/target/", "partitionKeys": []}, format_options={"compression": "snappy"}, transformation_ctx="AmazonS3_node10")

# Script generated for node Amazon S3
AmazonS3_node11 = glueContext.write_dynamic_frame.from_options(frame=ruleOutcomes_node3, connection_type="s3", format="json", connection_options={"path": "s3://example/outcomes/", "partitionKeys": []}, transformation_ctx="AmazonS3_node11")

job.commit()
