"""AWS Glue's schema registry, or one that answers its API, such as that of `gluepot serve`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from gluepot.connectors.streams.registries.lookup import Lookup
from gluepot.core.clock import SystemClock
from gluepot.core.errors import ConfigError, EtlError, TransientError
from gluepot.frames.registered import GlueHeader, WrittenSchema

_TRY_AGAIN = ("ThrottlingException", "InternalServiceException", "InternalFailure", "ServiceUnavailable")


@dataclass(frozen=True, slots=True)
class GlueRegistry:
    """A `SchemaRegistry`. Keys come from the environment, as AWS's own tools take them.

    Args:
        endpoint: address of the API; empty for AWS's own.
        region: empty for the one of AWS's own configuration.
    """

    endpoint: str = ""
    region: str = ""

    @property
    def header(self) -> GlueHeader:
        """See `SchemaRegistry`."""
        return GlueHeader()

    def schema(self, schema_id: str) -> WrittenSchema | None:
        """See `SchemaRegistry`."""
        return _lookup(self).schema(schema_id)

    def referenced(self, reference: Mapping[str, Any]) -> WrittenSchema:
        """Return the schema that a table's `SchemaReference` names.

        Raises:
            ConfigError: there is no such schema.
            TransientError: the registry does not answer.
        """
        asked: dict[str, Any] = {}
        if version_id := reference.get("SchemaVersionId"):
            asked["SchemaVersionId"] = version_id
        else:
            number = reference.get("SchemaVersionNumber")
            asked["SchemaId"] = reference.get("SchemaId") or {}
            asked["SchemaVersionNumber"] = {"VersionNumber": int(number)} if number else {"LatestVersion": True}
        found = _version(self, asked)
        if found is None:
            raise ConfigError(f"The table's SchemaReference is {dict(reference)}; {self.title} has no such schema.")
        return found

    @property
    def title(self) -> str:
        """The registry, for messages."""
        return f"Glue's schema registry at {self.endpoint}" if self.endpoint else "AWS Glue's schema registry"


@cache
def _lookup(registry: GlueRegistry) -> Lookup:
    return Lookup(lambda schema_id: _version(registry, {"SchemaVersionId": schema_id}), SystemClock())


@cache
def _client(registry: GlueRegistry) -> Any:
    import boto3  # noqa: PLC0415  few streams have such records
    from botocore.config import Config  # noqa: PLC0415
    from botocore.exceptions import BotoCoreError  # noqa: PLC0415

    once = Config(retries={"total_max_attempts": 1}, connect_timeout=5, read_timeout=30)
    region, endpoint = registry.region or None, registry.endpoint or None
    try:
        return boto3.client("glue", region_name=region, endpoint_url=endpoint, config=once)
    except (BotoCoreError, ValueError) as wrong:
        raise ConfigError(f"{registry.title} cannot be asked: {wrong}; set AWS_DEFAULT_REGION.") from wrong


def _version(registry: GlueRegistry, asked: Mapping[str, Any]) -> WrittenSchema | None:
    from botocore.exceptions import BotoCoreError, ClientError, NoCredentialsError, ParamValidationError  # noqa: PLC0415

    try:
        answer = _client(registry).get_schema_version(**asked)
    except ClientError as refused:
        if refused.response["Error"]["Code"] == "EntityNotFoundException":
            return None
        raise _refused(registry, refused) from refused
    except (NoCredentialsError, ParamValidationError) as wrong:
        raise ConfigError(f"{registry.title} cannot be asked for a schema: {wrong}") from wrong
    except BotoCoreError as away:
        raise TransientError(f"{registry.title} does not answer: {away}", 5.0) from away
    if answer.get("Status") not in {None, "AVAILABLE"}:
        return None
    return WrittenSchema(answer["DataFormat"], answer["SchemaDefinition"])


def _refused(registry: GlueRegistry, refused: Any) -> EtlError:
    error = refused.response["Error"]
    said = f"{error['Code']}: {error.get('Message', '')}"
    if error["Code"] in _TRY_AGAIN or refused.response["ResponseMetadata"]["HTTPStatusCode"] >= 500:
        return TransientError(f"{registry.title} could not give out a schema for now ({said}).", 5.0)
    return ConfigError(f"{registry.title} refuses to give out a schema ({said}); check keys and region.")
