"""Turns a catalog table that stands for a stream into the options of a read (docs/glue 3.6)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from gluepot.catalog.values import Column, Table
from gluepot.core.option_values import is_true

KINDS = ("kafka", "kinesis")
# Beside the options of a stream, the `SchemaReference` of its table as JSON: the schema that its records have in AWS
# Glue's schema registry.
REFERENCE = "schemaReference"
# Options that name another registry begin so.
_REGISTRIES = ("schemaregistry", "schema.registry.")


@dataclass(frozen=True, slots=True)
class StreamRead:
    """A read of a stream.

    Args:
        kind: the `connection_type` that reads it.
        options: its `connection_options`.
    """

    kind: str
    options: Mapping[str, Any]


def is_stream(table: Table) -> bool:
    """Return whether a table stands for a stream."""
    return _kind(table) in KINDS


def stream_read(table: Table, options: Mapping[str, Any]) -> StreamRead:
    """Return how a table's stream is read.

    Args:
        table: one that `is_stream`.
        options: `additional_options`; they override the table's own.
    """
    told = {name: value for name, value in table.storage.parameters.items() if name != "typeOfData"}
    if classification := table.parameters.get("classification"):
        told["classification"] = classification
    reference = table.storage.body.get("SchemaReference")
    if reference and not any(name.lower().startswith(_REGISTRIES) for name in {**told, **options}):
        told |= {"schemaRegistry": "glue", REFERENCE: json.dumps(reference)}
    infers = is_true({**told, **options}.get("inferSchema"))
    if not infers and (schema := _schema(table, told)):
        told["schema"] = schema
    return StreamRead(_kind(table), {**told, **options})


def _kind(table: Table) -> str:
    return str(table.storage.parameters.get("typeOfData") or table.parameters.get("typeOfData") or "").lower()


def _schema(table: Table, told: Mapping[str, Any]) -> str:
    """Return Avro's schema, or the columns as Spark writes them down."""
    if str(told.get("classification", "")).lower() == "avro":
        return str(table.parameters.get("avroSchema") or "")
    return ddl(table.storage.columns)


def ddl(columns: Iterable[Column]) -> str:
    """Return columns as Spark's DDL; it knows Hive's types by their names."""
    return ", ".join(f"`{one.name.replace('`', '``')}` {one.type}" for one in columns)
