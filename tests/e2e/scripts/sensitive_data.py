"""As Glue Studio writes it: three nodes "Detect Sensitive Data", by actions, by cell and by column, on one source."""

import hashlib
import sys

from pyspark.context import SparkContext
from pyspark.sql.functions import lit, udf
from pyspark.sql.types import StringType

from awsglue.context import GlueContext
from awsglue.dynamicframe import DynamicFrame
from awsglue.job import Job
from awsglue.transforms import *  # noqa: F403 - as Studio writes it
from awsglue.utils import getResolvedOptions
from awsgluedq.transforms import EvaluateDataQuality
from awsglueml.transforms import EntityDetector

args = getResolvedOptions(sys.argv, ["JOB_NAME", "input_path", "output_path"])
sc = SparkContext()
glueContext = GlueContext(sc)  # noqa: N816 - as Studio writes it
spark = glueContext.spark_session
job = Job(glueContext)
job.init(args["JOB_NAME"], args)

# Default ruleset used by all target nodes with data quality enabled
DEFAULT_DATA_QUALITY_RULESET = """
    Rules = [
        ColumnCount > 0
    ]
"""

# Script generated for node Amazon S3
AmazonS3_node1700000000001 = glueContext.create_dynamic_frame.from_options(
    format_options={"quoteChar": '"', "withHeader": True, "separator": ",", "optimizePerformance": False},
    connection_type="s3",
    format="csv",
    connection_options={"paths": [args["input_path"]], "recurse": True},
    transformation_ctx="AmazonS3_node1700000000001",
)

# Script generated for node Detect Sensitive Data (actions)
detection_parameters = {
    "EMAIL": [{"action": "PARTIAL_REDACT", "actionOptions": {"numLeftCharsToExclude": "2", "redactChar": "*"}}],
    "USA_SSN": [{"action": "SHA256_HASH", "sourceColumns": ["ssn"]}],
    "PHONE_NUMBER": [
        {"action": "REDACT", "sourceColumnsToExclude": ["id"], "actionOptions": {"redactText": "*******"}}
    ],
}

entity_detector = EntityDetector()
DetectSensitiveData_node1700000000002 = entity_detector.detect(
    AmazonS3_node1700000000001, detection_parameters, "DetectedEntities", "HIGH"
)

# Script generated for node Detect Sensitive Data (cells)
entity_detector = EntityDetector()
detected_df = entity_detector.detect(AmazonS3_node1700000000001, ["EMAIL", "USA_SSN"], "DetectedEntities")


def replace_cell(original_cell_value, sorted_reverse_start_end_tuples):
    if sorted_reverse_start_end_tuples:
        for entity in sorted_reverse_start_end_tuples:
            to_mask_value = original_cell_value[entity[0] : entity[1]]
            original_cell_value = original_cell_value.replace(to_mask_value, "XXXXXXX")
    return original_cell_value


def row_pii(column_name, original_cell_value, detected_entities):
    if column_name in detected_entities.keys():  # noqa: SIM118 - as Studio writes it
        entities = detected_entities[column_name]
        start_end_tuples = [(entity["start"], entity["end"]) for entity in entities]
        sorted_reverse_start_end_tuples = sorted(start_end_tuples, key=lambda start_end: start_end[1], reverse=True)
        return replace_cell(original_cell_value, sorted_reverse_start_end_tuples)
    return original_cell_value


row_pii_udf = udf(row_pii, StringType())


def recur(df, remaining_keys):
    if len(remaining_keys) == 0:
        return df
    head = remaining_keys[0]
    tail = remaining_keys[1:]
    modified_df = df.withColumn(head, row_pii_udf(lit(head), head, "DetectedEntities"))
    return recur(modified_df, tail)


keys = AmazonS3_node1700000000001.toDF().columns
updated_masked_df = recur(detected_df.toDF(), keys)
updated_masked_df = updated_masked_df.drop("DetectedEntities")
DetectSensitiveData_node1700000000003 = DynamicFrame.fromDF(updated_masked_df, glueContext, "updated_masked_df")

# Script generated for node Detect Sensitive Data (columns)
entity_detector = EntityDetector()
classified_map = entity_detector.classify_columns(
    AmazonS3_node1700000000001, ["EMAIL", "USA_SSN", "IP_ADDRESS"], 1.0, 0.1, "HIGH"
)


def pii_column_hash(original_cell_value):
    return hashlib.sha256(str(original_cell_value).encode()).hexdigest()


pii_column_hash_udf = udf(pii_column_hash, StringType())


def hashDf(df, keys):  # noqa: N802 - as Studio writes it
    if not keys:
        return df
    df_to_hash = df.toDF()
    for key in keys:
        df_to_hash = df_to_hash.withColumn(key, pii_column_hash_udf(key))
    return DynamicFrame.fromDF(df_to_hash, glueContext, "updated_hashed_df")


DetectSensitiveData_node1700000000004 = hashDf(AmazonS3_node1700000000001, list(classified_map.keys()))

# Script generated for node Amazon S3 targets
for name, frame in (
    ("actions", DetectSensitiveData_node1700000000002),
    ("cells", DetectSensitiveData_node1700000000003),
    ("columns", DetectSensitiveData_node1700000000004),
):
    EvaluateDataQuality().process_rows(
        frame=frame,
        ruleset=DEFAULT_DATA_QUALITY_RULESET,
        publishing_options={
            "dataQualityEvaluationContext": f"EvaluateDataQuality_{name}",
            "enableDataQualityResultsPublishing": True,
        },
        additional_options={"dataQualityResultsPublishing.strategy": "BEST_EFFORT", "observations.scope": "ALL"},
    )
    glueContext.write_dynamic_frame.from_options(
        frame=frame,
        connection_type="s3",
        format="json",
        connection_options={"path": f"{args['output_path']}/{name}/", "partitionKeys": []},
        transformation_ctx=f"AmazonS3_{name}",
    )

job.commit()
