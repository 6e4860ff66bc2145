"""Streams whose records name their schemas, which a registry has."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from awsglue.declared import arrow_schema, check_names
from gluepot.catalog.streams import REFERENCE
from gluepot.connectors.options import PayloadSettings, ScriptOptions
from gluepot.connectors.streams.registries.glue import GlueRegistry
from gluepot.frames.declared import DeclaredJson, DeclaredPayload, GrowingPayload
from gluepot.frames.declared.avro_types import columns, parsed
from gluepot.frames.registered import DeclaredRegistered, RegisteredPayload, SchemaRegistry, Wanted
from gluepot.frames.registered.written import AVRO


def registered_payload(
    settings: PayloadSettings, beside: Sequence[str], *, registry: SchemaRegistry
) -> DeclaredPayload | GrowingPayload:
    """Return how payloads are decoded. Needs a running session.

    Args:
        settings: settings of the stream, from `registered_options`.
        beside: names of the columns that options add.
        registry: has the schemas that records name.

    Raises:
        ConfigError: the schema cannot be read, or has a field that an option of the stream adds, too.
    """
    if not settings.schema:
        return RegisteredPayload(registry)
    declared = _declared(registry, settings.schema)
    check_names(declared, beside)
    return declared


def registered_options(options: Mapping[str, Any], registry: SchemaRegistry) -> Mapping[str, Any]:
    """Return the options of a stream whose records name their schemas.

    The schema that a table refers to becomes the one that its reader wants. Where no schema is given, columns are
    inferred, and rows of a DataFrame are JSON.

    Raises:
        ConfigError: the registry lacks the schema that the table refers to.
    """
    given = ScriptOptions(options)
    infers = given.flag("inferSchema", default=False)
    rest = {name: value for name, value in options.items() if name != REFERENCE}
    if not infers and (given.text("schema") or given.text("avroSchema")):
        return rest
    reference = options.get(REFERENCE)
    if not infers and reference and isinstance(registry, GlueRegistry):
        written = registry.referenced(json.loads(reference))
        if written.format == AVRO:
            return {**rest, "schema": written.text}
    told = {name: value for name, value in rest.items() if name.lower() not in {"inferschema", "classification"}}
    return {**told, "inferSchema": "true", "classification": "json"}


def _declared(registry: SchemaRegistry, schema: str) -> DeclaredPayload:
    """Read the schema that a script gives: one of Avro, or columns."""
    if schema.lstrip().startswith("{") and _is_avro(schema):
        return DeclaredRegistered(registry, Wanted(columns(*parsed(schema)), schema))
    return DeclaredRegistered(registry, Wanted(DeclaredJson.of(arrow_schema(schema)).schema))


def _is_avro(schema: str) -> bool:
    """Tell a record of Avro from Spark's JSON form of a struct."""
    try:
        return bool(json.loads(schema).get("type") == "record")
    except ValueError:
        return False
