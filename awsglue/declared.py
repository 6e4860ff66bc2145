"""The `schema` option of a stream, by its classification (docs/glue 3.1, 3.4)."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pyarrow as pa
from pyspark.errors import PySparkException
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import StructType

from awsglue.unsupported import NotSupportedHere
from gluepot.connectors.options import PayloadSettings
from gluepot.core.errors import ConfigError
from gluepot.frames.declared import DeclaredAvro, DeclaredCsv, DeclaredJson, DeclaredPayload
from gluepot.frames.time_zone import UTC, TimeZone

JSON = frozenset({"", "json"})


def declared_payload(settings: PayloadSettings, beside: Sequence[str], zone: TimeZone = UTC) -> DeclaredPayload | None:
    """Return the declared columns of the payload; None if it stays in one column. Needs a running session.

    Args:
        settings: settings of the stream.
        beside: names of the columns that options add.
        zone: the zone of times without one.

    Raises:
        ConfigError: the schema cannot be read, or contains a type that the format cannot represent.
        NotSupportedHere: a schema, declared or inferred, of a format that is not decoded yet.
    """
    kind = settings.classification
    if settings.infer_schema and kind not in JSON:
        raise NotSupportedHere(f"inferSchema with classification {kind!r}", "Give the stream a schema, or use json.")
    if not settings.schema:
        return None
    declared = _of_kind(kind, settings, zone)
    check_names(declared, beside)
    return declared


def check_names(declared: DeclaredPayload, beside: Sequence[str]) -> None:
    """Refuse a schema with a field that options add, too.

    Raises:
        ConfigError: there is one.
    """
    added = {name.casefold() for name in beside}
    if both := [name for name in declared.schema.names if name.casefold() in added]:
        raise ConfigError(
            f"The schema has field {min(both)!r}, which an option of the stream adds, too; rename it in the schema, or,"
            f" if addRecordColumns adds it, there: {min(both)} AS source_{min(both)}."
        )


def _of_kind(kind: str, settings: PayloadSettings, zone: TimeZone) -> DeclaredPayload:
    match kind:
        case "" | "json":
            return DeclaredJson.of(arrow_schema(settings.schema), zone)
        case "csv":
            return DeclaredCsv.of(arrow_schema(settings.schema), settings.delimiter, zone)
        case "avro":
            return DeclaredAvro.of(settings.schema)
    raise NotSupportedHere(
        f"a schema with classification {kind!r}",
        "Use json, csv or avro, or leave the schema out and parse the column yourself.",
    )


def arrow_schema(text: str) -> pa.Schema:
    """Return the columns of a schema in DDL or in Spark's JSON form.

    Raises:
        ConfigError: Spark cannot read it.
    """
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
