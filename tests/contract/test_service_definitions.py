"""What the service only keeps, and the versions of schemas, on SQLite and PostgreSQL."""

import json
from concurrent.futures import ThreadPoolExecutor

import pytest

from gluepot.service.errors import ServiceError
from tests.unit.service.world import NOON, World

CLICKS = {"RegistryName": "web", "SchemaName": "clicks"}
WRITERS = 4


def version(number):
    return json.dumps({"type": "record", "name": "Click", "doc": str(number), "fields": []})


def test_versions_that_are_registered_at_the_same_time_get_different_numbers(url, tmp_path):
    world = World(tmp_path, NOON, url)
    world.call("CreateRegistry", RegistryName="web")
    world.call(
        "CreateSchema",
        RegistryId={"RegistryName": "web"},
        SchemaName="clicks",
        DataFormat="AVRO",
        Compatibility="FULL_ALL",
        SchemaDefinition=version(0),
    )

    def register(number):
        return world.call("RegisterSchemaVersion", SchemaId=CLICKS, SchemaDefinition=version(number))

    with ThreadPoolExecutor(WRITERS) as pool:
        made = list(pool.map(register, [1, 2, 3, 4, 4, 4]))
    assert {one["VersionNumber"] for one in made} == {2, 3, 4, 5}
    found = world.call("ListSchemaVersions", SchemaId=CLICKS)["Schemas"]
    assert [one["VersionNumber"] for one in found] == [1, 2, 3, 4, 5]


def test_names_are_taken_once_and_listed_in_their_order(url, tmp_path):
    world = World(tmp_path, NOON, url)

    def create(name):
        try:
            world.call("CreateSecurityConfiguration", Name=name, EncryptionConfiguration={})
        except ServiceError as refused:
            return refused.code
        return "created"

    with ThreadPoolExecutor(WRITERS) as pool:
        codes = list(pool.map(create, ["a", "B", "a", "_", "a"]))
    assert sorted(codes) == ["AlreadyExistsException"] * 2 + ["created"] * 3
    first = world.call("GetSecurityConfigurations", MaxResults=2)
    rest = world.call("GetSecurityConfigurations", NextToken=first["NextToken"])
    names = [one["Name"] for page in (first, rest) for one in page["SecurityConfigurations"]]
    assert names == ["B", "_", "a"]
    world.call("DeleteSecurityConfiguration", Name="a")
    with pytest.raises(ServiceError, match="not found"):
        world.call("GetSecurityConfiguration", Name="a")


def test_a_registry_is_deleted_with_its_schemas_only(url, tmp_path):
    world = World(tmp_path, NOON, url)
    for registry in ("web", "Web", "web_2"):
        world.call("CreateRegistry", RegistryName=registry)
        of = {"RegistryId": {"RegistryName": registry}, "SchemaName": "clicks", "DataFormat": "AVRO"}
        world.call("CreateSchema", **of, SchemaDefinition=version(0))
    world.call("DeleteRegistry", RegistryId={"RegistryName": "web"})
    left = [(one["RegistryName"], one["SchemaName"]) for one in world.call("ListSchemas")["Schemas"]]
    assert left == [("Web", "clicks"), ("web_2", "clicks")]
