"""Operations of the Data Catalog without a server: databases that are shared, and many clients at once."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from gluepot.core.clock import FakeClock
from gluepot.service.context import Service
from gluepot.service.errors import ServiceError
from gluepot.service.operations import OPERATIONS
from gluepot.service.store.database import open_store
from tests.service_answers import check_answer


@pytest.fixture
def call(tmp_path):
    """Call an operation. Service and catalog have their tables in one database."""
    url = f"sqlite:///{tmp_path}/all.db"
    shared = Service(
        open_store(url), FakeClock(1_000.0), lambda: None, Path, {"GLUEPOT_CATALOG": url}, "0" * 12, "us-east-1"
    )

    def called(operation, **request):
        answer = OPERATIONS[operation](shared, request)
        check_answer(operation, answer)
        return answer

    called("CreateDatabase", DatabaseInput={"Name": "web"}, Tags={"team": "data"})
    return called


def test_service_and_catalog_may_share_a_database(call):
    arn = "arn:aws:glue:us-east-1:000000000000:database/web"
    call("CreateTable", DatabaseName="web", TableInput={"Name": "clicks"})
    call("TagResource", ResourceArn=arn, TagsToAdd={"a": "b"})
    assert call("GetTags", ResourceArn=arn)["Tags"] == {"team": "data", "a": "b"}
    call("DeleteDatabase", Name="web")
    with pytest.raises(ServiceError, match=r"Database web not found\."):
        call("GetTags", ResourceArn=arn)


def test_of_many_clients_that_change_the_same_version_one_succeeds(call):
    call("CreateTable", DatabaseName="web", TableInput={"Name": "clicks"})

    def change(number):
        table = {"Name": "clicks", "Description": str(number)}
        try:
            call("UpdateTable", DatabaseName="web", TableInput=table, VersionId="0", SkipArchive=True)
        except ServiceError as refused:
            return refused.code
        return "changed"

    with ThreadPoolExecutor(4) as pool:
        outcomes = sorted(pool.map(change, range(8)))
    assert outcomes == ["ConcurrentModificationException"] * 7 + ["changed"]
    assert call("GetTable", DatabaseName="web", Name="clicks")["Table"]["VersionId"] == "1"


def test_of_many_clients_that_create_the_same_partition_one_succeeds(call):
    keys = [{"Name": "day", "Type": "string"}]
    call("CreateTable", DatabaseName="web", TableInput={"Name": "clicks", "PartitionKeys": keys})
    batch = [{"Values": [str(number)]} for number in range(20)]

    def create(_):
        return 20 - len(
            call("BatchCreatePartition", DatabaseName="web", TableName="clicks", PartitionInputList=batch)["Errors"]
        )

    with ThreadPoolExecutor(4) as pool:
        assert sum(pool.map(create, range(8))) == 20


@pytest.mark.parametrize(
    "request_",
    [{"OpenTableFormatInput": {"IcebergInput": {"MetadataOperation": "CREATE"}}, "Name": "t"}, {"Name": "t"}],
)
def test_a_table_without_a_definition_is_refused(call, request_):
    with pytest.raises(ServiceError) as refused:
        call("CreateTable", DatabaseName="web", **request_)
    assert refused.value.code == "InvalidInputException"


def test_neither_tables_databases_functions_nor_connections_are_renamed(call):
    call("CreateUserDefinedFunction", DatabaseName="web", FunctionInput={"FunctionName": "f", "ClassName": "c"})
    connection = {"Name": "b", "ConnectionType": "NETWORK", "ConnectionProperties": {}}
    for operation, request in (
        ("UpdateDatabase", {"Name": "web", "DatabaseInput": {"Name": "other"}}),
        ("UpdateTable", {"DatabaseName": "web", "Name": "a", "TableInput": {"Name": "b"}}),
        (
            "UpdateUserDefinedFunction",
            {"DatabaseName": "web", "FunctionName": "f", "FunctionInput": {"FunctionName": "g"}},
        ),
        ("UpdateConnection", {"Name": "a", "ConnectionInput": connection}),
    ):
        with pytest.raises(ServiceError, match="renamed") as refused:
            call(operation, **request)
        assert refused.value.code == "InvalidInputException"


def test_a_table_has_at_most_three_indexes(call):
    keys = [{"Name": "day", "Type": "string"}]
    indexes = [{"IndexName": f"i{number}", "Keys": ["day"]} for number in range(4)]
    where = {"DatabaseName": "web", "TableName": "clicks"}
    table = {"Name": "clicks", "PartitionKeys": keys}
    with pytest.raises(ServiceError, match="3 are allowed"):
        call("CreateTable", DatabaseName="web", TableInput=table, PartitionIndexes=indexes)
    call("CreateTable", DatabaseName="web", TableInput=table, PartitionIndexes=indexes[:3])
    with pytest.raises(ServiceError) as refused:
        call("CreatePartitionIndex", **where, PartitionIndex=indexes[3])
    assert refused.value.code == "ResourceNumberLimitExceededException"
    with pytest.raises(ServiceError, match="already exists"):
        call("CreatePartitionIndex", **where, PartitionIndex=indexes[0])


def test_a_version_that_is_no_number_is_refused_and_another_is_not_found(call):
    call("CreateTable", DatabaseName="web", TableInput={"Name": "clicks"})
    for operation in ("GetTableVersion", "DeleteTableVersion"):
        for version, code in (("1a", "InvalidInputException"), ("20", "EntityNotFoundException")):
            with pytest.raises(ServiceError) as refused:
                call(operation, DatabaseName="web", TableName="clicks", VersionId=version)
            assert refused.value.code == code
