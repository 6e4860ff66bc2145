import sys
from awsglue.transforms import *
from awsglue.utils import getResolvedOptions
from pyspark.context import SparkContext
from awsglue.context import GlueContext
from awsglue.job import Job
import gs_repartition
import gs_pivot
import gs_now
import gs_derived
import gs_explode
import gs_unpivot
import gs_concat
import gs_array_to_cols
import gs_split

args = getResolvedOptions(sys.argv, ["JOB_NAME", "input_path", "output_path"])
sc = SparkContext()
glueContext = GlueContext(sc)
spark = glueContext.spark_session
job = Job(glueContext)
job.init(args["JOB_NAME"], args)

# Script generated for node JSON files source
JSONfilessource_node1681000000001 = glueContext.create_dynamic_frame.from_options(
    format_options={"multiLine": "false"},
    connection_type="s3",
    format="json",
    connection_options={"paths": [args["input_path"]], "recurse": True},
    transformation_ctx="JSONfilessource_node1681000000001",
)

# Script generated for node Split instrument
Splitinstrument_node1681000000002 = JSONfilessource_node1681000000001.gs_split(
    colName="instrument", pattern="\\s+", newColName="instrument_arr"
)

# Script generated for node Instrument columns
Instrumentcolumns_node1681000000003 = Splitinstrument_node1681000000002.gs_array_to_cols(
    colName="instrument_arr",
    colList="month, day, year, strike_price, type",
    indexes="2, 3, 4, 5, 6",
)

# Script generated for node Four digits year
Fourdigitsyear_node1681000000004 = Instrumentcolumns_node1681000000003.gs_derived(
    colName="year",
    expr="CASE WHEN length(year) = 2 THEN ('20' || year) ELSE year END",
)

# Script generated for node Build expiration date
Buildexpirationdate_node1681000000005 = Fourdigitsyear_node1681000000004.gs_concat(
    colName="expiration_date", colList=["year", "month", "day"], spacer="-"
)

# Script generated for node Unpivot actions
Unpivotactions_node1681000000006 = Buildexpirationdate_node1681000000005.gs_unpivot(
    nameCol="action", valueCol="contracts", colList=["bought", "sold"]
)

# Script generated for node Explode contracts
Explodecontracts_node1681000000007 = Unpivotactions_node1681000000006.gs_explode(
    colName="contracts", newCol="contracts"
)

# Script generated for node Select Fields
SelectFields_node1681000000008 = SelectFields.apply(
    frame=Explodecontracts_node1681000000007,
    paths=["symbol", "type", "contracts"],
    transformation_ctx="SelectFields_node1681000000008",
)

# Script generated for node Pivot summary
Pivotsummary_node1681000000009 = SelectFields_node1681000000008.gs_pivot(
    aggCol="contracts", aggFunction="sum", colList=["type"]
)

# Script generated for node Single output file
Singleoutputfile_node1681000000010 = Pivotsummary_node1681000000009.gs_repartition(
    numPartitionsStr="1"
)

# Script generated for node Drop Fields
DropFields_node1681000000011 = DropFields.apply(
    frame=Explodecontracts_node1681000000007,
    paths=["instrument_arr", "month", "day", "year"],
    transformation_ctx="DropFields_node1681000000011",
)

# Script generated for node Total in usd
Totalinusd_node1681000000012 = DropFields_node1681000000011.gs_derived(
    colName="total_usd",
    expr="round(contracts * price * CASE currency WHEN 'eur' THEN 1.09D ELSE 1D END, 2)",
)

# Script generated for node Add Current Timestamp
AddCurrentTimestamp_node1681000000013 = Totalinusd_node1681000000012.gs_now(
    colName="ingest_date", dateFormat="%Y-%m-%d"
)

# Script generated for node CSV Contract summary
CSVContractsummary_node1681000000014 = glueContext.write_dynamic_frame.from_options(
    frame=Singleoutputfile_node1681000000010,
    connection_type="s3",
    format="csv",
    connection_options={"path": args["output_path"] + "/summary", "partitionKeys": []},
    transformation_ctx="CSVContractsummary_node1681000000014",
)

# Script generated for node Orders table
Orderstable_node1681000000015 = glueContext.write_dynamic_frame.from_options(
    frame=AddCurrentTimestamp_node1681000000013,
    connection_type="s3",
    format="glueparquet",
    connection_options={"path": args["output_path"] + "/orders", "partitionKeys": []},
    format_options={"compression": "snappy"},
    transformation_ctx="Orderstable_node1681000000015",
)

job.commit()
