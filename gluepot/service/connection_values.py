"""Connections as the API takes them and returns them (docs/glue 11.5). Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gluepot.catalog.values import Entry
from gluepot.core.masking import is_secret
from gluepot.service.context import secs
from gluepot.service.errors import invalid

# Members of ConnectionInput that say how to create a connection. GetConnection does not return them.
_OF_CREATION = ("ValidateCredentials", "ValidateForComputeEnvironments")
# AWS puts these into a secret of its own and never returns them.
_CREDENTIALS = ("BasicAuthenticationCredentials", "CustomAuthenticationCredentials")
_OAUTH2_CREDENTIALS = ("AuthorizationCodeProperties", "OAuth2Credentials")
# These properties name secrets; they hold none.
_REFERENCES = frozenset({"SECRET_ID", "KAFKA_SASL_SCRAM_SECRETS_ARN"})
# Only connections of the second schema have these members.
_SECOND_SCHEMA = ("AuthenticationConfiguration", "SparkProperties", "AthenaProperties", "PythonProperties")


def connection_entry(given: Mapping[str, Any]) -> Entry:
    """Return a `ConnectionInput` as an entry of the catalog.

    Raises:
        ServiceError: `InvalidInputException` for credentials outside of `ConnectionProperties`.
    """
    authentication = given.get("AuthenticationConfiguration") or {}
    oauth2 = authentication.get("OAuth2Properties") or {}
    found = [name for name in _CREDENTIALS if name in authentication]
    found += [name for name in _OAUTH2_CREDENTIALS if name in oauth2]
    if found:
        raise invalid(
            f"AuthenticationConfiguration has {', '.join(found)}, which cannot be kept here; put the credentials into a"
            " secret and name it in SecretArn."
        )
    return Entry("connection", given["Name"], {name: one for name, one in given.items() if name not in _OF_CREATION})


def connection_answer(connection: Entry, *, hide_passwords: bool) -> dict[str, Any]:
    """Return a connection as GetConnection answers.

    Args:
        connection: the connection.
        hide_passwords: leave out the properties whose names say that they are secret.
    """
    answer = {
        **connection.body,
        "CreationTime": secs(connection.created_ms),
        "LastUpdatedTime": secs(connection.updated_ms),
        "Status": "READY",
        "ConnectionSchemaVersion": _schema_version(connection),
    }
    if hide_passwords:
        for name in ("ConnectionProperties", "SparkProperties", "AthenaProperties", "PythonProperties"):
            if name in answer:
                answer[name] = {key: value for key, value in answer[name].items() if not _hidden(key)}
    return answer


def fits(connection: Entry, wanted: Mapping[str, Any]) -> bool:
    """Return whether a connection fulfils the `Filter` of GetConnections."""
    body = connection.body
    kind = wanted.get("ConnectionType", body["ConnectionType"])
    version = wanted.get("ConnectionSchemaVersion", _schema_version(connection))
    criteria = set(wanted.get("MatchCriteria") or ())
    return (
        kind == body["ConnectionType"]
        and version == _schema_version(connection)
        and criteria <= set(body.get("MatchCriteria") or ())
    )


def _schema_version(connection: Entry) -> int:
    return 2 if any(name in connection.body for name in _SECOND_SCHEMA) else 1


def _hidden(name: str) -> bool:
    return name not in _REFERENCES and is_secret(name)
