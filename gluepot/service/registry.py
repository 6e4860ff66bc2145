"""Registries and schemas as requests name them and answers show them (docs/glue 11.10)."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from gluepot.service.context import Service
from gluepot.service.errors import ServiceError, invalid, not_found
from gluepot.service.schemas.versions import SchemaVersion
from gluepot.service.store.database import Changes
from gluepot.service.store.definitions import Definition, Kind

DEFAULT_REGISTRY = "default-registry"


def registry_name(given: Mapping[str, Any] | None) -> str:
    """Return the name that a `RegistryId` stands for.

    Raises:
        ServiceError: `InvalidInputException`, because it has both name and ARN, neither, or an ARN of something else.
    """
    name, arn = (given or {}).get("RegistryName"), (given or {}).get("RegistryArn")
    if (name is None) == (arn is None):
        raise invalid("RegistryId has both RegistryName and RegistryArn, or neither; give one of them.")
    return str(name) if name is not None else _of_arn(str(arn), "registry", 1)


def schema_name(given: Mapping[str, Any] | None) -> str:
    """Return `REGISTRY/NAME` that a `SchemaId` stands for.

    Raises:
        ServiceError: `InvalidInputException`, because it has neither, or both, of an ARN and the names.
    """
    arn = (given or {}).get("SchemaArn")
    names = [(given or {}).get(name) for name in ("RegistryName", "SchemaName")]
    if arn is not None and names == [None, None]:
        return _of_arn(str(arn), "schema", 2)
    if arn is not None or None in names:
        raise invalid("SchemaId needs either SchemaArn, or both SchemaName and RegistryName.")
    return "/".join(map(str, names))


def found_registry(changes: Changes, name: str) -> Definition:
    """Return a registry.

    Raises:
        ServiceError: `EntityNotFoundException`.
    """
    if (found := changes.definitions.get(Kind.REGISTRY, name)) is None:
        raise not_found(f"Registry is not found. RegistryName: {name}.")
    return found


def found_schema(changes: Changes, name: str) -> Definition:
    """Return a schema by `REGISTRY/NAME`.

    Raises:
        ServiceError: `EntityNotFoundException`.
    """
    if (found := changes.definitions.get(Kind.SCHEMA, name)) is None:
        registry, _, schema = name.partition("/")
        raise not_found(f"Schema is not found. SchemaName: {schema}, RegistryName: {registry}.")
    return found


def found_version(changes: Changes, request: Mapping[str, Any]) -> SchemaVersion:
    """Return the version that a request names by its id, or by its schema and number.

    Raises:
        ServiceError: `InvalidInputException` and `EntityNotFoundException`.
    """
    version_id, schema, number = (request.get(f"Schema{one}") for one in ("VersionId", "Id", "VersionNumber"))
    if version_id is not None:
        if schema is not None or number is not None:
            raise invalid("SchemaVersionId names the version; leave out SchemaId and SchemaVersionNumber.")
        if (found := changes.schema_versions.get(version_id)) is None:
            raise missing_version(version_id)
        return found
    if schema is None or number is None:
        raise invalid("The version is not named; give SchemaVersionId, or SchemaId and SchemaVersionNumber.")
    return numbered(changes, found_schema(changes, schema_name(schema)).name, number)


def numbered(changes: Changes, schema: str, number: Mapping[str, Any]) -> SchemaVersion:
    """Return the version of a schema that a `SchemaVersionNumber` stands for.

    Raises:
        ServiceError: `InvalidInputException` and `EntityNotFoundException`.
    """
    latest, wanted = number.get("LatestVersion") or False, number.get("VersionNumber")
    if latest == (wanted is not None):
        raise invalid("SchemaVersionNumber needs either LatestVersion as true, or VersionNumber.")
    known = changes.schema_versions.of(schema)
    chosen = [one for one in known if (one.is_available if latest else one.number == wanted)]
    if not chosen:
        raise missing_version("the latest one" if latest else str(wanted))
    return chosen[-1]


def missing_version(which: str) -> ServiceError:
    """Return the error for a version that does not exist. AWS's serializers look for its first sentence.

    Args:
        which: the version, or why there is none.
    """
    return not_found(f"Schema version is not found. Version: {which}.")


def text_time(at_ms: int) -> str:
    """Return a time as the registry tells it: as a text."""
    return datetime.fromtimestamp(at_ms / 1000, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def registry_answer(service: Service, registry: Definition) -> dict[str, Any]:
    """Return a registry as GetRegistry answers."""
    return {
        "RegistryName": registry.name,
        "RegistryArn": service.arn("registry", registry.name),
        "Description": registry.body.get("Description", ""),
        "Status": "AVAILABLE",
        "CreatedTime": text_time(registry.created_ms),
        "UpdatedTime": text_time(registry.modified_ms),
    }


def schema_names(service: Service, schema: str) -> dict[str, Any]:
    """Return the members of an answer that name a schema."""
    registry, _, name = schema.partition("/")
    return {"SchemaName": name, "RegistryName": registry, "SchemaArn": service.arn("schema", schema)}


def schema_answer(service: Service, changes: Changes, schema: Definition) -> dict[str, Any]:
    """Return a schema as GetSchema answers."""
    known = changes.schema_versions.of(schema.name)
    latest = [one.number for one in known if one.is_available]
    return {
        **schema_names(service, schema.name),
        "RegistryArn": service.arn("registry", schema.name.partition("/")[0]),
        **{name: schema.body[name] for name in ("Description", "DataFormat", "Compatibility")},
        **({"SchemaCheckpoint": schema.body["SchemaCheckpoint"], "LatestSchemaVersion": latest[-1]} if latest else {}),
        "NextSchemaVersion": known[-1].number + 1 if known else 1,
        "SchemaStatus": "AVAILABLE",
        "CreatedTime": text_time(schema.created_ms),
        "UpdatedTime": text_time(schema.modified_ms),
    }


def _of_arn(arn: str, kind: str, words: int) -> str:
    of, *names = arn.split(":", 5)[-1].split("/")
    if of != kind or len(names) != words or not all(names):
        raise invalid(f"{arn} is not the ARN of a {kind}.")
    return "/".join(names)
