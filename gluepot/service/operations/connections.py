"""Connections of the Data Catalog. Scripts use them by name, as those of the connections file (docs/glue 11.5)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gluepot.catalog.connections import Connection
from gluepot.catalog.connections.kinds import check
from gluepot.catalog.values import Entry
from gluepot.core.errors import PermanentError, TransientError
from gluepot.service import connection_trial as trial
from gluepot.service.catalog import catalog_of, error_detail
from gluepot.service.connection_values import connection_answer, connection_entry, fits
from gluepot.service.context import Service
from gluepot.service.errors import ServiceError, invalid, not_found, taken
from gluepot.service.operations.tags import check_tags
from gluepot.service.paging import page

_PAGE = 100


def create_connection(service: Service, request: Mapping[str, Any]) -> dict[str, Any]:
    """Add a connection. Nobody tries whether it leads anywhere."""
    tags = request.get("Tags") or {}
    check_tags(tags)
    entry = connection_entry(request["ConnectionInput"])
    with catalog_of(service) as catalog:
        if not catalog.add_entry(entry):
            raise taken(f"Connection {entry.name} already exists.")
    with service.store.changes() as changes:
        changes.tag(service.arn("connection", entry.name), tags)
    return {"CreateConnectionStatus": "READY"}


def get_connection(service: Service, request: Mapping[str, Any]) -> dict[str, Any]:
    """Return one connection."""
    with catalog_of(service) as catalog:
        found = catalog.entry(Entry("connection", request["Name"]))
    if found is None:
        raise _missing(request["Name"])
    return {"Connection": connection_answer(found, hide_passwords=bool(request.get("HidePassword")))}


def get_connections(service: Service, request: Mapping[str, Any]) -> dict[str, Any]:
    """Return a page of the connections that fulfil a filter, by name."""
    wanted, hide_passwords = request.get("Filter") or {}, bool(request.get("HidePassword"))
    with catalog_of(service) as catalog:
        found = [one for one in catalog.entries("connection") if fits(one, wanted)]
    return page(
        found, request, "ConnectionList", _PAGE, lambda one: connection_answer(one, hide_passwords=hide_passwords)
    )


def update_connection(service: Service, request: Mapping[str, Any]) -> dict[str, Any]:
    """Replace a connection."""
    entry = connection_entry(request["ConnectionInput"])
    if entry.name != request["Name"]:
        raise invalid(f"A connection cannot be renamed from {request['Name']} to {entry.name}; create a new one.")
    with catalog_of(service) as catalog:
        if not catalog.change_entry(entry):
            raise _missing(entry.name)
    return {}


def delete_connection(service: Service, request: Mapping[str, Any]) -> dict[str, Any]:
    """Remove a connection."""
    _drop(service, request["ConnectionName"])
    return {}


def batch_delete_connection(service: Service, request: Mapping[str, Any]) -> dict[str, Any]:
    """Remove connections. Each that cannot be removed is told with its reason."""
    gone, errors = [], {}
    for name in request["ConnectionNameList"]:
        try:
            _drop(service, name)
            gone.append(name)
        except ServiceError as refused:
            errors[name] = error_detail(refused)
    return {"Succeeded": gone, "Errors": errors}


def try_connection(service: Service, request: Mapping[str, Any]) -> dict[str, Any]:
    """Log in to the server of a connection, of the catalog or of the request."""
    name, given = request.get("ConnectionName"), request.get("TestConnectionInput")
    if (name is None) == (given is None):
        raise invalid("The request has both ConnectionName and TestConnectionInput, or neither; give one of them.")
    if given is None:
        with catalog_of(service) as catalog:
            found = catalog.entry(Entry("connection", str(name)))
        if found is None:
            raise _missing(str(name))
        given = found.body
    properties = given.get("ConnectionProperties") or {}
    connection = Connection(name or "of the request", given["ConnectionType"].lower(), properties)
    check(connection, "TestConnection")
    try:
        trial.try_connection(connection, service.environ)
    except (TransientError, PermanentError) as away:
        raise ServiceError("FederationSourceException", str(away)) from None
    return {}


def _drop(service: Service, name: str) -> None:
    with catalog_of(service) as catalog:
        if not catalog.drop_entry(Entry("connection", name)):
            raise _missing(name)
    with service.store.changes() as changes:
        changes.untag(service.arn("connection", name))


def _missing(name: str) -> ServiceError:
    return not_found(f"Connection {name} not found.")
