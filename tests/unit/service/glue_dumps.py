"""What AWS's command line prints for definitions: as documents show it, and with every member of AWS's model filled."""

from botocore.model import ListShape, MapShape, StructureShape

from gluepot.service.transfer.kinds import KINDS
from gluepot.service.wire.shapes import model_of, violations

ACCOUNT = "123456789012"
THEN, LATER = "2024-03-01T09:30:00.123000+00:00", "2024-05-02T10:00:00+00:00"
KEY = f"arn:aws:kms:eu-west-1:{ACCOUNT}:key/1234abcd-12ab-34cd-56ef-1234567890ab"
_WORDS = (
    "daily",
    "3f2b8c1e-0000-4000-8000-000000000001",
    KEY,
    f"arn:aws:glue:eu-west-1:{ACCOUNT}:schema/web/clicks",
    f"arn:aws:iam::{ACCOUNT}:role/service-role/Glue",
    f"arn:aws:secretsmanager:eu-west-1:{ACCOUNT}:secret:shop",
    "s3://lake/daily/",
    "https://example.com/a",
    "Sun:10",
    "3.9",
    "#",
    "5.0",
)
# History of runs is no part of a definition, so it is not counted; a visual job's nodes are one field among others.
_LEFT_OUT = {"LastRun", "Graph", "CodeGenConfigurationNodes"}

JOBS = [
    {
        "Name": "load-orders",
        "Description": "orders of the day",
        "Role": f"arn:aws:iam::{ACCOUNT}:role/GlueJobs",
        "CreatedOn": THEN,
        "LastModifiedOn": LATER,
        "ExecutionProperty": {"MaxConcurrentRuns": 3},
        "Command": {"Name": "glueetl", "ScriptLocation": "s3://scripts/load_orders.py", "PythonVersion": "3"},
        "DefaultArguments": {
            "--TempDir": "s3://temp/",
            "--job-bookmark-option": "job-bookmark-enable",
            "--enable-metrics": "true",
            "--enable-continuous-cloudwatch-log": "true",
            "--extra-py-files": "s3://scripts/lib.zip",
            "--job-language": "python",
        },
        "NonOverridableArguments": {"--stage": "prod"},
        "Connections": {"Connections": ["warehouse"]},
        "MaxRetries": 2,
        "AllocatedCapacity": 10,
        "Timeout": 120,
        "MaxCapacity": 10.0,
        "WorkerType": "G.1X",
        "NumberOfWorkers": 10,
        "SecurityConfiguration": "strict",
        "NotificationProperty": {"NotifyDelayAfter": 30},
        "GlueVersion": "4.0",
        "ExecutionClass": "STANDARD",
        "JobMode": "VISUAL",
        "JobRunQueuingEnabled": False,
    },
    {
        "Name": "clicks",
        "Role": "GlueStreaming",
        "CreatedOn": THEN,
        "LastModifiedOn": THEN,
        "ExecutionProperty": {"MaxConcurrentRuns": 1},
        "Command": {"Name": "gluestreaming", "ScriptLocation": "s3://scripts/clicks.py", "PythonVersion": "3"},
        "DefaultArguments": {"--enable-auto-scaling": "true", "--conf": "spark.sql.shuffle.partitions=8"},
        "MaxRetries": 0,
        "AllocatedCapacity": 1,
        "MaxCapacity": 1.25,
        "WorkerType": "G.025X",
        "NumberOfWorkers": 5,
        "GlueVersion": "5.0",
        "ExecutionClass": "STANDARD",
        "JobMode": "SCRIPT",
        "JobRunQueuingEnabled": False,
        "MaintenanceWindow": "Sun:10",
    },
    {
        "Name": "report",
        "Role": "GlueShell",
        "CreatedOn": THEN,
        "LastModifiedOn": LATER,
        "ExecutionProperty": {"MaxConcurrentRuns": 1},
        "Command": {"Name": "pythonshell", "ScriptLocation": "s3://scripts/report.py", "PythonVersion": "3.9"},
        "DefaultArguments": {"--additional-python-modules": "tabulate==0.9"},
        "MaxRetries": 0,
        "AllocatedCapacity": 0,
        "Timeout": 2880,
        "MaxCapacity": 0.0625,
        "GlueVersion": "3.0",
        "ExecutionClass": "STANDARD",
        "JobMode": "SCRIPT",
        "JobRunQueuingEnabled": True,
    },
]
TRIGGERS = [
    {
        "Name": "nightly-start",
        "WorkflowName": "nightly",
        "Type": "SCHEDULED",
        "State": "ACTIVATED",
        "Schedule": "cron(0 2 * * ? *)",
        "Actions": [{"JobName": "load-orders", "Arguments": {"--day": "today"}, "Timeout": 60}],
    },
    {
        "Name": "after-load",
        "WorkflowName": "nightly",
        "Type": "CONDITIONAL",
        "State": "ACTIVATED",
        "Description": "reports what was loaded",
        "Actions": [{"JobName": "report"}],
        "Predicate": {
            "Logical": "AND",
            "Conditions": [{"LogicalOperator": "EQUALS", "JobName": "load-orders", "State": "SUCCEEDED"}],
        },
    },
    {"Name": "by-hand", "Type": "ON_DEMAND", "State": "CREATED", "Actions": [{"JobName": "report"}], "Predicate": {}},
    {
        "Name": "stopped",
        "Type": "SCHEDULED",
        "State": "DEACTIVATED",
        "Schedule": "cron(0/15 8-17 ? * MON-FRI *)",
        "Actions": [{"JobName": "report", "NotificationProperty": {"NotifyDelayAfter": 5}}],
    },
    {
        "Name": "files",
        "WorkflowName": "arrivals",
        "Type": "EVENT",
        "State": "CREATED",
        "Actions": [{"JobName": "load-orders"}],
        "EventBatchingCondition": {"BatchSize": 10, "BatchWindow": 300},
    },
]
WORKFLOWS = [
    {
        "Name": "nightly",
        "Description": "everything of a night",
        "DefaultRunProperties": {"stage": "prod"},
        "CreatedOn": THEN,
        "LastModifiedOn": LATER,
        "MaxConcurrentRuns": 1,
    },
    {"Name": "arrivals", "DefaultRunProperties": {}, "CreatedOn": THEN, "LastModifiedOn": THEN},
]
DATABASES = [
    {
        "Name": "sales",
        "Description": "what was sold",
        "LocationUri": "s3://lake/sales/",
        "Parameters": {"owner": "ada"},
        "CreateTime": THEN,
        "CreateTableDefaultPermissions": [
            {"Principal": {"DataLakePrincipalIdentifier": "IAM_ALLOWED_PRINCIPALS"}, "Permissions": ["ALL"]}
        ],
        "CatalogId": ACCOUNT,
    }
]
_STORAGE = {
    "Columns": [
        {"Name": "id", "Type": "bigint", "Comment": "of the order"},
        {"Name": "price", "Type": "decimal(10,2)"},
    ],
    "Location": "s3://lake/sales/orders/",
    "InputFormat": "org.apache.hadoop.hive.ql.io.parquet.MapredParquetInputFormat",
    "OutputFormat": "org.apache.hadoop.hive.ql.io.parquet.MapredParquetOutputFormat",
    "Compressed": False,
    "NumberOfBuckets": -1,
    "SerdeInfo": {
        "SerializationLibrary": "org.apache.hadoop.hive.ql.io.parquet.serde.ParquetHiveSerDe",
        "Parameters": {"serialization.format": "1"},
    },
    "BucketColumns": [],
    "SortColumns": [],
    "Parameters": {"classification": "parquet", "compressionType": "none", "typeOfData": "file"},
    "StoredAsSubDirectories": False,
}
TABLES = [
    {
        "Name": "orders",
        "DatabaseName": "sales",
        "Description": "orders by day",
        "Owner": "owner",
        "CreateTime": THEN,
        "UpdateTime": LATER,
        "LastAccessTime": LATER,
        "Retention": 0,
        "StorageDescriptor": _STORAGE,
        "PartitionKeys": [{"Name": "day", "Type": "string"}],
        "TableType": "EXTERNAL_TABLE",
        "Parameters": {"classification": "parquet", "CrawlerSchemaDeserializerVersion": "1.0", "recordCount": "10"},
        "CreatedBy": f"arn:aws:sts::{ACCOUNT}:assumed-role/Glue/AWS-Crawler",
        "IsRegisteredWithLakeFormation": False,
        "CatalogId": ACCOUNT,
        "VersionId": "4",
    }
]
PARTITIONS = [
    {
        "Values": [f"2024-03-0{day}"],
        "DatabaseName": "sales",
        "TableName": "orders",
        "CreationTime": THEN,
        "LastAccessTime": LATER,
        "StorageDescriptor": {**_STORAGE, "Location": f"s3://lake/sales/orders/day=2024-03-0{day}/"},
        "Parameters": {"recordCount": "5"},
        "CatalogId": ACCOUNT,
    }
    for day in (1, 2)
]
CONNECTIONS = [
    {
        "Name": "warehouse",
        "Description": "the warehouse",
        "ConnectionType": "JDBC",
        "MatchCriteria": [],
        "ConnectionProperties": {
            "JDBC_CONNECTION_URL": "jdbc:postgresql://warehouse:5432/dwh",
            "USERNAME": "glue",
            "PASSWORD": "canary",
            "JDBC_ENFORCE_SSL": "false",
        },
        "PhysicalConnectionRequirements": {
            "SubnetId": "subnet-1",
            "SecurityGroupIdList": ["sg-1"],
            "AvailabilityZone": "eu-west-1a",
        },
        "CreationTime": THEN,
        "LastUpdatedTime": LATER,
        "LastUpdatedBy": "ada",
        "ConnectionSchemaVersion": 1,
    },
    {
        "Name": "events",
        "ConnectionType": "KAFKA",
        "ConnectionProperties": {"KAFKA_BOOTSTRAP_SERVERS": "b-1:9094", "KAFKA_SSL_ENABLED": "true"},
        "CreationTime": THEN,
        "LastUpdatedTime": THEN,
        "Status": "READY",
    },
]
CLASSIFIERS = [
    {
        "GrokClassifier": {
            "Name": "lines",
            "Classification": "log",
            "CreationTime": THEN,
            "LastUpdated": LATER,
            "Version": 2,
            "GrokPattern": "%{TIMESTAMP_ISO8601:at} %{GREEDYDATA:text}",
            "CustomPatterns": "STAGE (test|prod)",
        }
    },
    {"JsonClassifier": {"Name": "records", "CreationTime": THEN, "Version": 1, "JsonPath": "$.records[*]"}},
    {
        "CsvClassifier": {
            "Name": "semicolons",
            "CreationTime": THEN,
            "LastUpdated": THEN,
            "Version": 1,
            "Delimiter": ";",
            "QuoteSymbol": '"',
            "ContainsHeader": "PRESENT",
            "Header": ["id", "price"],
            "DisableValueTrimming": False,
            "AllowSingleColumn": False,
        }
    },
]
SECURITY = [
    {
        "Name": "strict",
        "CreatedTimeStamp": THEN,
        "EncryptionConfiguration": {
            "S3Encryption": [{"S3EncryptionMode": "SSE-KMS", "KmsKeyArn": KEY}],
            "CloudWatchEncryption": {"CloudWatchEncryptionMode": "SSE-KMS", "KmsKeyArn": KEY},
            "JobBookmarksEncryption": {"JobBookmarksEncryptionMode": "CSE-KMS", "KmsKeyArn": KEY},
        },
    }
]
FUNCTIONS = [
    {
        "FunctionName": "net",
        "DatabaseName": "sales",
        "ClassName": "com.example.Net",
        "OwnerName": "ada",
        "OwnerType": "USER",
        "CreateTime": THEN,
        "ResourceUris": [{"ResourceType": "JAR", "Uri": "s3://jars/net.jar"}],
        "CatalogId": ACCOUNT,
    }
]
_SCHEMA_ARN = f"arn:aws:glue:eu-west-1:{ACCOUNT}:schema/web/clicks"
REGISTRIES = [
    {
        "RegistryName": "web",
        "RegistryArn": f"arn:aws:glue:eu-west-1:{ACCOUNT}:registry/web",
        "Description": "of the site",
        "Status": "AVAILABLE",
        "CreatedTime": "2024-03-01T09:30:00.123Z",
        "UpdatedTime": "2024-03-01T09:30:00.123Z",
    }
]
SCHEMA = {
    "RegistryName": "web",
    "RegistryArn": f"arn:aws:glue:eu-west-1:{ACCOUNT}:registry/web",
    "SchemaName": "clicks",
    "SchemaArn": _SCHEMA_ARN,
    "Description": "what was clicked",
    "DataFormat": "AVRO",
    "Compatibility": "BACKWARD",
    "SchemaCheckpoint": 2,
    "LatestSchemaVersion": 2,
    "NextSchemaVersion": 3,
    "SchemaStatus": "AVAILABLE",
    "CreatedTime": "2024-03-01T09:30:00.123Z",
    "UpdatedTime": "2024-03-01T09:30:00.123Z",
}
VERSIONS = [
    {
        "SchemaVersionId": f"3f2b8c1e-0000-4000-8000-00000000000{number}",
        "SchemaDefinition": f'{{"type": "record", "name": "Click", "doc": "{number}", "fields": []}}',
        "DataFormat": "AVRO",
        "SchemaArn": _SCHEMA_ARN,
        "VersionNumber": number,
        "Status": "AVAILABLE",
        "CreatedTime": "2024-03-01T09:30:00.123Z",
    }
    for number in (1, 2)
]
DOCUMENTS = {
    "triggers.json": {"Triggers": TRIGGERS},
    "jobs.json": {"Jobs": JOBS},
    "workflows.json": {"Workflows": WORKFLOWS, "MissingWorkflows": []},
    "partitions.json": {"Partitions": PARTITIONS},
    "tables.json": {"TableList": TABLES},
    "functions.json": {"UserDefinedFunctions": FUNCTIONS},
    "databases.json": {"DatabaseList": DATABASES},
    "connections.json": {"ConnectionList": CONNECTIONS},
    "classifiers.json": {"Classifiers": CLASSIFIERS},
    "security.json": {"SecurityConfigurations": SECURITY},
    "version1.json": VERSIONS[0],
    "version2.json": VERSIONS[1],
    "schema.json": SCHEMA,
    "registries.json": {"Registries": REGISTRIES},
}
"""Documents by the names of their files, in an order that would not work."""

_MEANING = {
    "jobs": {
        "Name": "full",
        "Command": {"Name": "glueetl", "ScriptLocation": "s3://a/b.py", "PythonVersion": "3", "Runtime": "Ray2.4"},
        "WorkerType": "G.1X",
        "NumberOfWorkers": 4,
        "MaxCapacity": 4.0,
        "AllocatedCapacity": 4,
        "GlueVersion": "5.0",
    },
    "triggers": {
        "Name": "full",
        "Type": "CONDITIONAL",
        "State": "ACTIVATED",
        "WorkflowName": "full",
        "Schedule": None,
        "EventBatchingCondition": None,
        "Actions": [
            {
                "JobName": "full",
                "Arguments": {"--a": "b"},
                "Timeout": 5,
                "SecurityConfiguration": "full",
                "NotificationProperty": {"NotifyDelayAfter": 5},
            }
        ],
        "Predicate": {
            "Logical": "ANY",
            "Conditions": [{"LogicalOperator": "EQUALS", "JobName": "full", "State": "FAILED"}],
        },
    },
    "workflows": {"Name": "full"},
    "databases": {"Name": "full"},
    "tables": {"Name": "full", "DatabaseName": "full"},
    "partitions": {"DatabaseName": "full", "TableName": "full"},
    "functions": {"DatabaseName": "full"},
    "classifiers": {"XMLClassifier": None, "JsonClassifier": None, "GrokClassifier": None},
    "connections": {
        "Name": "full",
        "AuthenticationConfiguration": {"AuthenticationType": "BASIC", "SecretArn": _WORDS[5]},
    },
    "security configurations": {"Name": "full"},
    "registries": {"RegistryName": "full"},
    "schemas": {"RegistryName": "full", "SchemaName": "full", "DataFormat": "AVRO", "SchemaCheckpoint": 1},
    "schema versions": {
        "SchemaArn": f"arn:aws:glue:eu-west-1:{ACCOUNT}:schema/full/full",
        "SchemaDefinition": '"string"',
        "VersionNumber": 1,
        "DataFormat": "AVRO",
    },
}
# Where a value must be another one than the first that fits.
_VALUES = {"QuoteSymbol": '"', "Delimiter": "#", "CustomDatatypes": ["STRING"]}
# The registry tells times as texts.
_REGISTRY_TIMES = dict.fromkeys(("CreatedTime", "UpdatedTime"), "2024-03-01T09:30:00.123Z")


def filled(shape, name="", inside=()):
    """Return a value of a shape with every member."""
    if name in _VALUES:
        return _VALUES[name]
    if isinstance(shape, StructureShape):
        return {
            member: filled(one, member, (*inside, shape.name))
            for member, one in shape.members.items()
            if one.name not in inside and member not in _LEFT_OUT
        }
    if isinstance(shape, ListShape):
        return [filled(shape.member, name, inside)]
    if isinstance(shape, MapShape):
        return {filled(shape.key): filled(shape.value, name, inside)}
    match shape.type_name:
        case "string":
            return (shape.metadata.get("enum") or [one for one in _WORDS if not list(violations(shape, one))])[0]
        case "boolean":
            return True
        case "timestamp":
            return THEN
        case "blob":
            return "QQ=="
        case "double" | "float":
            return 2.5
    return max(1, shape.metadata.get("min", 1))


def full_documents():
    """Return one document for each kind, with a thing that has every member of the model."""
    documents = {}
    for kind in KINDS.values():
        shape = model_of("glue").shape_for(kind.shape)
        thing = {**filled(shape), **_MEANING[kind.name]}
        thing |= {name: one for name, one in _REGISTRY_TIMES.items() if name in thing}
        thing = {name: one for name, one in thing.items() if one is not None}
        documents[kind.name] = {kind.shown: thing} if kind.shown else thing
    return documents
