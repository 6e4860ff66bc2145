"""An unmodified serializer and deserializer of AWS's schema registry, which other people have written."""

import json
import os

import pytest
from aws_schema_registry import DataAndSchema, SchemaRegistryClient
from aws_schema_registry.adapter.kafka import KafkaDeserializer, KafkaSerializer
from aws_schema_registry.avro import AvroSchema
from aws_schema_registry.exception import SchemaRegistryException
from aws_schema_registry.jsonschema import JsonSchema

from gluepot.core.clock import SystemClock
from gluepot.service.server import ServeOptions, service
from tests.service_answers import checking_client

FIELDS = [{"name": "id", "type": "int"}]
PAGE = {"name": "page", "type": ["null", "string"], "default": None}
USER = {"name": "user", "type": "string"}


def click(*fields):
    return AvroSchema(json.dumps({"type": "record", "name": "Click", "fields": [*FIELDS, *fields]}))


@pytest.fixture(scope="module")
def glue(tmp_path_factory):
    environ = {**os.environ, "GLUEPOT_STATE": str(tmp_path_factory.mktemp("service"))}
    with service(ServeOptions(port=0), environ, SystemClock()) as serving:
        yield checking_client(serving)


def test_records_are_written_and_read_by_their_registered_schemas(glue):
    registry = SchemaRegistryClient(glue, max_wait_attempts=1, wait_interval_seconds=0.1)
    serializer, deserializer = KafkaSerializer(registry), KafkaDeserializer(registry)
    old = serializer.serialize("clicks", DataAndSchema({"id": 1}, click()))
    new = serializer.serialize("clicks", DataAndSchema({"id": 2, "page": "/"}, click(PAGE)))
    found = [deserializer.deserialize("clicks", record).data for record in (old, new)]
    assert found == [{"id": 1}, {"id": 2, "page": "/"}]
    document = JsonSchema(json.dumps({"type": "object", "properties": {"id": {"type": "integer"}}}))
    written = serializer.serialize("views", DataAndSchema({"id": 3}, document))
    assert deserializer.deserialize("views", written).data == {"id": 3}
    versions = glue.list_schema_versions(SchemaId={"RegistryName": "default-registry", "SchemaName": "clicks-value"})
    assert [one["VersionNumber"] for one in versions["Schemas"]] == [1, 2]


def test_a_writer_with_an_incompatible_schema_is_refused(glue):
    glue.create_registry(RegistryName="strict")
    registry = SchemaRegistryClient(glue, "strict", max_wait_attempts=1, wait_interval_seconds=0.1)
    serializer = KafkaSerializer(registry)
    serializer.serialize("clicks", DataAndSchema({"id": 1}, click()))
    with pytest.raises(SchemaRegistryException):
        serializer.serialize("clicks", DataAndSchema({"id": 2, "user": "ada"}, click(USER)))
