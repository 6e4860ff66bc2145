"""Prints what the service has as AWS's command line prints it, so that `import` and other tools read it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from gluepot.service.transfer.fields import printed
from gluepot.service.transfer.importing import Operate
from gluepot.service.transfer.kinds import KINDS
from gluepot.service.wire.shapes import model_of

_Found = Iterator[Mapping[str, Any]]
_NAMES_A_CALL = 25


def export(kinds: list[str], operate: Operate, *, hide_passwords: bool = False) -> dict[str, list[Any]]:
    """Return all things of some kinds, by the member of the answer that AWS has for them.

    Args:
        kinds: keys of `EXPORTS`.
        operate: calls an operation of the service.
        hide_passwords: leave the passwords of connections out.
    """
    found: dict[str, list[Any]] = {}
    for kind in kinds:
        member, things = EXPORTS[kind]
        shape = model_of("glue").shape_for(KINDS[kind].shape)
        request = {"HidePassword": True} if kind == "connections" and hide_passwords else {}
        found[member] = [printed(shape, one) for one in things(operate, request)]
    return found


def _pages(
    name: str, member: str, more: Mapping[str, Any] | None = None
) -> Callable[[Operate, Mapping[str, Any]], _Found]:
    def things(operate: Operate, request: Mapping[str, Any]) -> _Found:
        token: dict[str, str] = {}
        while True:
            answer = operate(name, {**(more or {}), **request, **token})
            yield from answer[member]
            if not answer.get("NextToken"):
                return
            token = {"NextToken": answer["NextToken"]}

    return things


_REGISTRIES = _pages("ListRegistries", "Registries")
_LISTED_SCHEMAS = _pages("ListSchemas", "Schemas")
_LISTED_VERSIONS = _pages("ListSchemaVersions", "Schemas")
_DATABASES = _pages("GetDatabases", "DatabaseList")
_TABLES = _pages("GetTables", "TableList")
_PARTITIONS = _pages("GetPartitions", "Partitions")
_WORKFLOWS = _pages("ListWorkflows", "Workflows")


def _schemas(operate: Operate, request: Mapping[str, Any]) -> _Found:
    for one in _LISTED_SCHEMAS(operate, request):
        yield operate("GetSchema", {"SchemaId": {"SchemaArn": one["SchemaArn"]}})


def _versions(operate: Operate, request: Mapping[str, Any]) -> _Found:
    for schema in _LISTED_SCHEMAS(operate, request):
        for one in _LISTED_VERSIONS(operate, {"SchemaId": {"SchemaArn": schema["SchemaArn"]}}):
            yield operate("GetSchemaVersion", {"SchemaVersionId": one["SchemaVersionId"]})


def _tables(operate: Operate, request: Mapping[str, Any]) -> _Found:
    for database in _DATABASES(operate, request):
        yield from _TABLES(operate, {"DatabaseName": database["Name"]})


def _partitions(operate: Operate, request: Mapping[str, Any]) -> _Found:
    for table in _tables(operate, request):
        yield from _PARTITIONS(operate, {"DatabaseName": table["DatabaseName"], "TableName": table["Name"]})


def _workflows(operate: Operate, request: Mapping[str, Any]) -> _Found:
    names: list[Any] = list(_WORKFLOWS(operate, request))
    for first in range(0, len(names), _NAMES_A_CALL):
        yield from operate("BatchGetWorkflows", {"Names": names[first : first + _NAMES_A_CALL]})["Workflows"]


EXPORTS: Mapping[str, tuple[str, Callable[[Operate, Mapping[str, Any]], _Found]]] = {
    "registries": ("Registries", _REGISTRIES),
    "schemas": ("Schemas", _schemas),
    "schema versions": ("SchemaVersions", _versions),
    "connections": ("ConnectionList", _pages("GetConnections", "ConnectionList")),
    "classifiers": ("Classifiers", _pages("GetClassifiers", "Classifiers")),
    "security configurations": (
        "SecurityConfigurations",
        _pages("GetSecurityConfigurations", "SecurityConfigurations"),
    ),
    "databases": ("DatabaseList", _DATABASES),
    "tables": ("TableList", _tables),
    "partitions": ("Partitions", _partitions),
    "functions": (
        "UserDefinedFunctions",
        _pages("GetUserDefinedFunctions", "UserDefinedFunctions", {"Pattern": "*"}),
    ),
    "jobs": ("Jobs", _pages("GetJobs", "Jobs")),
    "workflows": ("Workflows", _workflows),
    "triggers": ("Triggers", _pages("GetTriggers", "Triggers")),
}
"""Each kind with the member that holds its things, and the function that yields them."""
