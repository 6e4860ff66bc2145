import sys
from awsglue.transforms import *
from awsglue.utils import getResolvedOptions
from pyspark.context import SparkContext
from awsglue.context import GlueContext
from awsglue.job import Job
from awsglue import DynamicFrame
from pyspark.sql import functions as SqlFuncs

args = getResolvedOptions(sys.argv, ["JOB_NAME", "TempDir", "bootstrap_servers", "topic", "output_path"])
sc = SparkContext()
glueContext = GlueContext(sc)
spark = glueContext.spark_session
job = Job(glueContext)
job.init(args["JOB_NAME"], args)


def sparkSqlQuery(glueContext, query, mapping, transformation_ctx) -> DynamicFrame:
    for alias, frame in mapping.items():
        frame.toDF().createOrReplaceTempView(alias)
    result = spark.sql(query)
    return DynamicFrame.fromDF(result, glueContext, transformation_ctx)


def sparkAggregate(glueContext, parentFrame, groups, aggs, transformation_ctx) -> DynamicFrame:
    aggsFuncs = []
    for column, func in aggs:
        aggsFuncs.append(getattr(SqlFuncs, func)(column))
    result = (
        parentFrame.toDF().groupBy(*groups).agg(*aggsFuncs)
        if len(groups) > 0
        else parentFrame.toDF().agg(*aggsFuncs)
    )
    return DynamicFrame.fromDF(result, glueContext, transformation_ctx)


# Script generated for node Apache Kafka
dataframe_ApacheKafka_node1690000000001 = glueContext.create_data_frame.from_options(
    connection_type="kafka",
    connection_options={
        "bootstrap.servers": args["bootstrap_servers"],
        "classification": "json",
        "startingOffsets": "earliest",
        "topicName": args["topic"],
        "inferSchema": "true",
        "typeOfData": "kafka",
    },
    transformation_ctx="dataframe_ApacheKafka_node1690000000001",
)


def processBatch(data_frame, batchId):
    if data_frame.count() > 0:
        ApacheKafka_node1690000000001 = DynamicFrame.fromDF(
            data_frame, glueContext, "from_data_frame"
        )
        # Script generated for node SQL Query
        SqlQuery0 = """
        select sensor, room, temperature from myDataSource where temperature > 20
        """
        SQLQuery_node1690000000002 = sparkSqlQuery(
            glueContext,
            query=SqlQuery0,
            mapping={"myDataSource": ApacheKafka_node1690000000001},
            transformation_ctx="SQLQuery_node1690000000002",
        )
        # Script generated for node Aggregate
        Aggregate_node1690000000003 = sparkAggregate(
            glueContext,
            parentFrame=SQLQuery_node1690000000002,
            groups=["room"],
            aggs=[["sensor", "count"], ["temperature", "max"]],
            transformation_ctx="Aggregate_node1690000000003",
        )
        # Script generated for node Change Schema
        ChangeSchema_node1690000000004 = ApplyMapping.apply(
            frame=Aggregate_node1690000000003,
            mappings=[
                ("room", "string", "room", "string"),
                ("`count(sensor)`", "long", "alerts", "int"),
                ("`max(temperature)`", "double", "highest", "double"),
            ],
            transformation_ctx="ChangeSchema_node1690000000004",
        )
        # Script generated for node Amazon S3
        AmazonS3_node1690000000005 = glueContext.write_dynamic_frame.from_options(
            frame=ChangeSchema_node1690000000004,
            connection_type="s3",
            format="glueparquet",
            connection_options={"path": args["output_path"], "partitionKeys": []},
            format_options={"compression": "gzip"},
            transformation_ctx="AmazonS3_node1690000000005",
        )


glueContext.forEachBatch(
    frame=dataframe_ApacheKafka_node1690000000001,
    batch_function=processBatch,
    options={
        "windowSize": "100 seconds",
        "checkpointLocation": args["TempDir"] + "/" + args["JOB_NAME"] + "/checkpoint/",
    },
)
job.commit()
