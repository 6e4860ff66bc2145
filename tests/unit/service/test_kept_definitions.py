"""Classifiers, security configurations, encryption settings, resource policies and column statistics."""

import pytest

from gluepot.core.errors import TransientError
from gluepot.service import connection_trial
from gluepot.service.errors import ServiceError

GROK = {"Name": "lines", "Classification": "log", "GrokPattern": "%{WORD:level} %{DATA:text}"}
CSV = {"Name": "tables", "Delimiter": ";", "QuoteSymbol": '"', "ContainsHeader": "PRESENT", "Header": ["a", "b"]}
POLICY = '{"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Principal": "*", "Action": "glue:*"}]}'
TABLE = {"DatabaseName": "shop", "TableName": "orders"}
STATISTICS = {
    "ColumnName": "Id",
    "ColumnType": "bigint",
    "AnalyzedTime": 1_772_000_000.0,
    "StatisticsData": {
        "Type": "LONG",
        "LongColumnStatisticsData": {"NumberOfNulls": 0, "NumberOfDistinctValues": 7, "MaximumValue": 7},
    },
}


def refusal(world, operation, **request):
    with pytest.raises(ServiceError) as caught:
        world.call(operation, **request)
    return caught.value.code


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        ("GrokClassifier", {**GROK, "CustomPatterns": "X [a-z]"}),
        ("XMLClassifier", {"Name": "pages", "Classification": "html", "RowTag": "tr"}),
        ("JsonClassifier", {"Name": "documents", "JsonPath": "$.records[*]"}),
        ("CsvClassifier", CSV),
    ],
)
def test_a_classifier_is_created_and_returned(world, kind, body):
    world.call("CreateClassifier", **{kind: body})
    found = world.call("GetClassifier", Name=body["Name"])["Classifier"]
    assert found == {kind: {**body, "Version": 1, "CreationTime": world.clock.now, "LastUpdated": world.clock.now}}
    assert world.call("GetClassifiers")["Classifiers"] == [found]
    assert refusal(world, "CreateClassifier", **{kind: body}) == "AlreadyExistsException"
    world.call("DeleteClassifier", Name=body["Name"])
    for operation in ("GetClassifier", "DeleteClassifier"):
        assert refusal(world, operation, Name=body["Name"]) == "EntityNotFoundException"


def test_an_update_of_a_classifier_keeps_what_it_does_not_name(world):
    world.call("CreateClassifier", CsvClassifier=CSV)
    world.clock.now += 60
    world.call("UpdateClassifier", CsvClassifier={"Name": "tables", "Delimiter": "|"})
    found = world.call("GetClassifier", Name="tables")["Classifier"]["CsvClassifier"]
    assert (found["Delimiter"], found["QuoteSymbol"], found["Version"]) == ("|", '"', 2)
    assert found["LastUpdated"] - found["CreationTime"] == 60
    same = {"Name": "tables", "QuoteSymbol": "|"}
    assert refusal(world, "UpdateClassifier", CsvClassifier=same) == "InvalidInputException"
    assert refusal(world, "UpdateClassifier", GrokClassifier={"Name": "tables"}) == "InvalidInputException"
    assert refusal(world, "UpdateClassifier", GrokClassifier={"Name": "none"}) == "EntityNotFoundException"


def test_a_classifier_is_of_one_kind(world):
    assert refusal(world, "CreateClassifier") == "InvalidInputException"
    assert refusal(world, "CreateClassifier", GrokClassifier=GROK, CsvClassifier=CSV) == "InvalidInputException"
    wrong = {"Name": "a", "JsonPath": "records"}
    assert refusal(world, "CreateClassifier", JsonClassifier=wrong) == "InvalidInputException"


def test_a_security_configuration_is_kept(world):
    key = "arn:aws:kms:us-east-1:000000000000:key/a"
    encryption = {
        "S3Encryption": [{"S3EncryptionMode": "SSE-KMS", "KmsKeyArn": key}],
        "CloudWatchEncryption": {"CloudWatchEncryptionMode": "DISABLED"},
    }
    world.call("CreateSecurityConfiguration", Name="strict", EncryptionConfiguration=encryption)
    found = world.call("GetSecurityConfiguration", Name="strict")["SecurityConfiguration"]
    assert found["EncryptionConfiguration"] == encryption
    assert world.call("GetSecurityConfigurations")["SecurityConfigurations"] == [found]
    again = {"Name": "strict", "EncryptionConfiguration": {}}
    assert refusal(world, "CreateSecurityConfiguration", **again) == "AlreadyExistsException"
    without_key = {"Name": "b", "EncryptionConfiguration": {"S3Encryption": [{"S3EncryptionMode": "SSE-KMS"}]}}
    assert refusal(world, "CreateSecurityConfiguration", **without_key) == "InvalidInputException"
    world.call("DeleteSecurityConfiguration", Name="strict")
    for operation in ("GetSecurityConfiguration", "DeleteSecurityConfiguration"):
        assert refusal(world, operation, Name="strict") == "EntityNotFoundException"


def test_encryption_settings_of_the_catalog_are_kept(world):
    nothing = world.call("GetDataCatalogEncryptionSettings")["DataCatalogEncryptionSettings"]
    assert nothing["EncryptionAtRest"] == {"CatalogEncryptionMode": "DISABLED"}
    chosen = {"EncryptionAtRest": {"CatalogEncryptionMode": "SSE-KMS", "SseAwsKmsKeyId": "a"}}
    for _ in range(2):
        world.call("PutDataCatalogEncryptionSettings", DataCatalogEncryptionSettings=chosen)
    found = world.call("GetDataCatalogEncryptionSettings")["DataCatalogEncryptionSettings"]
    assert found == {**nothing, **chosen}
    wrong = {"ConnectionPasswordEncryption": {"ReturnConnectionPasswordEncrypted": True}}
    refused = refusal(world, "PutDataCatalogEncryptionSettings", DataCatalogEncryptionSettings=wrong)
    assert refused == "InvalidInputException"


def test_a_resource_policy_is_put_on_conditions(world):
    put = "PutResourcePolicy"
    assert refusal(world, "GetResourcePolicy") == "EntityNotFoundException"
    assert refusal(world, put, PolicyInJson=POLICY, PolicyExistsCondition="MUST_EXIST") == "EntityNotFoundException"
    first = world.call(put, PolicyInJson=POLICY, PolicyExistsCondition="NOT_EXIST")["PolicyHash"]
    for condition in ({"PolicyExistsCondition": "NOT_EXIST"}, {"PolicyHashCondition": "other"}):
        assert refusal(world, put, PolicyInJson=POLICY, **condition) == "ConditionCheckFailureException"
    world.clock.now += 60
    changed = POLICY.replace("Allow", "Deny")
    world.call(put, PolicyInJson=changed, PolicyExistsCondition="MUST_EXIST", PolicyHashCondition=first)
    found = world.call("GetResourcePolicy")
    assert found["PolicyInJson"] == changed
    assert found["UpdateTime"] - found["CreateTime"] == 60
    arn = "arn:aws:glue:us-east-1:000000000000:database/shop"
    world.call(put, PolicyInJson=POLICY, ResourceArn=arn)
    policies = world.call("GetResourcePolicies", MaxResults=1)
    assert policies["GetResourcePoliciesResponseList"] == [found]
    rest = world.call("GetResourcePolicies", NextToken=policies["NextToken"])["GetResourcePoliciesResponseList"]
    assert [one["PolicyInJson"] for one in rest] == [POLICY]
    assert refusal(world, "DeleteResourcePolicy", PolicyHashCondition=first) == "ConditionCheckFailureException"
    world.call("DeleteResourcePolicy", PolicyHashCondition=found["PolicyHash"])
    assert refusal(world, "DeleteResourcePolicy") == "EntityNotFoundException"


@pytest.mark.parametrize("text", ["{a", "[]", '{"Version": "x"}', " " * 20_000])
def test_a_policy_that_is_none_is_refused(world, text):
    assert refusal(world, "PutResourcePolicy", PolicyInJson=text) == "InvalidInputException"


@pytest.fixture
def table(world):
    world.service.environ["GLUEPOT_CATALOG"] = f"sqlite:///{world.script.parent / 'catalog.db'}"
    world.call("CreateDatabase", DatabaseInput={"Name": "shop"})
    columns = {"StorageDescriptor": {"Columns": [{"Name": "id", "Type": "bigint"}]}}
    keys = {"PartitionKeys": [{"Name": "day", "Type": "string"}]}
    world.call("CreateTable", DatabaseName="shop", TableInput={"Name": "orders", **columns, **keys})
    world.call("CreatePartition", **TABLE, PartitionInput={"Values": ["1"], **columns})
    return world


@pytest.mark.parametrize("place", [{}, {"PartitionValues": ["1"]}])
def test_column_statistics_are_kept(table, place):
    of = "Partition" if place else "Table"
    unknown = {**STATISTICS, "ColumnName": "other"}
    wrong = {**STATISTICS, "StatisticsData": {"Type": "DATE"}}
    given = [STATISTICS, unknown, wrong]
    update = table.call(f"UpdateColumnStatisticsFor{of}", **TABLE, **place, ColumnStatisticsList=given)
    assert [one["Error"]["ErrorCode"] for one in update["Errors"]] == [
        "EntityNotFoundException",
        "InvalidInputException",
    ]
    get = f"GetColumnStatisticsFor{of}"
    found = table.call(get, **TABLE, **place, ColumnNames=["id", "day"])
    assert found["ColumnStatisticsList"] == [STATISTICS]
    assert [one["ColumnName"] for one in found["Errors"]] == ["day"]
    table.call(f"DeleteColumnStatisticsFor{of}", **TABLE, **place, ColumnName="id")
    gone = refusal(table, f"DeleteColumnStatisticsFor{of}", **TABLE, **place, ColumnName="id")
    assert gone == "EntityNotFoundException"


def test_statistics_of_a_table_that_was_dropped_do_not_count_for_its_successor(table):
    table.call("UpdateColumnStatisticsForTable", **TABLE, ColumnStatisticsList=[STATISTICS])
    table.call("DeleteTable", DatabaseName="shop", Name="orders")
    get = {"operation": "GetColumnStatisticsForTable", **TABLE, "ColumnNames": ["id"]}
    assert refusal(table, **get) == "EntityNotFoundException"
    table.clock.now += 1
    columns = {"StorageDescriptor": {"Columns": [{"Name": "id", "Type": "bigint"}]}}
    table.call("CreateTable", DatabaseName="shop", TableInput={"Name": "orders", **columns})
    assert table.call(**get)["ColumnStatisticsList"] == []
    missing = {"operation": "GetColumnStatisticsForPartition", **TABLE, "ColumnNames": ["id"], "PartitionValues": ["1"]}
    assert refusal(table, **missing) == "EntityNotFoundException"


def test_a_connection_is_tried_if_we_can_try_its_type(table, monkeypatch):
    properties = {"JDBC_CONNECTION_URL": "jdbc:mysql://db:3306/shop", "USERNAME": "u", "PASSWORD": "p"}
    mysql = {"Name": "db", "ConnectionType": "JDBC", "ConnectionProperties": properties}
    table.call("CreateConnection", ConnectionInput=mysql)
    with pytest.raises(ServiceError, match="A connection to mysql cannot be tried here; Kafka and PostgreSQL can"):
        table.call("TestConnection", ConnectionName="db")
    network = {"ConnectionType": "NETWORK", "ConnectionProperties": {}}
    with pytest.raises(ServiceError, match="of the type NETWORK cannot be tried here"):
        table.call("TestConnection", TestConnectionInput=network)
    assert refusal(table, "TestConnection", ConnectionName="none") == "EntityNotFoundException"
    assert refusal(table, "TestConnection") == "InvalidInputException"

    def away(connection, environ):
        raise TransientError("The server does not answer.")

    monkeypatch.setattr(connection_trial, "_try_jdbc", away)
    assert refusal(table, "TestConnection", ConnectionName="db") == "FederationSourceException"
