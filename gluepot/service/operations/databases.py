"""Databases of the Data Catalog (docs/glue 11.4)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gluepot.catalog.values import catalog_name, database_of
from gluepot.service.catalog import catalog_id, catalog_of, database_answer
from gluepot.service.context import Service
from gluepot.service.errors import invalid, taken
from gluepot.service.operations.tags import check_tags
from gluepot.service.paging import scanned

_PAGE = 100
_ATTRIBUTES = {"NAME": "Name", "TARGET_DATABASE": "TargetDatabase"}


def create_database(service: Service, request: Mapping[str, Any]) -> dict[str, Any]:
    """Add a database."""
    tags = request.get("Tags") or {}
    check_tags(tags)
    with catalog_of(service, "CreateDatabase") as catalog:
        database = database_of(request["DatabaseInput"])
        if not catalog.add_database(database):
            raise taken("Database already exists.")
    with service.store.changes() as changes:
        changes.tag(service.arn("database", database.name), tags)
    return {}


def get_database(service: Service, request: Mapping[str, Any]) -> dict[str, Any]:
    """Return one database."""
    with catalog_of(service) as catalog:
        return {"Database": database_answer(catalog.database(request["Name"]), catalog_id(service, request))}


def get_databases(service: Service, request: Mapping[str, Any]) -> dict[str, Any]:
    """Return a page of the databases, by name. No other account shares one."""
    if request.get("ResourceShareType") in {"FOREIGN", "FEDERATED"}:
        return {"DatabaseList": []}
    wanted = {_ATTRIBUTES[one] for one in request.get("AttributesToGet") or ()}
    with catalog_of(service) as catalog:
        found, token = scanned(catalog.databases, lambda one: one.name, lambda databases: databases, request, _PAGE)
    answers = [database_answer(one, catalog_id(service, request)) for one in found]
    if wanted:
        answers = [{name: value for name, value in one.items() if name in {"Name", *wanted}} for one in answers]
    return {"DatabaseList": answers, **token}


def update_database(service: Service, request: Mapping[str, Any]) -> dict[str, Any]:
    """Replace what describes a database."""
    with catalog_of(service) as catalog:
        database = database_of(request["DatabaseInput"])
        if database.name != catalog_name(request["Name"]):
            raise invalid(f"A database cannot be renamed from {request['Name']} to {database.name}; create a new one.")
        catalog.change_database(database)
    return {}


def delete_database(service: Service, request: Mapping[str, Any]) -> dict[str, Any]:
    """Remove a database with all that it holds. Files stay."""
    with catalog_of(service, "DeleteDatabase") as catalog:
        name = catalog_name(request["Name"])
        arns = [service.arn("database", name)]
        arns += [service.arn("table", f"{name}/{one.name}") for one in catalog.tables(name)]
        arns += [service.arn("userDefinedFunction", f"{name}/{one.name}") for one in catalog.entries("function", name)]
        catalog.drop_database(name)
    with service.store.changes() as changes:
        for arn in arns:
            changes.untag(arn)
    return {}
