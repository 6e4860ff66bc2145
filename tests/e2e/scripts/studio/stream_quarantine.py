import sys
from awsglue.transforms import *
from awsglue.utils import getResolvedOptions
from pyspark.context import SparkContext
from awsglue.context import GlueContext
from awsglue.job import Job
from awsgluedq.transforms import EvaluateDataQuality
from awsglue import DynamicFrame
import re

args = getResolvedOptions(sys.argv, ['JOB_NAME', 'TempDir'])
sc = SparkContext()
glueContext = GlueContext(sc)
spark = glueContext.spark_session
job = Job(glueContext)
job.init(args['JOB_NAME'], args)

# Script generated for node Apache Kafka
dataframe_ApacheKafka_node1 = glueContext.create_data_frame.from_options(connection_type="kafka", connection_options={"connectionName": "events", "classification": "json", "startingOffsets": "earliest", "topicName": "numbers", "inferSchema": "true", "typeOfData": "kafka"}, transformation_ctx="dataframe_ApacheKafka_node1")

def processBatch(data_frame, batchId):
    if (data_frame.count() > 0):
        ApacheKafka_node1 = DynamicFrame.fromDF(data_frame, glueContext, "from_data_frame")

        # Script generated for node Evaluate Data Quality
        EvaluateDataQuality_node2_ruleset = """
            Rules = [
                IsComplete "number",
                ColumnValues "number" >= 0,
                RowCount >= last() * 0,
                RowCount between 0 and 1 + 1000 * max(last(3)) + 1000000
            ]
        """
        EvaluateDataQuality_node2 = EvaluateDataQuality().process_rows(frame=ApacheKafka_node1, ruleset=EvaluateDataQuality_node2_ruleset, publishing_options={"dataQualityEvaluationContext": "EvaluateDataQuality_node2", "enableDataQualityCloudWatchMetrics": True, "enableDataQualityResultsPublishing": True}, additional_options={"performanceTuning.caching":"CACHE_NOTHING", "observations.scope":"ALL"})

        # Script generated for node rowLevelOutcomes
        rowLevelOutcomes_node3 = SelectFromCollection.apply(dfc=EvaluateDataQuality_node2, key="rowLevelOutcomes", transformation_ctx="rowLevelOutcomes_node3")
        failed_node4 = Filter.apply(frame=rowLevelOutcomes_node3, f=lambda row: (bool(re.match("Failed", row["DataQualityEvaluationResult"]))), transformation_ctx="failed_node4")
        passed_node5 = Filter.apply(frame=rowLevelOutcomes_node3, f=lambda row: (bool(re.match("Passed", row["DataQualityEvaluationResult"]))), transformation_ctx="passed_node5")
        good_node6 = DropFields.apply(frame=passed_node5, paths=["DataQualityRulesPass", "DataQualityRulesFail", "DataQualityRulesSkip", "DataQualityEvaluationResult"], transformation_ctx="good_node6")

        # Script generated for node Amazon S3
        AmazonS3_node7 = glueContext.write_dynamic_frame.from_options(frame=good_node6, connection_type="s3", format="glueparquet", connection_options={"path": "s3://example/target/", "partitionKeys": []}, transformation_ctx="AmazonS3_node7")
        AmazonS3_node8 = glueContext.write_dynamic_frame.from_options(frame=failed_node4, connection_type="s3", format="glueparquet", connection_options={"path": "s3://example/quarantine/", "partitionKeys": []}, transformation_ctx="AmazonS3_node8")

glueContext.forEachBatch(frame = dataframe_ApacheKafka_node1, batch_function = processBatch, options = {"windowSize": "1 seconds", "checkpointLocation": args["TempDir"] + "/" + args["JOB_NAME"] + "/checkpoint/"})
job.commit()
