"""The `schema` option of a stream, by its classification (docs/glue 3.1, 3.4)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa
from pyspark.errors import PySparkException
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import StructType

from awsglue.unsupported import NotSupportedHere
from gluepot.catalog.streams import REFERENCE
from gluepot.connectors.options import PayloadSettings, ScriptOptions
from gluepot.connectors.streams.registries.glue import GlueRegistry
from gluepot.core.errors import ConfigError
from gluepot.frames.declared import DeclaredAvro, DeclaredCsv, DeclaredJson, DeclaredPayload, GrowingPayload
from gluepot.frames.declared.avro_types import columns, parsed
from gluepot.frames.registered import DeclaredRegistered, RegisteredPayload, SchemaRegistry, Wanted
from gluepot.frames.registered.written import AVRO

JSON = frozenset({"", "json"})


def declared_payload(
    settings: PayloadSettings, beside: Sequence[str], registry: SchemaRegistry | None = None
) -> DeclaredPayload | GrowingPayload | None:
    """Return how payloads are decoded; None if they stay in one column. Needs a running session.

    Args:
        settings: settings of the stream.
        beside: names of the columns that options add.
        registry: has the schemas that records name; None if they name none.

    Raises:
        ConfigError: the schema cannot be read, or contains a type that the format cannot represent.
        NotSupportedHere: a schema, declared or inferred, of a format that is not decoded yet.
    """
    kind = settings.classification
    if settings.infer_schema and kind not in JSON:
        raise NotSupportedHere(f"inferSchema with classification {kind!r}", "Give the stream a schema, or use json.")
    if not settings.schema:
        return None if registry is None else RegisteredPayload(registry)
    declared = _of_kind(kind, settings) if registry is None else _of_registry(registry, settings.schema)
    if both := set(declared.schema.names) & set(beside):
        raise ConfigError(f"The schema has field {min(both)!r}, which an option of the stream adds, too; rename it.")
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


def _of_registry(registry: SchemaRegistry, schema: str) -> DeclaredPayload:
    """Read the schema that a script gives: one of Avro, or columns."""
    if schema.lstrip().startswith("{") and _is_avro(schema):
        return DeclaredRegistered(registry, Wanted(columns(*parsed(schema)), schema))
    return DeclaredRegistered(registry, Wanted(DeclaredJson.of(_arrow_schema(schema)).schema))


def _is_avro(schema: str) -> bool:
    """Tell a record of Avro from Spark's JSON form of a struct."""
    try:
        return bool(json.loads(schema).get("type") == "record")
    except ValueError:
        return False


def _of_kind(kind: str, settings: PayloadSettings) -> DeclaredPayload:
    match kind:
        case "" | "json":
            return DeclaredJson.of(_arrow_schema(settings.schema))
        case "csv":
            return DeclaredCsv.of(_arrow_schema(settings.schema), settings.delimiter)
        case "avro":
            return DeclaredAvro.of(settings.schema)
    raise NotSupportedHere(
        f"a schema with classification {kind!r}",
        "Use json, csv or avro, or leave the schema out and parse the column yourself.",
    )


def _arrow_schema(text: str) -> pa.Schema:
    """Read a schema from DDL or from Spark's JSON form."""
    try:
        fields = StructType.fromJson(json.loads(text)) if text.startswith("{") else StructType.fromDDL(text)
        if isinstance(fields, StructType):
            return to_arrow_schema(fields)
    except (PySparkException, ValueError, KeyError) as wrong:
        raise _unreadable(text) from wrong
    raise _unreadable(text)


def _unreadable(text: str) -> ConfigError:
    return ConfigError(
        f"schema is {text!r}, which Spark cannot read; write it as DDL such as 'id BIGINT, name STRING'."
    )
