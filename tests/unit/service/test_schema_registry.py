"""The schema registry: registries, schemas, versions, their compatibility and their metadata."""

import json

import pytest

from gluepot.service.errors import ServiceError

FIRST = json.dumps({"type": "record", "name": "Click", "fields": [{"name": "id", "type": "int"}]})
OPTIONAL = json.dumps(
    {
        "type": "record",
        "name": "Click",
        "fields": [{"name": "id", "type": "int"}, {"name": "page", "type": ["null", "string"], "default": None}],
    }
)
REQUIRED = json.dumps(
    {
        "type": "record",
        "name": "Click",
        "fields": [{"name": "id", "type": "int"}, {"name": "user", "type": "string"}],
    }
)
CLICKS = {"RegistryName": "web", "SchemaName": "clicks"}


@pytest.fixture
def registry(world):
    world.call("CreateRegistry", RegistryName="web", Description="of the site", Tags={"team": "data"})
    return world


def schema(world, mode="BACKWARD", definition=FIRST, data_format="AVRO"):
    more = {"SchemaDefinition": definition} if definition else {}
    of = {"RegistryId": {"RegistryName": "web"}, "SchemaName": "clicks", "DataFormat": data_format}
    return world.call("CreateSchema", **of, Compatibility=mode, **more)


def register(world, definition):
    return world.call("RegisterSchemaVersion", SchemaId=CLICKS, SchemaDefinition=definition)


def refusal(world, operation, **request):
    with pytest.raises(ServiceError) as caught:
        world.call(operation, **request)
    return caught.value.code, caught.value.message


def test_a_registry_is_created_changed_and_deleted_with_what_it_holds(registry):
    schema(registry)
    assert refusal(registry, "CreateRegistry", RegistryName="web")[0] == "AlreadyExistsException"
    arn = "arn:aws:glue:us-east-1:000000000000:registry/web"
    registry.call("UpdateRegistry", RegistryId={"RegistryArn": arn}, Description="of both sites")
    found = registry.call("GetRegistry", RegistryId={"RegistryName": "web"})
    assert found == {
        "RegistryName": "web",
        "RegistryArn": arn,
        "Description": "of both sites",
        "Status": "AVAILABLE",
        "CreatedTime": "2026-03-02T12:00:00.000Z",
        "UpdatedTime": "2026-03-02T12:00:00.000Z",
    }
    assert registry.call("ListRegistries")["Registries"] == [found]
    assert registry.call("GetTags", ResourceArn=arn)["Tags"] == {"team": "data"}
    assert registry.call("DeleteRegistry", RegistryId={"RegistryName": "web"})["Status"] == "DELETING"
    assert refusal(registry, "GetSchema", SchemaId=CLICKS)[0] == "EntityNotFoundException"
    assert refusal(registry, "GetRegistry", RegistryId={"RegistryName": "web"}) == (
        "EntityNotFoundException",
        "Registry is not found. RegistryName: web.",
    )


def test_a_registry_is_named_by_its_name_or_its_arn(world):
    for given in ({}, {"RegistryName": "a", "RegistryArn": "arn:aws:glue:us-east-1:000000000000:registry/a"}):
        assert refusal(world, "GetRegistry", RegistryId=given)[0] == "InvalidInputException"
    wrong = "arn:aws:glue:us-east-1:000000000000:job/a"
    assert refusal(world, "GetRegistry", RegistryId={"RegistryArn": wrong}) == (
        "InvalidInputException",
        f"{wrong} is not the ARN of a registry.",
    )


def test_a_schema_without_a_registry_goes_to_the_default_one(world):
    made = world.call("CreateSchema", SchemaName="clicks", DataFormat="AVRO", SchemaDefinition=FIRST)
    assert (made["RegistryName"], made["Compatibility"]) == ("default-registry", "BACKWARD")
    assert world.call("GetRegistry", RegistryId={"RegistryName": "default-registry"})["Status"] == "AVAILABLE"
    by_name = {"RegistryId": {"RegistryName": "default-registry"}, "SchemaName": "views", "DataFormat": "AVRO"}
    world.call("CreateSchema", **by_name)
    assert [one["SchemaName"] for one in world.call("ListSchemas")["Schemas"]] == ["clicks", "views"]


def test_a_schema_tells_its_first_latest_and_next_version(registry):
    made = schema(registry, definition=None)
    assert made["NextSchemaVersion"] == 1
    assert "LatestSchemaVersion" not in made
    register(registry, FIRST)
    assert register(registry, OPTIONAL)["VersionNumber"] == 2
    found = registry.call("GetSchema", SchemaId={"SchemaArn": made["SchemaArn"]})
    numbers = {name: found[name] for name in ("SchemaCheckpoint", "LatestSchemaVersion", "NextSchemaVersion")}
    assert numbers == {"SchemaCheckpoint": 1, "LatestSchemaVersion": 2, "NextSchemaVersion": 3}
    assert refusal(registry, "GetSchema", SchemaId={"SchemaName": "clicks"})[0] == "InvalidInputException"


def test_a_version_is_found_by_id_number_and_definition(registry):
    schema(registry)
    made = register(registry, OPTIONAL)
    by_id = registry.call("GetSchemaVersion", SchemaVersionId=made["SchemaVersionId"])
    assert by_id["SchemaDefinition"] == OPTIONAL
    for number in ({"VersionNumber": 2}, {"LatestVersion": True}):
        assert registry.call("GetSchemaVersion", SchemaId=CLICKS, SchemaVersionNumber=number) == by_id
    spaced = json.dumps(json.loads(OPTIONAL), indent=4, sort_keys=True)
    by_definition = registry.call("GetSchemaByDefinition", SchemaId=CLICKS, SchemaDefinition=spaced)
    assert by_definition["SchemaVersionId"] == made["SchemaVersionId"]
    absent = refusal(registry, "GetSchemaByDefinition", SchemaId=CLICKS, SchemaDefinition=REQUIRED)
    assert absent[0] == "EntityNotFoundException"
    assert "Schema version is not found." in absent[1]  # serializers look for these words
    assert (
        refusal(registry, "GetSchemaVersion", SchemaVersionId="00000000-0000-4000-8000-000000000000")[0]
        == "EntityNotFoundException"
    )
    assert refusal(registry, "GetSchemaVersion")[0] == "InvalidInputException"


def test_the_same_definition_is_registered_once(registry):
    made = schema(registry)
    assert register(registry, FIRST.replace(": ", ":"))["SchemaVersionId"] == made["SchemaVersionId"]
    assert len(registry.call("ListSchemaVersions", SchemaId=CLICKS)["Schemas"]) == 1


@pytest.mark.parametrize(
    ("mode", "statuses"),
    [
        # Of a version with an additional optional field, and then one with an additional required field.
        ("NONE", ["AVAILABLE", "AVAILABLE"]),
        ("BACKWARD", ["AVAILABLE", "FAILURE"]),
        ("FORWARD", ["AVAILABLE", "AVAILABLE"]),
        ("FULL", ["AVAILABLE", "FAILURE"]),
        ("BACKWARD_ALL", ["AVAILABLE", "FAILURE"]),
        ("FORWARD_ALL", ["AVAILABLE", "AVAILABLE"]),
        ("FULL_ALL", ["AVAILABLE", "FAILURE"]),
    ],
)
def test_a_version_that_is_not_compatible_fails(registry, mode, statuses):
    schema(registry, mode)
    assert [register(registry, one)["Status"] for one in (OPTIONAL, REQUIRED)] == statuses
    found = registry.call("GetSchema", SchemaId=CLICKS)
    assert found["LatestSchemaVersion"] == (3 if statuses[1] == "AVAILABLE" else 2)
    assert found["NextSchemaVersion"] == 4


def test_modes_of_all_versions_begin_at_the_checkpoint(registry):
    schema(registry, "NONE")
    register(registry, REQUIRED)
    registry.call("UpdateSchema", SchemaId=CLICKS, Compatibility="BACKWARD_ALL")
    nullable = REQUIRED.replace('"string"', '["null", "string"]')
    assert register(registry, nullable)["Status"] == "FAILURE"  # records of version 1 have no user
    number = {"VersionNumber": 2}
    registry.call("UpdateSchema", SchemaId=CLICKS, Compatibility="BACKWARD_ALL", SchemaVersionNumber=number)
    assert register(registry, nullable)["Status"] == "AVAILABLE"


def test_a_schema_that_is_disabled_has_one_version(registry):
    schema(registry, "DISABLED")
    code, message = refusal(registry, "RegisterSchemaVersion", SchemaId=CLICKS, SchemaDefinition=OPTIONAL)
    assert code == "InvalidInputException"
    assert message.startswith("Compatibility DISABLED does not allow versioning.")


@pytest.mark.parametrize(("data_format", "text"), [("AVRO", "{"), ("JSON", '{"type": 5}'), ("PROTOBUF", "message A")])
def test_a_definition_that_is_not_valid_is_refused(registry, data_format, text):
    of = {"SchemaName": "a", "DataFormat": data_format, "SchemaDefinition": text}
    code, message = refusal(registry, "CreateSchema", RegistryId={"RegistryName": "web"}, **of)
    assert code == "InvalidInputException"
    assert message.startswith(f"Schema definition of {data_format} data format is invalid: ")
    found = registry.call("CheckSchemaVersionValidity", DataFormat=data_format, SchemaDefinition=text)
    assert found["Valid"] is False
    assert found["Error"]


def test_versions_are_deleted_but_for_the_first_and_the_checkpoint(registry):
    schema(registry, "NONE")
    for text in (OPTIONAL, REQUIRED):
        register(registry, text)
    errors = registry.call("DeleteSchemaVersions", SchemaId=CLICKS, Versions="3-4")["SchemaVersionErrors"]
    assert [(one["VersionNumber"], one["ErrorDetails"]["ErrorCode"]) for one in errors] == [
        (4, "EntityNotFoundException")
    ]
    assert refusal(registry, "DeleteSchemaVersions", SchemaId=CLICKS, Versions="1-2")[0] == "InvalidInputException"
    registry.call("UpdateSchema", SchemaId=CLICKS, SchemaVersionNumber={"VersionNumber": 2})
    errors = registry.call("DeleteSchemaVersions", SchemaId=CLICKS, Versions="1")["SchemaVersionErrors"]
    assert errors[0]["ErrorDetails"]["ErrorCode"] == "InvalidInputException"
    versions = registry.call("ListSchemaVersions", SchemaId=CLICKS)["Schemas"]
    assert [one["VersionNumber"] for one in versions] == [1, 2]
    for wrong in ("4-3", "1-100"):
        assert refusal(registry, "DeleteSchemaVersions", SchemaId=CLICKS, Versions=wrong)[0] == "InvalidInputException"


def test_two_versions_differ_by_a_json_patch(registry):
    schema(registry)
    register(registry, OPTIONAL)
    found = registry.call(
        "GetSchemaVersionsDiff",
        SchemaId=CLICKS,
        FirstSchemaVersionNumber={"VersionNumber": 1},
        SecondSchemaVersionNumber={"LatestVersion": True},
        SchemaDiffType="SYNTAX_DIFF",
    )
    added = {"name": "page", "type": ["null", "string"], "default": None}
    assert json.loads(found["Diff"]) == [{"op": "add", "path": "/fields/1", "value": added}]


def test_metadata_of_a_version_keeps_earlier_values(registry):
    version = {"SchemaVersionId": schema(registry)["SchemaVersionId"]}

    def put(value, key="stage"):
        pair = {"MetadataKey": key, "MetadataValue": value}
        return registry.call("PutSchemaVersionMetadata", **version, MetadataKeyValue=pair)

    assert put("test")["LatestVersion"] is True
    registry.clock.now += 1
    put("live")
    put("ada", "owner")
    found = registry.call("QuerySchemaVersionMetadata", **version)["MetadataInfoMap"]
    assert found["stage"]["MetadataValue"] == "live"
    assert [one["MetadataValue"] for one in found["stage"]["OtherMetadataValueList"]] == ["test"]
    assert list(found) == ["stage", "owner"]
    some = registry.call("QuerySchemaVersionMetadata", **version, MetadataList=[{"MetadataKey": "owner"}])
    assert list(some["MetadataInfoMap"]) == ["owner"]
    pair = {"MetadataKey": "stage", "MetadataValue": "live"}
    assert refusal(registry, "PutSchemaVersionMetadata", **version, MetadataKeyValue=pair)[0] == (
        "AlreadyExistsException"
    )
    registry.call("RemoveSchemaVersionMetadata", **version, MetadataKeyValue=pair)
    assert refusal(registry, "RemoveSchemaVersionMetadata", **version, MetadataKeyValue=pair)[0] == (
        "EntityNotFoundException"
    )
    for number in range(8):
        put("x", f"key{number}")
    with pytest.raises(ServiceError, match="10 keys"):
        put("x", "more")


def test_deleting_a_schema_deletes_its_versions_and_tags(registry):
    version = schema(registry)["SchemaVersionId"]
    arn = "arn:aws:glue:us-east-1:000000000000:schema/web/clicks"
    registry.call("TagResource", ResourceArn=arn, TagsToAdd={"a": "b"})
    assert registry.call("DeleteSchema", SchemaId=CLICKS)["Status"] == "DELETING"
    assert refusal(registry, "GetSchemaVersion", SchemaVersionId=version)[0] == "EntityNotFoundException"
    assert refusal(registry, "GetTags", ResourceArn=arn)[0] == "EntityNotFoundException"
    schema(registry)
    assert registry.call("GetTags", ResourceArn=arn)["Tags"] == {}
