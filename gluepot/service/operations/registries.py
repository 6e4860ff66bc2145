"""Registries of schemas."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gluepot.service.context import Service
from gluepot.service.errors import taken
from gluepot.service.operations.tags import check_tags
from gluepot.service.paging import page_by_name
from gluepot.service.registry import found_registry, registry_answer, registry_name
from gluepot.service.store.definitions import Definition, Kind

_PAGE = 100


def create_registry(service: Service, request: Mapping[str, Any]) -> dict[str, Any]:
    """Add a registry."""
    name, tags, now_ms = request["RegistryName"], request.get("Tags") or {}, service.now_ms()
    check_tags(tags)
    arn, description = service.arn("registry", name), request.get("Description", "")
    with service.store.changes() as changes:
        if not changes.definitions.add(Definition(Kind.REGISTRY, name, {"Description": description}, now_ms, now_ms)):
            raise taken(f"Registry already exists. RegistryName: {name}.")
        changes.tag(arn, tags)
    return {"RegistryName": name, "RegistryArn": arn, "Description": description, "Tags": tags}


def get_registry(service: Service, request: Mapping[str, Any]) -> dict[str, Any]:
    """Return one registry."""
    name = registry_name(request["RegistryId"])
    with service.store.changes() as changes:
        return registry_answer(service, found_registry(changes, name))


def list_registries(service: Service, request: Mapping[str, Any]) -> dict[str, Any]:
    """Return a page of the registries, by name."""
    with service.store.changes() as changes:
        found = changes.definitions.all(Kind.REGISTRY)
    some, token = page_by_name(found, lambda one: one.name, request, _PAGE)
    return {"Registries": [registry_answer(service, one) for one in some], **token}


def update_registry(service: Service, request: Mapping[str, Any]) -> dict[str, Any]:
    """Give a registry another description."""
    name = registry_name(request["RegistryId"])
    with service.store.changes() as changes:
        found = found_registry(changes, name)
        changes.definitions.save(found.changed({"Description": request["Description"]}, service.now_ms()))
    return {"RegistryName": name, "RegistryArn": service.arn("registry", name)}


def delete_registry(service: Service, request: Mapping[str, Any]) -> dict[str, Any]:
    """Delete a registry with its schemas and all their versions."""
    name = registry_name(request["RegistryId"])
    arn = service.arn("registry", name)
    with service.store.changes() as changes:
        found_registry(changes, name)
        for schema in changes.definitions.all(Kind.SCHEMA, f"{name}/"):
            changes.schema_versions.delete_all(schema.name)
            changes.definitions.delete(Kind.SCHEMA, schema.name)
            changes.untag(service.arn("schema", schema.name))
        changes.definitions.delete(Kind.REGISTRY, name)
        changes.untag(arn)
    return {"RegistryName": name, "RegistryArn": arn, "Status": "DELETING"}
