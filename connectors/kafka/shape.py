"""The columns of a Kafka frame: Glue's payload column, and the columns that options add."""

from __future__ import annotations

import pyarrow as pa

from gluepot.connectors.kafka.settings import KafkaReadSettings
from gluepot.connectors.streams.shape import RECORD_TIMESTAMP_FIELD, payload_field

HEADERS = "glue_streaming_kafka_headers"

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
    return pa.schema(fields)
