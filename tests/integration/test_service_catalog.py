"""Unmodified boto3 on the Data Catalog of a running service; every answer is checked against AWS's model."""

import os

import pytest
from botocore.exceptions import ClientError

from gluepot.catalog.connect import catalog_url, open_catalog
from gluepot.catalog.connections import jdbc_connection, load
from gluepot.catalog.formats import table_format
from gluepot.catalog.values import Partition, table_of
from gluepot.connectors.files.source.listing import ListingStats, list_files
from gluepot.connectors.files.source.table_settings import table_read
from gluepot.core.clock import SystemClock
from gluepot.core.errors import ConfigError
from gluepot.service.server import ServeOptions, service
from tests.service_answers import checking_client

CLICKS = {
    "Name": "Clicks",
    "Description": "what was clicked",
    "Owner": "ada",
    "Retention": 3,
    "TableType": "EXTERNAL_TABLE",
    "Parameters": {"classification": "json", "EXTERNAL": "TRUE"},
    "PartitionKeys": [{"Name": "day", "Type": "date"}, {"Name": "hour", "Type": "int", "Comment": "of UTC"}],
    "StorageDescriptor": {
        "Columns": [{"Name": "id", "Type": "bigint"}, {"Name": "userName", "Type": "string", "Parameters": {"a": "b"}}],
        "Location": "s3://lake/clicks/",
        "SerdeInfo": {"SerializationLibrary": "org.openx.data.jsonserde.JsonSerDe", "Parameters": {"paths": "id"}},
        "SortColumns": [{"Column": "id", "SortOrder": 1}],
        "Compressed": False,
        "NumberOfBuckets": -1,
    },
}


@pytest.fixture(scope="module")
def environ(tmp_path_factory):
    return {**os.environ, "GLUEPOT_STATE": str(tmp_path_factory.mktemp("service"))}


@pytest.fixture(scope="module")
def serving(environ):
    with service(ServeOptions(port=0), environ, SystemClock()) as running:
        yield running


@pytest.fixture(scope="module")
def glue(serving):
    return checking_client(serving)


@pytest.fixture(scope="module")
def catalog(environ, serving):
    opened = open_catalog(catalog_url(environ), SystemClock())
    yield opened
    opened.close()


@pytest.fixture
def database(glue, request):
    name = request.node.name.split("[")[0][:60]
    glue.create_database(DatabaseInput={"Name": name})
    yield name
    glue.delete_database(Name=name)


def code_of(refused):
    return refused.value.response["Error"]["Code"]


def message_of(refused):
    return refused.value.response["Error"]["Message"]


def names(answers):
    return [one["Name"] for one in answers]


def test_a_database_is_made_replaced_and_deleted_with_its_tables(glue):
    given = {"Name": "Shop", "Description": "first", "LocationUri": "s3://lake/shop", "Parameters": {"a": "b"}}
    glue.create_database(DatabaseInput=given, Tags={"team": "data"})
    found = glue.get_database(Name="SHOP")["Database"]
    assert {**given, "Name": "shop", "CatalogId": "000000000000"}.items() <= found.items()
    with pytest.raises(glue.exceptions.AlreadyExistsException, match="Database already exists"):
        glue.create_database(DatabaseInput={"Name": "shop"})
    glue.update_database(Name="shop", DatabaseInput={"Name": "shop", "Description": "second"})
    changed = glue.get_database(Name="shop")["Database"]
    assert (changed["Description"], changed.get("Parameters")) == ("second", None)
    assert changed["CreateTime"] == found["CreateTime"]
    glue.create_table(DatabaseName="shop", TableInput=CLICKS)
    glue.delete_database(Name="shop")
    with pytest.raises(glue.exceptions.EntityNotFoundException, match=r"Database shop not found\."):
        glue.get_tables(DatabaseName="shop")
    glue.create_database(DatabaseInput={"Name": "shop"})
    assert glue.get_tables(DatabaseName="shop")["TableList"] == []
    glue.delete_database(Name="shop")


@pytest.mark.parametrize("operation", ["get_database", "delete_database"])
def test_a_database_that_is_not_there_is_not_found(glue, operation):
    with pytest.raises(glue.exceptions.EntityNotFoundException):
        getattr(glue, operation)(Name="nowhere")


def test_databases_are_pages(glue):
    for number in range(5):
        glue.create_database(DatabaseInput={"Name": f"page_{number}"})
    pages = list(glue.get_paginator("get_databases").paginate(PaginationConfig={"PageSize": 2}))
    found = names(one for page in pages for one in page["DatabaseList"])
    assert [name for name in found if name.startswith("page_")] == [f"page_{number}" for number in range(5)]
    assert len(pages[0]["DatabaseList"]) == 2
    for number in range(5):
        glue.delete_database(Name=f"page_{number}")


def test_a_table_comes_back_as_it_was_sent_and_scripts_see_it(glue, database, catalog):
    glue.create_table(DatabaseName=database.upper(), TableInput=CLICKS)
    found = glue.get_table(DatabaseName=database, Name="CLICKS")["Table"]
    assert {**CLICKS, "Name": "clicks", "DatabaseName": database, "VersionId": "0"}.items() <= found.items()
    with pytest.raises(glue.exceptions.AlreadyExistsException, match="Table already exists"):
        glue.create_table(DatabaseName=database, TableInput=CLICKS)
    table = catalog.table(database, "clicks")
    assert [column.name for column in table.storage.columns] == ["id", "username"]
    assert (table.storage.location, table_format(table).name) == ("s3://lake/clicks/", "json")


def test_a_table_that_a_script_made_is_seen_by_clients(glue, database, catalog):
    made = {"Name": "orders", "PartitionKeys": [{"Name": "day", "Type": "string"}], "LastAccessTime": "2026-01-02"}
    table = table_of(made, database)
    catalog.add_table(table)
    catalog.add_partitions(table, [Partition(("1",), {"StorageDescriptor": {"Location": "s3://lake/1"}})])
    assert names(glue.get_tables(DatabaseName=database)["TableList"]) == ["orders"]
    assert glue.get_table(DatabaseName=database, Name="orders")["Table"]["LastAccessTime"].day == 2


def test_tables_are_chosen_by_a_pattern_and_are_pages(glue, database):
    for name in ("sales_de", "sales_fr", "stock", "users"):
        glue.create_table(DatabaseName=database, TableInput={"Name": name})

    def matching(expression):
        pages = glue.get_paginator("get_tables").paginate(
            DatabaseName=database, Expression=expression, PaginationConfig={"PageSize": 1}
        )
        return names(one for page in pages for one in page["TableList"])

    assert matching("sales*") == ["sales_de", "sales_fr"]
    assert matching("s.*") == ["sales_de", "sales_fr", "stock"]
    assert matching("*stock*|users") == ["stock", "users"]
    assert matching("sale") == []
    with pytest.raises(glue.exceptions.InvalidInputException, match="not a regular expression"):
        matching("(")
    with pytest.raises(glue.exceptions.InvalidInputException, match="NextToken"):
        glue.get_tables(DatabaseName=database, NextToken="made up")


def test_an_update_replaces_a_table_and_keeps_its_versions(glue, database):
    glue.create_table(DatabaseName=database, TableInput={"Name": "t", "Description": "0", "Owner": "ada"})
    glue.update_table(DatabaseName=database, TableInput={"Name": "T", "Description": "1"})
    glue.update_table(DatabaseName=database, TableInput={"Name": "t", "Description": "2"}, SkipArchive=True)
    glue.update_table(DatabaseName=database, TableInput={"Name": "t", "Description": "3"}, VersionId="2")
    with pytest.raises(glue.exceptions.ConcurrentModificationException, match="has the version 3, not 2"):
        glue.update_table(DatabaseName=database, TableInput={"Name": "t"}, VersionId="2", SkipArchive=True)
    pages = glue.get_paginator("get_table_versions").paginate(
        DatabaseName=database, TableName="t", PaginationConfig={"PageSize": 2}
    )
    versions = [one for page in pages for one in page["TableVersions"]]
    assert [one["VersionId"] for one in versions] == ["3", "2", "0"]
    assert [one["Table"].get("Owner") for one in versions] == [None, None, "ada"]
    where = {"DatabaseName": database, "TableName": "t"}
    assert glue.get_table_version(**where)["TableVersion"]["VersionId"] == "3"
    assert glue.get_table_version(**where, VersionId="0")["TableVersion"]["Table"]["Description"] == "0"
    glue.delete_table_version(**where, VersionId="0")
    with pytest.raises(glue.exceptions.EntityNotFoundException):
        glue.get_table_version(**where, VersionId="0")
    errors = glue.batch_delete_table_version(**where, VersionIds=["02", "2", "3", "9" * 30])["Errors"]
    assert [(one["VersionId"], one["ErrorDetail"]["ErrorCode"]) for one in errors] == [
        ("02", "EntityNotFoundException"),
        ("3", "InvalidInputException"),
        ("9" * 30, "EntityNotFoundException"),
    ]


def test_a_table_that_is_not_there_is_not_found(glue, database):
    for call in (glue.get_table, glue.delete_table):
        with pytest.raises(glue.exceptions.EntityNotFoundException, match=r"Table t not found\."):
            call(DatabaseName=database, Name="t")
    with pytest.raises(glue.exceptions.EntityNotFoundException):
        glue.update_table(DatabaseName=database, TableInput={"Name": "t"})
    glue.create_table(DatabaseName=database, TableInput={"Name": "there"})
    errors = glue.batch_delete_table(DatabaseName=database, TablesToDelete=["there", "t"])["Errors"]
    assert [(one["TableName"], one["ErrorDetail"]["ErrorCode"]) for one in errors] == [("t", "EntityNotFoundException")]
    with pytest.raises(glue.exceptions.EntityNotFoundException):
        glue.get_table(DatabaseName=database, Name="there")


def test_a_table_of_a_name_that_was_deleted_begins_without_a_past(glue, database):
    for description in ("a", "b"):
        glue.create_table(DatabaseName=database, TableInput=CLICKS)
        glue.update_table(DatabaseName=database, TableInput={**CLICKS, "Description": description})
        glue.delete_table(DatabaseName=database, Name="clicks")
    glue.create_table(DatabaseName=database, TableInput=CLICKS)
    versions = glue.get_table_versions(DatabaseName=database, TableName="clicks")["TableVersions"]
    assert [one["VersionId"] for one in versions] == ["0"]


@pytest.mark.parametrize(
    ("table", "code"),
    [
        ({"Name": "t", "TableType": "x" * 300}, "ValidationException"),
        ({"Name": "   "}, "InvalidInputException"),
    ],
)
def test_a_table_that_breaks_a_rule_is_refused(glue, database, table, code):
    with pytest.raises(ClientError) as refused:
        glue.create_table(DatabaseName=database, TableInput=table)
    assert code_of(refused) == code


def test_partition_indexes_are_active_at_once(glue, database):
    index = {"IndexName": "by_day", "Keys": ["day"]}
    glue.create_table(DatabaseName=database, TableInput=CLICKS, PartitionIndexes=[index])
    where = {"DatabaseName": database, "TableName": "clicks"}
    glue.create_partition_index(**where, PartitionIndex={"IndexName": "by_hour", "Keys": ["hour", "day"]})
    found = glue.get_partition_indexes(**where)["PartitionIndexDescriptorList"]
    assert found == [
        {"IndexName": "by_day", "Keys": [{"Name": "day", "Type": "date"}], "IndexStatus": "ACTIVE"},
        {
            "IndexName": "by_hour",
            "Keys": [{"Name": "hour", "Type": "int"}, {"Name": "day", "Type": "date"}],
            "IndexStatus": "ACTIVE",
        },
    ]
    with pytest.raises(glue.exceptions.AlreadyExistsException):
        glue.create_partition_index(**where, PartitionIndex=index)
    with pytest.raises(glue.exceptions.InvalidInputException, match="the partition keys of"):
        glue.create_partition_index(**where, PartitionIndex={"IndexName": "odd", "Keys": ["id"]})
    glue.delete_partition_index(**where, IndexName="by_day")
    with pytest.raises(glue.exceptions.EntityNotFoundException):
        glue.delete_partition_index(**where, IndexName="by_day")
    glue.delete_table(DatabaseName=database, Name="clicks")
    glue.create_table(DatabaseName=database, TableInput=CLICKS)
    assert glue.get_partition_indexes(**where)["PartitionIndexDescriptorList"] == []


def partition(day, hour, **members):
    storage = {"Location": f"s3://lake/{day}/{hour}", "Columns": CLICKS["StorageDescriptor"]["Columns"]}
    return {"Values": [day, str(hour)], "StorageDescriptor": storage, **members}


@pytest.fixture
def clicks(glue, database):
    glue.create_table(DatabaseName=database, TableInput=CLICKS)
    return {"DatabaseName": database, "TableName": "clicks"}


def hours(partitions):
    return [int(one["Values"][1]) for one in partitions]


def test_a_partition_comes_back_as_it_was_sent_and_scripts_see_it(glue, clicks, catalog):
    given = partition("2026-01-02", 3, Parameters={"rows": "7"})
    glue.create_partition(**clicks, PartitionInput=given)
    found = glue.get_partition(**clicks, PartitionValues=["2026-01-02", "3"])["Partition"]
    assert {**given, **clicks, "CatalogId": "000000000000"}.items() <= found.items()
    with pytest.raises(glue.exceptions.AlreadyExistsException, match="Partition already exists"):
        glue.create_partition(**clicks, PartitionInput=given)
    (seen,) = catalog.partitions(catalog.table(clicks["DatabaseName"], "clicks"))
    assert (seen.values, seen.location) == (("2026-01-02", "3"), "s3://lake/2026-01-02/3")
    glue.update_partition(
        **clicks, PartitionValueList=["2026-01-02", "3"], PartitionInput={"Parameters": {"rows": "8"}}
    )
    changed = glue.get_partition(**clicks, PartitionValues=["2026-01-02", "3"])["Partition"]
    assert changed["Parameters"] == {"rows": "8"}
    assert "StorageDescriptor" not in changed
    glue.delete_partition(**clicks, PartitionValues=["2026-01-02", "3"])
    for call in (glue.get_partition, glue.delete_partition):
        with pytest.raises(glue.exceptions.EntityNotFoundException, match="Cannot find partition"):
            call(**clicks, PartitionValues=["2026-01-02", "3"])


def test_partitions_are_added_changed_and_removed_in_batches(glue, clicks):
    first = [partition("2026-01-01", hour) for hour in range(3)]
    assert glue.batch_create_partition(**clicks, PartitionInputList=first)["Errors"] == []
    again = [partition("2026-01-01", 2), partition("2026-01-01", 3), partition("2026-01-01", 3)]
    errors = glue.batch_create_partition(**clicks, PartitionInputList=again)["Errors"]
    assert [(one["PartitionValues"][1], one["ErrorDetail"]["ErrorCode"]) for one in errors] == [
        ("2", "AlreadyExistsException"),
        ("3", "AlreadyExistsException"),
    ]
    found = glue.batch_get_partition(**clicks, PartitionsToGet=[{"Values": ["2026-01-01", one]} for one in "0139"])
    assert hours(found["Partitions"]) == [0, 1, 3]
    assert found["UnprocessedKeys"] == []
    entries = [
        {"PartitionValueList": ["2026-01-01", "0"], "PartitionInput": {"Parameters": {"a": "b"}}},
        {"PartitionValueList": ["2026-01-01", "9"], "PartitionInput": {}},
        {"PartitionValueList": ["2026-01-01", "1"], "PartitionInput": {"Values": ["2026-01-01", "2"]}},
    ]
    errors = glue.batch_update_partition(**clicks, Entries=entries)["Errors"]
    assert [(one["PartitionValueList"][1], one["ErrorDetail"]["ErrorCode"]) for one in errors] == [
        ("1", "InvalidInputException"),
        ("9", "EntityNotFoundException"),
    ]
    errors = glue.batch_delete_partition(
        **clicks, PartitionsToDelete=[{"Values": ["2026-01-01", one]} for one in "089"]
    )["Errors"]
    assert [one["PartitionValues"][1] for one in errors] == ["8", "9"]
    assert hours(glue.get_partitions(**clicks)["Partitions"]) == [1, 2, 3]


def test_partitions_are_chosen_by_expressions_and_segments_and_are_pages(glue, clicks):
    glue.batch_create_partition(
        **clicks, PartitionInputList=[partition("2026-01-01", f"{hour:02}") for hour in range(24)]
    )

    def found(size=5, **choice):
        pages = glue.get_paginator("get_partitions").paginate(**clicks, **choice, PaginationConfig={"PageSize": size})
        return sorted(hours(one for page in pages for one in page["Partitions"]))

    assert found() == list(range(24))
    assert found(Expression="hour >= 9 AND hour < '11'") == [9, 10]
    assert found(Expression="day = '2026-01-02'") == []
    assert found(Expression="hour in (1, 2, 30) or hour between '20' and 23 and day > '2025-12-31'") == [
        1,
        2,
        20,
        21,
        22,
        23,
    ]
    segments = [found(Segment={"SegmentNumber": at, "TotalSegments": 3}) for at in range(3)]
    assert sorted(hour for segment in segments for hour in segment) == list(range(24))
    assert all(segments)
    (one, *_) = glue.get_partitions(**clicks, ExcludeColumnSchema=True, MaxResults=1)["Partitions"]
    assert list(one["StorageDescriptor"]) == ["Location"]
    for expression in ("nothing = 1", "hour =", "hour = 1; drop"):
        with pytest.raises(glue.exceptions.InvalidInputException):
            glue.get_partitions(**clicks, Expression=expression)
    with pytest.raises(glue.exceptions.InvalidInputException):
        glue.get_partitions(**clicks, Segment={"SegmentNumber": 3, "TotalSegments": 3})


@pytest.mark.parametrize("values", [["2026-01-01"], ["2026-01-01", "1", "2"]])
def test_a_partition_needs_a_value_for_each_key(glue, clicks, values):
    with pytest.raises(glue.exceptions.InvalidInputException):
        glue.create_partition(**clicks, PartitionInput={"Values": values})
    with pytest.raises(glue.exceptions.InvalidInputException):
        glue.get_partition(**clicks, PartitionValues=values)


def test_more_partitions_than_a_call_may_have_are_refused(glue, clicks):
    with pytest.raises(ClientError) as refused:
        glue.batch_delete_partition(
            **clicks, PartitionsToDelete=[{"Values": ["2026-01-01", str(n)]} for n in range(26)]
        )
    assert code_of(refused) == "ValidationException"


def test_functions_belong_to_a_database(glue, database):
    given = {
        "FunctionName": "Mask",
        "ClassName": "org.example.Mask",
        "OwnerName": "ada",
        "OwnerType": "USER",
        "ResourceUris": [{"ResourceType": "JAR", "Uri": "s3://lake/mask.jar"}],
    }
    where = {"DatabaseName": database, "FunctionName": "Mask"}
    assert glue.get_user_defined_functions(DatabaseName=database, Pattern="*")["UserDefinedFunctions"] == []
    glue.create_user_defined_function(DatabaseName=database, FunctionInput=given)
    found = glue.get_user_defined_function(**where)["UserDefinedFunction"]
    assert {**given, "DatabaseName": database, "CatalogId": "000000000000"}.items() <= found.items()
    with pytest.raises(glue.exceptions.AlreadyExistsException):
        glue.create_user_defined_function(DatabaseName=database, FunctionInput=given)
    glue.update_user_defined_function(**where, FunctionInput={"FunctionName": "Mask", "ClassName": "Other"})
    pages = glue.get_paginator("get_user_defined_functions").paginate(Pattern="ma*")
    assert [one["ClassName"] for page in pages for one in page["UserDefinedFunctions"]] == ["Other"]
    glue.delete_user_defined_function(**where)
    for call in (glue.get_user_defined_function, glue.delete_user_defined_function):
        with pytest.raises(glue.exceptions.EntityNotFoundException):
            call(**where)
    for call in (glue.get_user_defined_functions, glue.create_user_defined_function):
        further = {"Pattern": "*"} if call == glue.get_user_defined_functions else {"FunctionInput": given}
        with pytest.raises(glue.exceptions.EntityNotFoundException, match=r"Database nowhere not found\."):
            call(DatabaseName="nowhere", **further)


def test_tables_of_all_databases_are_searched(glue, database):
    for name in ("found_b", "found_a", "other"):
        glue.create_table(DatabaseName=database, TableInput={"Name": name, "Parameters": {"search": "here"}})
    by_parameter = [{"Key": "search", "Value": "here"}]
    first = glue.search_tables(SearchText="found", Filters=by_parameter, MaxResults=1)
    second = glue.search_tables(SearchText="found", Filters=by_parameter, MaxResults=1, NextToken=first["NextToken"])
    assert names(first["TableList"] + second["TableList"]) == ["found_a", "found_b"]
    assert "NextToken" not in second


SHOP = {
    "Name": "Shop",
    "Description": "orders",
    "ConnectionType": "JDBC",
    "MatchCriteria": ["sales"],
    "ConnectionProperties": {
        "JDBC_CONNECTION_URL": "jdbc:postgresql://db:5432/shop",
        "USERNAME": "ada",
        "PASSWORD": "hunter2-never-shown",
    },
    "PhysicalConnectionRequirements": {"AvailabilityZone": "eu-1", "SecurityGroupIdList": ["sg-1"]},
}


@pytest.fixture
def shop(glue):
    made = glue.create_connection(ConnectionInput=SHOP, Tags={"team": "data"})
    assert made["CreateConnectionStatus"] == "READY"
    yield
    glue.batch_delete_connection(ConnectionNameList=["Shop"])


def test_a_connection_comes_back_as_it_was_sent_and_its_password_can_be_hidden(glue, shop):
    assert SHOP.items() <= glue.get_connection(Name="Shop")["Connection"].items()
    hidden = glue.get_connection(Name="Shop", HidePassword=True)["Connection"]
    assert set(hidden["ConnectionProperties"]) == {"JDBC_CONNECTION_URL", "USERNAME"}
    (listed,) = glue.get_connections(HidePassword=True, Filter={"ConnectionType": "JDBC"})["ConnectionList"]
    assert listed["ConnectionProperties"] == hidden["ConnectionProperties"]
    assert glue.get_connections(Filter={"ConnectionType": "KAFKA"})["ConnectionList"] == []


def test_a_connection_is_replaced_and_deleted(glue, shop):
    with pytest.raises(glue.exceptions.AlreadyExistsException, match="Connection Shop already exists"):
        glue.create_connection(ConnectionInput=SHOP)
    other = {"Name": "Shop", "ConnectionType": "NETWORK", "ConnectionProperties": {}}
    glue.update_connection(Name="Shop", ConnectionInput=other)
    found = glue.get_connection(Name="Shop")["Connection"]
    assert (found["ConnectionType"], "Description" in found) == ("NETWORK", False)
    glue.delete_connection(ConnectionName="Shop")
    for call, name in (
        (glue.get_connection, {"Name": "Shop"}),
        (glue.delete_connection, {"ConnectionName": "Shop"}),
        (glue.update_connection, {"Name": "Shop", "ConnectionInput": other}),
    ):
        with pytest.raises(glue.exceptions.EntityNotFoundException, match=r"Connection Shop not found\."):
            call(**name)
    answer = glue.batch_delete_connection(ConnectionNameList=["Shop"])
    assert answer["Succeeded"] == []
    assert answer["Errors"]["Shop"]["ErrorCode"] == "EntityNotFoundException"


def test_scripts_find_a_connection_that_a_client_made(shop, environ, tmp_path):
    file = tmp_path / "connections.yaml"
    file.write_text("connections: {own: {type: network, properties: {}}}")
    connections = load(file, environ)
    assert jdbc_connection(connections.get("Shop")).to_glue()["user"] == "ada"
    assert connections.get("own").type == "network"
    with pytest.raises(ConfigError, match="connection 'shop' is not known"):
        connections.get("shop")


def test_no_password_gets_into_the_logs(glue, serving, capfd):
    long = {**SHOP["ConnectionProperties"], "USERNAME": "a" * 2000}
    glue.create_connection(ConnectionInput={**SHOP, "Name": "logged"})
    for wrong in (
        {"ConnectionInput": {**SHOP, "Name": "logged"}},
        {"ConnectionInput": {**SHOP, "ConnectionProperties": long}},
        {"ConnectionInput": {**SHOP, "ConnectionType": "NOTHING"}},
    ):
        with pytest.raises(ClientError) as refused:
            glue.create_connection(**wrong)
        assert "hunter2" not in message_of(refused)
    glue.delete_connection(ConnectionName="logged")
    assert "hunter2" not in "".join(capfd.readouterr())


def test_databases_tables_functions_and_connections_have_tags(glue, database, shop):
    glue.create_table(DatabaseName=database, TableInput=CLICKS)
    glue.create_user_defined_function(DatabaseName=database, FunctionInput={"FunctionName": "F", "ClassName": "c"})
    prefix = "arn:aws:glue:us-east-1:000000000000:"
    for kind in (f"database/{database}", f"table/{database}/Clicks", f"userDefinedFunction/{database}/F"):
        assert glue.get_tags(ResourceArn=prefix + kind)["Tags"] == {}
        glue.tag_resource(ResourceArn=prefix + kind, TagsToAdd={"a": "1", "b": "2"})
        glue.untag_resource(ResourceArn=prefix + kind, TagsToRemove=["a"])
        assert glue.get_tags(ResourceArn=prefix + kind)["Tags"] == {"b": "2"}
    assert glue.get_tags(ResourceArn=f"{prefix}connection/Shop")["Tags"] == {"team": "data"}
    glue.delete_database(Name=database)
    with pytest.raises(glue.exceptions.EntityNotFoundException):
        glue.get_tags(ResourceArn=f"{prefix}database/{database}")
    glue.create_database(DatabaseInput={"Name": database})
    glue.create_table(DatabaseName=database, TableInput=CLICKS)
    assert glue.get_tags(ResourceArn=f"{prefix}table/{database}/clicks")["Tags"] == {}
    for missing in ("connection/none", f"userDefinedFunction/{database}/none", "table/none/none"):
        with pytest.raises(glue.exceptions.EntityNotFoundException):
            glue.get_tags(ResourceArn=prefix + missing)


def test_only_some_members_of_databases_and_tables_can_be_asked_for(glue, database):
    glue.create_table(DatabaseName=database, TableInput=CLICKS)
    (table,) = glue.get_tables(DatabaseName=database, AttributesToGet=["TABLE_TYPE"])["TableList"]
    assert table == {"Name": "clicks", "TableType": "EXTERNAL_TABLE"}
    assert {"Name": database} in glue.get_databases(AttributesToGet=["TARGET_DATABASE"])["DatabaseList"]
    assert glue.get_databases(ResourceShareType="FOREIGN")["DatabaseList"] == []


def test_a_script_reads_the_files_of_a_table_that_a_client_made(glue, database, catalog, tmp_path):
    storage = {**CLICKS["StorageDescriptor"], "Location": str(tmp_path)}
    glue.create_table(DatabaseName=database, TableInput={**CLICKS, "StorageDescriptor": storage})
    added = []
    for hour in range(3):
        folder = tmp_path / f"batch-{hour}"
        folder.mkdir()
        (folder / "clicks.json").write_text(f'{{"id": {hour}}}\n')
        added.append({"Values": ["2026-01-01", str(hour)], "StorageDescriptor": {"Location": str(folder)}})
    glue.batch_create_partition(DatabaseName=database, TableName="clicks", PartitionInputList=added)
    table = catalog.table(database, "clicks")
    read = table_read(table, catalog.partitions(table), {}, "hour > 0 and day = '2026-01-01'")
    files = list_files(read.settings.listing, ListingStats())
    assert sorted(one.folder.rpartition("/")[2] for one in files) == ["batch-1", "batch-2"]
    assert read.settings.description["format"] == "json"


def test_the_id_of_the_catalog_comes_back_as_it_was_sent(glue, database):
    found = glue.get_database(CatalogId="123456789012", Name=database)["Database"]
    assert found["CatalogId"] == "123456789012"
