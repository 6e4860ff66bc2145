"""The columns of a Kafka frame: Glue's payload column, and the columns that options add."""

from __future__ import annotations

import pyarrow as pa

from gluepot.connectors.kafka.settings import KafkaReadSettings
from gluepot.connectors.streams.shape import RECORD_TIMESTAMP_FIELD, TIMESTAMP_TYPE, payload_field

HEADERS = "glue_streaming_kafka_headers"

_TYPES = {
    "topic": pa.string(),
    "partition": pa.int32(),
    "offset": pa.int64(),
    "timestamp": TIMESTAMP_TYPE,
    "key": pa.binary(),
}
"""The types of the columns that `addRecordColumns` adds, as in Spark's own source."""

HEADER_TYPE = pa.list_(pa.struct([("key", pa.string()), ("value", pa.string())]))


def kafka_payload(settings: KafkaReadSettings) -> pa.Field:
    """Return the payload's column. For the format `text` Glue keeps Kafka's own column name."""
    name = "value" if settings.classification == "text" else "data"
    return payload_field(settings.classification, infer_schema=settings.infer_schema, name=name)


def kafka_added(settings: KafkaReadSettings) -> pa.Schema:
    """Return the columns that options add to the payload, in order."""
    fields = []
    if settings.add_record_timestamp:
        fields.append(RECORD_TIMESTAMP_FIELD)
    if settings.include_headers:
        fields.append(pa.field(HEADERS, HEADER_TYPE))
    return pa.schema([*fields, *(pa.field(column.name, _TYPES[column.of]) for column in settings.record_columns)])
