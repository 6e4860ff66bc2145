"""Schemas of registries. A schema has a format, a compatibility mode and versions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gluepot.service.context import Service
from gluepot.service.errors import taken
from gluepot.service.operations.schema_versions import add_version, check_definition
from gluepot.service.operations.tags import check_tags
from gluepot.service.paging import page_by_name
from gluepot.service.registry import (
    DEFAULT_REGISTRY,
    found_registry,
    found_schema,
    numbered,
    registry_name,
    schema_answer,
    schema_name,
    schema_names,
    text_time,
)
from gluepot.service.store.definitions import Definition, Kind

_PAGE = 100
_DEFAULT_MODE = "BACKWARD"


def create_schema(service: Service, request: Mapping[str, Any]) -> dict[str, Any]:
    """Add a schema, and its first version if the request has a definition."""
    given, tags, now_ms = request.get("RegistryId"), request.get("Tags") or {}, service.now_ms()
    registry = registry_name(given) if given else DEFAULT_REGISTRY
    name = f"{registry}/{request['SchemaName']}"
    text = request.get("SchemaDefinition")
    check_tags(tags)
    if text is not None:
        check_definition(request["DataFormat"], text)
    body = {
        "Description": request.get("Description", ""),
        "DataFormat": request["DataFormat"],
        "Compatibility": request.get("Compatibility", _DEFAULT_MODE),
        "SchemaCheckpoint": 1,
    }
    with service.store.changes() as changes:
        if registry == DEFAULT_REGISTRY:
            changes.definitions.add(Definition(Kind.REGISTRY, registry, {}, now_ms, now_ms))
        found_registry(changes, registry)
        schema = Definition(Kind.SCHEMA, name, body, now_ms, now_ms)
        if not changes.definitions.add(schema):
            raise taken(f"Schema already exists. SchemaName: {request['SchemaName']}, RegistryName: {registry}.")
        changes.tag(service.arn("schema", name), tags)
        version = add_version(changes, schema, text, now_ms) if text is not None else None
        answer = schema_answer(service, changes, schema)
    of_version = {"SchemaVersionId": version.id, "SchemaVersionStatus": version.status} if version else {}
    answer = {one: value for one, value in answer.items() if one not in {"CreatedTime", "UpdatedTime"}}
    return {**answer, "Tags": tags, **of_version}


def get_schema(service: Service, request: Mapping[str, Any]) -> dict[str, Any]:
    """Return one schema."""
    name = schema_name(request["SchemaId"])
    with service.store.changes() as changes:
        return schema_answer(service, changes, found_schema(changes, name))


def list_schemas(service: Service, request: Mapping[str, Any]) -> dict[str, Any]:
    """Return a page of the schemas of a registry, or of all, by name."""
    given = request.get("RegistryId")
    registry = registry_name(given) if given else None
    with service.store.changes() as changes:
        if registry is not None:
            found_registry(changes, registry)
        found = changes.definitions.all(Kind.SCHEMA, f"{registry}/" if registry is not None else "")
    some, token = page_by_name(found, lambda one: one.name, request, _PAGE)
    return {"Schemas": [_listed(service, one) for one in some], **token}


def update_schema(service: Service, request: Mapping[str, Any]) -> dict[str, Any]:
    """Change the description, the compatibility mode or the checkpoint of a schema."""
    name = schema_name(request["SchemaId"])
    with service.store.changes() as changes:
        schema = found_schema(changes, name)
        body = {**schema.body, **{one: request[one] for one in ("Description", "Compatibility") if one in request}}
        if (number := request.get("SchemaVersionNumber")) is not None:
            body["SchemaCheckpoint"] = numbered(changes, name, number).number
        changes.definitions.save(schema.changed(body, service.now_ms()))
    return schema_names(service, name)


def delete_schema(service: Service, request: Mapping[str, Any]) -> dict[str, Any]:
    """Delete a schema with all its versions."""
    name = schema_name(request["SchemaId"])
    with service.store.changes() as changes:
        found_schema(changes, name)
        changes.schema_versions.delete_all(name)
        changes.definitions.delete(Kind.SCHEMA, name)
        changes.untag(service.arn("schema", name))
    names = schema_names(service, name)
    return {"SchemaArn": names["SchemaArn"], "SchemaName": names["SchemaName"], "Status": "DELETING"}


def _listed(service: Service, schema: Definition) -> dict[str, Any]:
    return {
        **schema_names(service, schema.name),
        "Description": schema.body["Description"],
        "SchemaStatus": "AVAILABLE",
        "CreatedTime": text_time(schema.created_ms),
        "UpdatedTime": text_time(schema.modified_ms),
    }
