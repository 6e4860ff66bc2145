"""The kinds of things that can be moved: the requests that create, change and show one. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from gluepot.service.transfer.fields import fitting
from gluepot.service.wire.shapes import model_of, operation

Thing: TypeAlias = Mapping[str, Any]
Call: TypeAlias = tuple[str, dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Portable:
    """A kind of things.

    Args:
        name: of the kind, for people.
        shape: of one, as it is printed.
        title: its name, for people.
        create: the operation that creates it, and its request.
        change: likewise for the one that changes it; None if it cannot be changed.
        show: likewise for the one that shows it.
        shown: member of the answer with the thing; empty if it is the answer.
    """

    name: str
    shape: str
    title: Callable[[Thing], str]
    create: Callable[[Thing], Call]
    change: Callable[[Thing], Call] | None
    show: Callable[[Thing], Call]
    shown: str


def taken(name: str, thing: Thing) -> dict[str, Any]:
    """Return the members of a thing that an operation takes."""
    model = operation(name)
    found: dict[str, Any] = fitting(model.input_shape, thing) if model is not None else {}
    return found


def part(shape: str, thing: Thing) -> dict[str, Any]:
    """Return the members of a thing that a shape of the model has."""
    found: dict[str, Any] = fitting(model_of("glue").shape_for(shape), thing)
    return found


def schema_of(version: Thing) -> dict[str, str]:
    """Return the registry and the name of the schema of a version."""
    registry, _, name = str(version.get("SchemaArn", "")).split(":", 5)[-1].removeprefix("schema/").partition("/")
    return {"RegistryName": registry, "SchemaName": name}


def _name(thing: Thing) -> str:
    return str(thing.get("Name", ""))


def _job(thing: Thing) -> dict[str, Any]:
    """Return a job without what AWS adds: the capacity that follows from workers, and no timeout as a zero."""
    given = {name: value for name, value in thing.items() if name != "AllocatedCapacity" or "MaxCapacity" not in thing}
    if given.get("NumberOfWorkers") is not None:
        given = {name: value for name, value in given.items() if name not in {"MaxCapacity", "AllocatedCapacity"}}
    if given.get("Timeout") == 0:
        del given["Timeout"]
    return given


def _trigger(thing: Thing) -> dict[str, Any]:
    return {name: value for name, value in thing.items() if name != "Predicate" or value}


def _starts(thing: Thing) -> dict[str, bool]:
    starts = thing.get("Type") != "ON_DEMAND" and thing.get("State") in {"ACTIVATED", "ACTIVATING"}
    return {"StartOnCreation": True} if starts else {}


def _classifier(thing: Thing) -> str:
    return next((str(one.get("Name", "")) for one in thing.values() if isinstance(one, Mapping)), "")


def _of_table(thing: Thing) -> dict[str, Any]:
    return {name: thing[name] for name in ("DatabaseName", "TableName") if name in thing}


def _function(thing: Thing) -> dict[str, Any]:
    return {name: thing[name] for name in ("DatabaseName", "FunctionName") if name in thing}


def _registry(thing: Thing) -> dict[str, Any]:
    return {"RegistryId": {"RegistryName": thing.get("RegistryName")}}


def _schema(thing: Thing) -> dict[str, Any]:
    return {"SchemaId": {name: thing.get(name) for name in ("RegistryName", "SchemaName")}}


def _version(thing: Thing) -> dict[str, Any]:
    return {"SchemaVersionId": thing.get("SchemaVersionId")}


KINDS: Mapping[str, Portable] = {
    one.name: one
    for one in (
        Portable(
            "registries",
            "GetRegistryResponse",
            lambda one: str(one.get("RegistryName", "")),
            lambda one: ("CreateRegistry", taken("CreateRegistry", one)),
            lambda one: ("UpdateRegistry", {**_registry(one), "Description": one.get("Description", "")}),
            lambda one: ("GetRegistry", _registry(one)),
            "",
        ),
        Portable(
            "schemas",
            "GetSchemaResponse",
            lambda one: f"{one.get('RegistryName', '')}/{one.get('SchemaName', '')}",
            lambda one: ("CreateSchema", {**taken("CreateSchema", one), **_registry(one)}),
            lambda one: ("UpdateSchema", {**taken("UpdateSchema", one), **_schema(one)}),
            lambda one: ("GetSchema", _schema(one)),
            "",
        ),
        # Versions are not registered but kept with their ids, because records name them.
        Portable(
            "schema versions",
            "GetSchemaVersionResponse",
            lambda one: f"{'/'.join(schema_of(one).values())} {one.get('VersionNumber', '')}",
            lambda one: ("", dict(one)),
            None,
            lambda one: ("GetSchemaVersion", _version(one)),
            "",
        ),
        Portable(
            "connections",
            "Connection",
            _name,
            lambda one: ("CreateConnection", {"ConnectionInput": part("ConnectionInput", one)}),
            lambda one: ("UpdateConnection", {"Name": _name(one), "ConnectionInput": part("ConnectionInput", one)}),
            lambda one: ("GetConnection", {"Name": _name(one)}),
            "Connection",
        ),
        Portable(
            "classifiers",
            "Classifier",
            _classifier,
            lambda one: ("CreateClassifier", taken("CreateClassifier", one)),
            lambda one: ("UpdateClassifier", taken("UpdateClassifier", one)),
            lambda one: ("GetClassifier", {"Name": _classifier(one)}),
            "Classifier",
        ),
        Portable(
            "security configurations",
            "SecurityConfiguration",
            _name,
            lambda one: ("CreateSecurityConfiguration", taken("CreateSecurityConfiguration", one)),
            None,
            lambda one: ("GetSecurityConfiguration", {"Name": _name(one)}),
            "SecurityConfiguration",
        ),
        Portable(
            "databases",
            "Database",
            _name,
            lambda one: ("CreateDatabase", {"DatabaseInput": part("DatabaseInput", one)}),
            lambda one: ("UpdateDatabase", {"Name": _name(one), "DatabaseInput": part("DatabaseInput", one)}),
            lambda one: ("GetDatabase", {"Name": _name(one)}),
            "Database",
        ),
        Portable(
            "tables",
            "Table",
            lambda one: f"{one.get('DatabaseName', '')}.{_name(one)}",
            lambda one: (
                "CreateTable",
                {"DatabaseName": one.get("DatabaseName"), "TableInput": part("TableInput", one)},
            ),
            lambda one: (
                "UpdateTable",
                {"DatabaseName": one.get("DatabaseName"), "TableInput": part("TableInput", one)},
            ),
            lambda one: ("GetTable", {"DatabaseName": one.get("DatabaseName"), "Name": _name(one)}),
            "Table",
        ),
        Portable(
            "partitions",
            "Partition",
            lambda one: f"{'.'.join(_of_table(one).values())} {'/'.join(map(str, one.get('Values') or ()))}",
            lambda one: ("CreatePartition", {**_of_table(one), "PartitionInput": part("PartitionInput", one)}),
            lambda one: (
                "UpdatePartition",
                {
                    **_of_table(one),
                    "PartitionValueList": one.get("Values"),
                    "PartitionInput": part("PartitionInput", one),
                },
            ),
            lambda one: ("GetPartition", {**_of_table(one), "PartitionValues": one.get("Values")}),
            "Partition",
        ),
        Portable(
            "functions",
            "UserDefinedFunction",
            lambda one: ".".join(_function(one).values()),
            lambda one: (
                "CreateUserDefinedFunction",
                {
                    "DatabaseName": one.get("DatabaseName"),
                    "FunctionInput": part("UserDefinedFunctionInput", one),
                },
            ),
            lambda one: (
                "UpdateUserDefinedFunction",
                {**_function(one), "FunctionInput": part("UserDefinedFunctionInput", one)},
            ),
            lambda one: ("GetUserDefinedFunction", _function(one)),
            "UserDefinedFunction",
        ),
        Portable(
            "jobs",
            "Job",
            _name,
            lambda one: ("CreateJob", taken("CreateJob", _job(one))),
            lambda one: ("UpdateJob", {"JobName": _name(one), "JobUpdate": part("JobUpdate", _job(one))}),
            lambda one: ("GetJob", {"JobName": _name(one)}),
            "Job",
        ),
        Portable(
            "workflows",
            "Workflow",
            _name,
            lambda one: ("CreateWorkflow", taken("CreateWorkflow", one)),
            lambda one: ("UpdateWorkflow", taken("UpdateWorkflow", one)),
            lambda one: ("GetWorkflow", {"Name": _name(one)}),
            "Workflow",
        ),
        Portable(
            "triggers",
            "Trigger",
            _name,
            lambda one: ("CreateTrigger", {**taken("CreateTrigger", _trigger(one)), **_starts(one)}),
            lambda one: ("UpdateTrigger", {"Name": _name(one), "TriggerUpdate": part("TriggerUpdate", _trigger(one))}),
            lambda one: ("GetTrigger", {"Name": _name(one)}),
            "Trigger",
        ),
    )
}
"""In an order in which each thing comes after what it names."""

NOT_HERE: Mapping[str, str] = {"crawlers": "Crawlers are not imported yet; create them with `aws glue create-crawler`."}
"""Kinds that are recognised and refused, with the reason."""
