"""The columns of a streaming frame, as Glue makes them (glue-api 3.5)."""

from __future__ import annotations

import pyarrow as pa

from connectors.kafka.settings import TEXT_FORMATS, KafkaReadSettings
from connectors.ports import RawBatch
from dynamicframe.declared import DeclaredPayload
from dynamicframe.magic import RECORD_TIMESTAMP, magic_column

HEADERS = "glue_streaming_kafka_headers"

HEADER_TYPE = pa.list_(pa.struct([("key", pa.string()), ("value", pa.string())]))
TIMESTAMP_TYPE = pa.timestamp("us", tz="UTC")


def payload_column(settings: KafkaReadSettings) -> tuple[str, pa.DataType]:
    """Return name and type of the column that holds the payload.

    `inferSchema` gives the magic column that fromDF expands; without it the column is `data`, except for `text`, which
    Glue leaves under Kafka's own name. Formats that are text come as strings, the others as bytes.
    """
    if settings.infer_schema:
        return magic_column(settings.classification or "json"), pa.string()
    name = "value" if settings.classification == "text" else "data"
    return name, pa.string() if settings.classification in TEXT_FORMATS else pa.binary()


def arrow_schema(settings: KafkaReadSettings, declared: DeclaredPayload | None = None) -> pa.Schema:
    """Return the Arrow schema of the frame: what the payload gives, then what options add.

    Args:
        settings: of the read.
        declared: what the payload is decoded into; None where it stays in a column of its own.
    """
    fields = [pa.field(*payload_column(settings))] if declared is None else list(declared.schema)
    return pa.schema([*fields, *_added(settings)])


def added_columns(settings: KafkaReadSettings) -> tuple[str, ...]:
    """Return the names of the columns that options add beside the payload, in order."""
    return tuple(field.name for field in _added(settings))


def _added(settings: KafkaReadSettings) -> list[pa.Field]:
    fields = []
    if settings.add_record_timestamp:
        fields.append(pa.field(RECORD_TIMESTAMP, TIMESTAMP_TYPE))
    if settings.include_headers:
        fields.append(pa.field(HEADERS, HEADER_TYPE))
    return fields


def to_arrow(raw: RawBatch, schema: pa.Schema) -> pa.RecordBatch:
    """Put raw records into the frame's columns.

    Bytes go into a string column as they are, valid UTF-8 or not: Spark carries them unchanged, so that a record that
    is broken is the same broken record on both ways.
    """
    values = pa.array(raw.values, pa.binary())
    if pa.types.is_string(schema.field(0).type):
        values = values.view(pa.string())
    return pa.RecordBatch.from_arrays([values, *(raw.columns[name] for name in schema.names[1:])], schema=schema)
