"""User-defined functions of the Data Catalog. Hive's and Spark's clients ask for them (docs/glue 11.1)."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import compress
from typing import Any

from gluepot.catalog.values import Entry, catalog_name
from gluepot.service.catalog import catalog_id, catalog_of
from gluepot.service.context import Service, secs
from gluepot.service.errors import ServiceError, invalid, not_found, taken
from gluepot.service.name_patterns import name_pattern
from gluepot.service.paging import page

_PAGE = 100


def create_user_defined_function(service: Service, request: Mapping[str, Any]) -> dict[str, Any]:
    """Add a function to a database."""
    with catalog_of(service) as catalog:
        if not catalog.add_entry(_given(request, request["FunctionInput"].get("FunctionName"))):
            raise taken("Function already exists.")
    return {}


def get_user_defined_function(service: Service, request: Mapping[str, Any]) -> dict[str, Any]:
    """Return one function."""
    with catalog_of(service) as catalog:
        database = catalog.database(request["DatabaseName"])
        found = catalog.entry(Entry("function", request["FunctionName"], {}, database.name))
    if found is None:
        raise _missing(request["FunctionName"])
    return {"UserDefinedFunction": _answer(found, catalog_id(service, request))}


def get_user_defined_functions(service: Service, request: Mapping[str, Any]) -> dict[str, Any]:
    """Return a page of the functions of a database, or of all, whose names match a pattern."""
    pattern, kind = name_pattern(request["Pattern"]), request.get("FunctionType")
    database = request.get("DatabaseName")
    with catalog_of(service) as catalog:
        found = catalog.entries("function", None if database is None else catalog.database(database).name)
    named = compress(found, pattern.chosen([one.name for one in found]))
    chosen = [one for one in named if kind is None or one.body.get("FunctionType") == kind]
    of = catalog_id(service, request)
    return page(chosen, request, "UserDefinedFunctions", _PAGE, lambda one: _answer(one, of))


def update_user_defined_function(service: Service, request: Mapping[str, Any]) -> dict[str, Any]:
    """Replace a function."""
    name = request["FunctionName"]
    with catalog_of(service) as catalog:
        catalog.database(request["DatabaseName"])
        if (given := request["FunctionInput"].get("FunctionName", name)) != name:
            raise invalid(f"A function cannot be renamed from {name} to {given}; create a new one.")
        if not catalog.change_entry(_given(request, name)):
            raise _missing(name)
    return {}


def delete_user_defined_function(service: Service, request: Mapping[str, Any]) -> dict[str, Any]:
    """Remove a function."""
    with catalog_of(service) as catalog:
        database = catalog.database(request["DatabaseName"])
        if not catalog.drop_entry(Entry("function", request["FunctionName"], {}, database.name)):
            raise _missing(request["FunctionName"])
    with service.store.changes() as changes:
        changes.untag(service.arn("userDefinedFunction", f"{database.name}/{request['FunctionName']}"))
    return {}


def _given(request: Mapping[str, Any], name: str | None) -> Entry:
    if name is None:
        raise invalid("FunctionInput.FunctionName is missing; give the name of the function.")
    return Entry("function", name, request["FunctionInput"], catalog_name(request["DatabaseName"]))


def _answer(function: Entry, catalog: str) -> dict[str, Any]:
    return {
        **function.body,
        "FunctionName": function.name,
        "DatabaseName": function.database,
        "CreateTime": secs(function.created_ms),
        "CatalogId": catalog,
    }


def _missing(name: str) -> ServiceError:
    return not_found(f"Function {name} not found.")
