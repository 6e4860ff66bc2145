import sys
from awsglue.transforms import *
from awsglue.utils import getResolvedOptions
from pyspark.context import SparkContext
from awsglue.context import GlueContext
from awsglue.job import Job

## @params: [JOB_NAME, input_path, output_path]
args = getResolvedOptions(sys.argv, ['JOB_NAME', 'input_path', 'output_path'])

sc = SparkContext()
glueContext = GlueContext(sc)
spark = glueContext.spark_session
job = Job(glueContext)
job.init(args['JOB_NAME'], args)
## @type: DataSource
## @args: [connection_type = "s3", format = "csv", transformation_ctx = "datasource0"]
## @return: datasource0
## @inputs: []
datasource0 = glueContext.create_dynamic_frame.from_options(connection_type = "s3", connection_options = {"paths": [args['input_path']]}, format = "csv", format_options = {"withHeader": True, "separator": ","}, transformation_ctx = "datasource0")
## @type: ApplyMapping
## @args: [mapping = [("year", "string", "year", "int"), ("carrier", "string", "carrier", "string"), ("dep_delay", "string", "dep_delay_minutes", "int"), ("distance", "string", "distance_miles", "double"), ("cancelled", "string", "cancelled", "boolean"), ("comment", "string", "comment", "string")], transformation_ctx = "applymapping1"]
## @return: applymapping1
## @inputs: [frame = datasource0]
applymapping1 = ApplyMapping.apply(frame = datasource0, mappings = [("year", "string", "year", "int"), ("carrier", "string", "carrier", "string"), ("dep_delay", "string", "dep_delay_minutes", "int"), ("distance", "string", "distance_miles", "double"), ("cancelled", "string", "cancelled", "boolean")], transformation_ctx = "applymapping1")
## @type: ResolveChoice
## @args: [choice = "make_struct", transformation_ctx = "resolvechoice2"]
## @return: resolvechoice2
## @inputs: [frame = applymapping1]
resolvechoice2 = ResolveChoice.apply(frame = applymapping1, choice = "make_struct", transformation_ctx = "resolvechoice2")
## @type: DropNullFields
## @args: [transformation_ctx = "dropnullfields3"]
## @return: dropnullfields3
## @inputs: [frame = resolvechoice2]
dropnullfields3 = DropNullFields.apply(frame = resolvechoice2, transformation_ctx = "dropnullfields3")
## @type: DataSink
## @args: [connection_type = "s3", connection_options = {"path": output_path}, format = "parquet", transformation_ctx = "datasink4"]
## @return: datasink4
## @inputs: [frame = dropnullfields3]
datasink4 = glueContext.write_dynamic_frame.from_options(frame = dropnullfields3, connection_type = "s3", connection_options = {"path": args['output_path'], "partitionKeys": ["year"]}, format = "parquet", transformation_ctx = "datasink4")
job.commit()
