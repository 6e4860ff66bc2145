"""Versions of schemas, and the metadata of versions. Serializers of streams register and look versions up."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import uuid4

from gluepot.service.context import Service
from gluepot.service.errors import ServiceError, invalid, not_found, taken
from gluepot.service.paging import page
from gluepot.service.registry import (
    found_schema,
    found_version,
    missing_version,
    numbered,
    schema_name,
    schema_names,
    text_time,
)
from gluepot.service.schemas.formats import digest_of, patch, problem_of
from gluepot.service.schemas.modes import DISABLED, why_incompatible
from gluepot.service.schemas.versions import AVAILABLE, FAILURE, SchemaVersion
from gluepot.service.store.database import Changes
from gluepot.service.store.definitions import Definition

_PAGE, _METADATA_PAGE = 100, 50
_MOST_ERROR_CHARS = 5000
_MOST_KEYS = 10
_MOST_VERSIONS_DELETED = 25


def register_schema_version(service: Service, request: Mapping[str, Any]) -> dict[str, Any]:
    """Add a version to a schema; one with the same definition is returned instead.

    A version that is not compatible is kept with the status `FAILURE`, which is how AWS tells it.
    """
    name, text = schema_name(request["SchemaId"]), request["SchemaDefinition"]
    with service.store.changes() as changes:
        schema = found_schema(changes, name)
        check_definition(schema.body["DataFormat"], text)
        version = add_version(changes, schema, text, service.now_ms())
    return {"SchemaVersionId": version.id, "VersionNumber": version.number, "Status": version.status}


def get_schema_version(service: Service, request: Mapping[str, Any]) -> dict[str, Any]:
    """Return one version with its definition."""
    with service.store.changes() as changes:
        version = found_version(changes, request)
        data_format = found_schema(changes, version.schema).body["DataFormat"]
    return {
        **_listed(service, version),
        "SchemaDefinition": version.definition,
        "DataFormat": data_format,
    }


def get_schema_by_definition(service: Service, request: Mapping[str, Any]) -> dict[str, Any]:
    """Return the version of a schema that has a definition."""
    name, text = schema_name(request["SchemaId"]), request["SchemaDefinition"]
    with service.store.changes() as changes:
        data_format = found_schema(changes, name).body["DataFormat"]
        check_definition(data_format, text)
        version = changes.schema_versions.of_digest(name, digest_of(data_format, text))
    if version is None:
        raise missing_version("no version of the schema has this definition")
    answer = {one: value for one, value in _listed(service, version).items() if one != "VersionNumber"}
    return {**answer, "DataFormat": data_format}


def get_schema_versions_diff(service: Service, request: Mapping[str, Any]) -> dict[str, Any]:
    """Return what leads from one version of a schema to another, as a JSON patch."""
    name = schema_name(request["SchemaId"])
    with service.store.changes() as changes:
        data_format = found_schema(changes, name).body["DataFormat"]
        first = numbered(changes, name, request["FirstSchemaVersionNumber"])
        second = numbered(changes, name, request["SecondSchemaVersionNumber"])
    return {"Diff": patch(data_format, first.definition, second.definition)}


def check_schema_version_validity(service: Service, request: Mapping[str, Any]) -> dict[str, Any]:  # noqa: ARG001
    """Return whether a definition is valid in its format, and if not, why."""
    problem = problem_of(request["DataFormat"], request["SchemaDefinition"])
    return {"Valid": True} if problem is None else {"Valid": False, "Error": problem[:_MOST_ERROR_CHARS]}


def list_schema_versions(service: Service, request: Mapping[str, Any]) -> dict[str, Any]:
    """Return a page of the versions of a schema, the oldest first."""
    name = schema_name(request["SchemaId"])
    with service.store.changes() as changes:
        found_schema(changes, name)
        known = changes.schema_versions.of(name)
    return page(known, request, "Schemas", _PAGE, lambda one: _listed(service, one))


def delete_schema_versions(service: Service, request: Mapping[str, Any]) -> dict[str, Any]:
    """Delete one version or a range of them, such as `2-4`. Those that cannot be deleted are told with the reason."""
    name = schema_name(request["SchemaId"])
    first, _, last = request["Versions"].partition("-")
    if len(first) > len(str(10**9)) or len(last) > len(str(10**9)) or int(last or first) < int(first):
        raise invalid(f"Versions is {request['Versions']!r}; give a number, or two in their order, such as 2-4.")
    wanted = range(int(first), int(last or first) + 1)
    if len(wanted) > _MOST_VERSIONS_DELETED:
        raise invalid(f"Versions has {len(wanted)} numbers; {_MOST_VERSIONS_DELETED} can be deleted at a time.")
    errors = []
    with service.store.changes() as changes:
        schema = found_schema(changes, name)
        known = {one.number: one for one in changes.schema_versions.of(name)}
        if schema.body["SchemaCheckpoint"] in wanted and schema.body["SchemaCheckpoint"] in known:
            raise invalid(
                f"Version {schema.body['SchemaCheckpoint']} is the checkpoint, which cannot be deleted; choose another"
                " checkpoint by UpdateSchema, or delete the schema."
            )
        for number in wanted:
            if number == 1 and number in known:
                errors.append(_error(number, invalid("The first version can only be deleted with its schema.")))
            elif number in known:
                changes.schema_versions.delete(known[number].id)
            else:
                errors.append(_error(number, not_found(f"There is no version {number}.")))
    return {"SchemaVersionErrors": errors}


def put_schema_version_metadata(service: Service, request: Mapping[str, Any]) -> dict[str, Any]:
    """Add a pair of key and value to a version. A key may have several values; the newest is its value."""
    key, value = (request["MetadataKeyValue"].get(f"Metadata{one}") for one in ("Key", "Value"))
    if key is None or value is None:
        raise invalid("MetadataKeyValue needs MetadataKey and MetadataValue.")
    with service.store.changes() as changes:
        version = found_version(changes, request)
        known = version.metadata
        if any(one["key"] == key and one["value"] == value for one in known):
            raise taken(f"The version has the value {value} for {key} already.")
        if len({key, *(one["key"] for one in known)}) > _MOST_KEYS:
            message = f"A version can have {_MOST_KEYS} keys of metadata."
            raise ServiceError("ResourceNumberLimitExceededException", message)
        added = {"key": key, "value": value, "at_ms": service.now_ms()}
        changes.schema_versions.save_metadata(version.id, [*known, added])
        return _metadata_answer(service, changes, version, key, value)


def query_schema_version_metadata(service: Service, request: Mapping[str, Any]) -> dict[str, Any]:
    """Return the metadata of a version, or the pairs of them that a list names."""
    with service.store.changes() as changes:
        version = found_version(changes, request)
    wanted = request.get("MetadataList") or []
    chosen = [one for one in version.metadata if not wanted or any(_fits(one, other) for other in wanted)]
    keys = list(dict.fromkeys(one["key"] for one in chosen))
    answer = page(keys, request, "Keys", _METADATA_PAGE, str)
    infos = {key: _info([one for one in chosen if one["key"] == key]) for key in answer.pop("Keys")}
    return {"MetadataInfoMap": infos, "SchemaVersionId": version.id, **answer}


def remove_schema_version_metadata(service: Service, request: Mapping[str, Any]) -> dict[str, Any]:
    """Remove a pair of key and value from a version."""
    key, value = (request["MetadataKeyValue"].get(f"Metadata{one}") for one in ("Key", "Value"))
    with service.store.changes() as changes:
        version = found_version(changes, request)
        left = [one for one in version.metadata if (one["key"], one["value"]) != (key, value)]
        if len(left) == len(version.metadata):
            raise not_found(f"The version has no value {value} for {key}.")
        changes.schema_versions.save_metadata(version.id, left)
        return _metadata_answer(service, changes, version, key, value)


def check_definition(data_format: str, text: str) -> None:
    """Refuse a definition that is not valid in its format.

    Raises:
        ServiceError: `InvalidInputException`.
    """
    if (problem := problem_of(data_format, text)) is not None:
        raise invalid(f"Schema definition of {data_format} data format is invalid: {problem[:_MOST_ERROR_CHARS]}")


def keep_version(service: Service, told: Mapping[str, Any]) -> bool:
    """Add a version as another registry has it, with its id and number; return False if the number is taken.

    Records of streams name the id of their version. Nobody asks whether the version is compatible.

    Args:
        service: the service.
        told: what GetSchemaVersion of the other registry answered.

    Raises:
        ServiceError: there is no such schema, or the definition or another member is not valid.
    """
    words = str(told.get("SchemaArn", "")).split(":", 5)[-1].split("/")
    name = schema_name({"SchemaArn": service.arn("schema", "/".join(words[1:]))})
    version_id, number, text = told.get("SchemaVersionId"), told.get("VersionNumber"), told.get("SchemaDefinition")
    if not (isinstance(version_id, str) and isinstance(number, int) and isinstance(text, str)):
        raise invalid("The version has no SchemaVersionId, VersionNumber or SchemaDefinition.")
    with service.store.changes() as changes:
        schema = found_schema(changes, name)
        data_format = schema.body["DataFormat"]
        check_definition(data_format, text)
        if any(number == one.number for one in changes.schema_versions.of(name)):
            return False
        if changes.schema_versions.get(version_id) is not None:
            raise taken(f"Another schema has the version {version_id}.")
        status = FAILURE if told.get("Status") == FAILURE else AVAILABLE
        digest, now_ms = digest_of(data_format, text), service.now_ms()
        changes.schema_versions.add(SchemaVersion(version_id, name, number, status, text, digest, [], now_ms))
    return True


def add_version(changes: Changes, schema: Definition, text: str, now_ms: int) -> SchemaVersion:
    """Add a version to a schema, or return the one that has the same definition.

    Args:
        changes: the transaction; nobody else changes the schema in it.
        schema: the schema.
        text: the definition, which is valid.
        now_ms: milliseconds since 1970.

    Raises:
        ServiceError: `InvalidInputException`, because the schema may have one version only.
    """
    data_format, mode = schema.body["DataFormat"], schema.body["Compatibility"]
    known = changes.schema_versions.of(schema.name)
    digest = digest_of(data_format, text)
    same = changes.schema_versions.of_digest(schema.name, digest)
    if same is not None and same.is_available:
        return same
    if mode == DISABLED and known:
        raise invalid(f"Compatibility DISABLED does not allow versioning. SchemaName: {schema.name.partition('/')[2]}.")
    why = why_incompatible(mode, data_format, text, known, schema.body["SchemaCheckpoint"])
    if same is not None and why is not None:
        return same
    version = SchemaVersion(
        str(uuid4()),
        schema.name,
        known[-1].number + 1 if known else 1,
        AVAILABLE if why is None else FAILURE,
        text,
        digest,
        [],
        now_ms,
    )
    changes.schema_versions.add(version)
    return version


def _listed(service: Service, version: SchemaVersion) -> dict[str, Any]:
    return {
        "SchemaArn": service.arn("schema", version.schema),
        "SchemaVersionId": version.id,
        "VersionNumber": version.number,
        "Status": version.status,
        "CreatedTime": text_time(version.created_ms),
    }


def _error(number: int, refused: ServiceError) -> dict[str, Any]:
    return {"VersionNumber": number, "ErrorDetails": {"ErrorCode": refused.code, "ErrorMessage": refused.message}}


def _fits(pair: Mapping[str, Any], wanted: Mapping[str, Any]) -> bool:
    key, value = wanted.get("MetadataKey", pair["key"]), wanted.get("MetadataValue", pair["value"])
    return (key, value) == (pair["key"], pair["value"])


def _info(values: list[Mapping[str, Any]]) -> dict[str, Any]:
    told = [{"MetadataValue": one["value"], "CreatedTime": text_time(one["at_ms"])} for one in reversed(values)]
    return {**told[0], **({"OtherMetadataValueList": told[1:]} if told[1:] else {})}


def _metadata_answer(
    service: Service, changes: Changes, version: SchemaVersion, key: str, value: str
) -> dict[str, Any]:
    latest = [one.number for one in changes.schema_versions.of(version.schema) if one.is_available]
    return {
        **schema_names(service, version.schema),
        "LatestVersion": bool(latest) and latest[-1] == version.number,
        "VersionNumber": version.number,
        "SchemaVersionId": version.id,
        "MetadataKey": key,
        "MetadataValue": value,
    }
