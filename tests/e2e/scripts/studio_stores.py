"""What Glue Studio generates for nodes of MongoDB, DynamoDB, MySQL and OpenSearch; only names of places are arguments."""
# ruff: noqa: I001, N816, F403, F405  written as Studio writes them

import sys
from awsglue.transforms import *
from awsglue.utils import getResolvedOptions
from pyspark.context import SparkContext
from awsglue.context import GlueContext
from awsglue.job import Job

args = getResolvedOptions(sys.argv, ["JOB_NAME", "rows", "table", "out", "index"])
sc = SparkContext()
glueContext = GlueContext(sc)
spark = glueContext.spark_session
job = Job(glueContext)
job.init(args["JOB_NAME"], args)

# Script generated for node Amazon S3
AmazonS3_node1 = glueContext.create_dynamic_frame.from_options(
    format_options={"multiLine": "false"},
    connection_type="s3",
    format="json",
    connection_options={"paths": [args["rows"]], "recurse": True},
    transformation_ctx="AmazonS3_node1",
)

# Script generated for node MongoDB
MongoDB_node2 = glueContext.write_dynamic_frame.from_options(
    frame=AmazonS3_node1,
    connection_type="mongodb",
    connection_options={
        "connectionName": "documents",
        "database": args["table"],
        "collection": "orders",
        "disableUpdateUri": "false",
        "retryWrites": "true",
        "ssl": "false",
        "ssl.domain_match": "false",
    },
    transformation_ctx="MongoDB_node2",
)

# Script generated for node MongoDB
MongoDB_node3 = glueContext.create_dynamic_frame.from_options(
    connection_type="mongodb",
    connection_options={
        "connectionName": "documents",
        "database": args["table"],
        "collection": "orders",
        "partitioner": "com.mongodb.spark.sql.connector.read.partitioner.SinglePartitionPartitioner",
        "partitionerOptions.partitionSizeMB": "10",
        "partitionerOptions.partitionKey": "_id",
        "disableUpdateUri": "false",
    },
    transformation_ctx="MongoDB_node3",
)

# Script generated for node Change Schema
ChangeSchema_node4 = ApplyMapping.apply(
    frame=MongoDB_node3,
    mappings=[("n", "long", "n", "long"), ("name", "string", "name", "string")],
    transformation_ctx="ChangeSchema_node4",
)

# Script generated for node MySQL
MySQL_node5 = glueContext.write_dynamic_frame.from_options(
    frame=ChangeSchema_node4,
    connection_type="mysql",
    connection_options={"useConnectionProperties": "true", "dbtable": "orders", "connectionName": "shop"},
    transformation_ctx="MySQL_node5",
)

# Script generated for node Amazon OpenSearch Service
AmazonOpenSearchService_node6 = glueContext.write_dynamic_frame.from_options(
    frame=ChangeSchema_node4,
    connection_type="opensearch",
    connection_options={
        "connectionName": "search",
        "opensearch.resource": args["index"],
        "opensearch.nodes.wan.only": "true",
        "opensearch.mapping.id": "n",
    },
    transformation_ctx="AmazonOpenSearchService_node6",
)

# Script generated for node Amazon DynamoDB
AmazonDynamoDB_node7 = glueContext.write_dynamic_frame.from_options(
    frame=ChangeSchema_node4,
    connection_type="dynamodb",
    connection_options={
        "dynamodb.output.tableName": args["table"],
        "dynamodb.throughput.write.percent": "1.0",
        "dynamodb.output.retry": "10",
    },
    transformation_ctx="AmazonDynamoDB_node7",
)

# Script generated for node DynamoDB ELT connector
DynamoDBELTconnector_node8 = glueContext.create_dynamic_frame.from_options(
    connection_type="dynamodb",
    connection_options={
        "dynamodb.export": "ddb",
        "dynamodb.s3.bucket": args["table"],
        "dynamodb.s3.prefix": "exports/",
        "dynamodb.tableArn": f"arn:aws:dynamodb:us-east-1:123456789012:table/{args['table']}",
        "dynamodb.unnestDDBJson": True,
    },
    transformation_ctx="DynamoDBELTconnector_node8",
)

# Script generated for node Amazon S3
AmazonS3_node9 = glueContext.write_dynamic_frame.from_options(
    frame=DynamoDBELTconnector_node8,
    connection_type="s3",
    format="json",
    connection_options={"path": args["out"], "partitionKeys": []},
    transformation_ctx="AmazonS3_node9",
)

job.commit()
