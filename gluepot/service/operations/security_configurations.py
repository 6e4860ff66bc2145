"""Security configurations and the encryption settings of the catalog: kept and returned, without an effect here."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from gluepot.service.context import Service, secs
from gluepot.service.errors import ServiceError, invalid, not_found, taken
from gluepot.service.paging import page_by_name
from gluepot.service.store.definitions import Definition, Kind

_PAGE = 100
_NO_ENCRYPTION = {
    "EncryptionAtRest": {"CatalogEncryptionMode": "DISABLED"},
    "ConnectionPasswordEncryption": {"ReturnConnectionPasswordEncrypted": False},
}


def create_security_configuration(service: Service, request: Mapping[str, Any]) -> dict[str, Any]:
    """Add a security configuration."""
    for part, mode in _modes(request["EncryptionConfiguration"]):
        if mode.endswith("-KMS") and not part.get("KmsKeyArn"):
            raise invalid(f"The mode {mode} needs KmsKeyArn; give the ARN of a key.")
    now_ms = service.now_ms()
    made = Definition(Kind.SECURITY, request["Name"], request["EncryptionConfiguration"], now_ms, now_ms)
    with service.store.changes() as changes:
        if not changes.definitions.add(made):
            raise taken(f"Security configuration {made.name} already exists.")
    return {"Name": made.name, "CreatedTimestamp": secs(now_ms)}


def get_security_configuration(service: Service, request: Mapping[str, Any]) -> dict[str, Any]:
    """Return one security configuration."""
    with service.store.changes() as changes:
        found = changes.definitions.get(Kind.SECURITY, request["Name"])
    if found is None:
        raise _missing(request["Name"])
    return {"SecurityConfiguration": _answer(found)}


def get_security_configurations(service: Service, request: Mapping[str, Any]) -> dict[str, Any]:
    """Return a page of the security configurations, by name."""
    with service.store.changes() as changes:
        found = changes.definitions.all(Kind.SECURITY)
    some, token = page_by_name(found, lambda one: one.name, request, _PAGE)
    return {"SecurityConfigurations": [_answer(one) for one in some], **token}


def delete_security_configuration(service: Service, request: Mapping[str, Any]) -> dict[str, Any]:
    """Remove a security configuration."""
    with service.store.changes() as changes:
        if not changes.definitions.delete(Kind.SECURITY, request["Name"]):
            raise _missing(request["Name"])
    return {}


def get_data_catalog_encryption_settings(service: Service, request: Mapping[str, Any]) -> dict[str, Any]:  # noqa: ARG001
    """Return the encryption settings of the catalog; there is one catalog."""
    with service.store.changes() as changes:
        found = changes.definitions.get(Kind.ENCRYPTION, "")
    return {"DataCatalogEncryptionSettings": {**_NO_ENCRYPTION, **(found.body if found else {})}}


def put_data_catalog_encryption_settings(service: Service, request: Mapping[str, Any]) -> dict[str, Any]:
    """Keep encryption settings of the catalog. They change nothing in how it is stored."""
    settings, now_ms = request["DataCatalogEncryptionSettings"], service.now_ms()
    passwords = settings.get("ConnectionPasswordEncryption", {})
    if passwords.get("ReturnConnectionPasswordEncrypted") and not passwords.get("AwsKmsKeyId"):
        raise invalid("ReturnConnectionPasswordEncrypted needs AwsKmsKeyId; give the id of a key.")
    with service.store.changes() as changes:
        changes.definitions.put(Definition(Kind.ENCRYPTION, "", settings, now_ms, now_ms))
    return {}


def _modes(encryption: Mapping[str, Any]) -> Iterator[tuple[Mapping[str, Any], str]]:
    parts = [(one, "S3EncryptionMode") for one in encryption.get("S3Encryption", ())]
    parts += [
        (encryption[name], f"{name}Mode")
        for name in ("CloudWatchEncryption", "JobBookmarksEncryption", "DataQualityEncryption")
        if name in encryption
    ]
    return ((part, part.get(name, "DISABLED")) for part, name in parts)


def _answer(found: Definition) -> dict[str, Any]:
    return {
        "Name": found.name,
        "CreatedTimeStamp": secs(found.created_ms),
        "EncryptionConfiguration": found.body,
    }


def _missing(name: str) -> ServiceError:
    return not_found(f"Security configuration {name} not found.")
