"""Recognises what a document of AWS's command line holds, by its members. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from gluepot.core.errors import ConfigError

PLURALS: Mapping[str, str] = {
    "Registries": "registries",
    "SchemaVersions": "schema versions",
    "ConnectionList": "connections",
    "Classifiers": "classifiers",
    "SecurityConfigurations": "security configurations",
    "DatabaseList": "databases",
    "TableList": "tables",
    "Partitions": "partitions",
    "UserDefinedFunctions": "functions",
    "Jobs": "jobs",
    "Workflows": "workflows",
    "Triggers": "triggers",
    "Crawlers": "crawlers",
}
"""Members that hold lists of things, by the kind of the things."""
_SINGULARS: Mapping[str, str] = {
    "Connection": "connections",
    "Classifier": "classifiers",
    "SecurityConfiguration": "security configurations",
    "Database": "databases",
    "Table": "tables",
    "Partition": "partitions",
    "UserDefinedFunction": "functions",
    "Job": "jobs",
    "Workflow": "workflows",
    "Trigger": "triggers",
    "Crawler": "crawlers",
}
_SCHEMAS = "Schemas"
_ONLY_NAMES: Mapping[str, str] = {
    "JobNames": "list-jobs prints names only; use get-jobs.",
    "TriggerNames": "list-triggers prints names only; use get-triggers.",
    "CrawlerNames": "list-crawlers prints names only; use get-crawlers.",
}
# Members beside the things, which say nothing about them.
_BESIDE = frozenset({"NextToken", "MissingWorkflows", "JobsNotFound", "TriggersNotFound", "ResponseMetadata"})


@dataclass(slots=True)
class Dump:
    """What some documents hold.

    Args:
        things: by their kind.
        notes: a sentence for each document that does not hold enough.
    """

    things: dict[str, list[Mapping[str, Any]]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


def read(documents: Iterable[tuple[str, object]]) -> Dump:
    """Read documents.

    Args:
        documents: with the names of their files.

    Raises:
        ConfigError: a document is none of AWS Glue's.
    """
    dump = Dump()
    for name, document in documents:
        if not isinstance(document, Mapping):
            raise _unknown(name, type(document).__name__)
        known = False
        for kind, thing in _things(name, document, dump.notes):
            known = True
            if kind:
                dump.things.setdefault(kind, []).append(thing)
        if not known:
            raise _unknown(name, ", ".join(map(str, document)) or "nothing")
        if document.get("NextToken"):
            dump.notes.append(f"{name} has a NextToken, so it is not the whole answer.")
    return dump


def _things(name: str, document: Mapping[str, Any], notes: list[str]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the things of a document with their kinds; an empty kind for a member that is known and holds nothing."""
    if (kind := _flat_kind(document)) is not None:
        yield kind, document
        return
    for member, value in document.items():
        if member in _SINGULARS and isinstance(value, Mapping):
            yield _SINGULARS[member], value
        elif member in PLURALS and isinstance(value, list):
            yield "", {}
            if member == "Workflows" and any(isinstance(one, str) for one in value):
                notes.append(f"{name}: list-workflows prints names only; use batch-get-workflows.")
                continue
            yield from ((PLURALS[member], one) for one in value if isinstance(one, Mapping))
        elif member == _SCHEMAS and isinstance(value, list):
            yield "", {}
            yield from _schemas(name, value, notes)
        elif member in _ONLY_NAMES:
            yield "", {}
            notes.append(f"{name}: {_ONLY_NAMES[member]}")
        elif member not in _BESIDE:
            notes.append(f"{name} has {member}, which import does not know.")


def _schemas(name: str, found: list[Any], notes: list[str]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield schemas. Two commands print members of this name, and neither prints all that makes a schema."""
    whole = [one for one in found if isinstance(one, Mapping) and "DataFormat" in one]
    yield from (("schemas", one) for one in whole)
    if len(whole) < len(found):
        notes.append(
            f"{name}: list-schemas and list-schema-versions do not print definitions; use get-schema for each schema"
            " and get-schema-version for each version."
        )


def _flat_kind(document: Mapping[str, Any]) -> str | None:
    if "SchemaDefinition" in document and "SchemaVersionId" in document:
        return "schema versions"
    if "SchemaName" in document and "DataFormat" in document:
        return "schemas"
    if "RegistryArn" in document and "SchemaName" not in document:
        return "registries"
    return None


def _unknown(name: str, members: str) -> ConfigError:
    return ConfigError(
        f"{name} has {members}, and none of {', '.join([*PLURALS, _SCHEMAS])}; make it with a command such as"
        " `aws glue get-jobs` or `gluepot export`."
    )
