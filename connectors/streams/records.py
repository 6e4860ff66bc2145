"""Turns rows into records of a stream: a payload, and columns such as the key that are not part of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import orjson
import pyarrow as pa

from gluepot.connectors.json_values import json_values
from gluepot.connectors.values import Outgoing, RecordShape
from gluepot.core.errors import ConfigError
from gluepot.frames.chunk import Chunk

RECORD_COLUMNS = frozenset({"key", "value", "topic", "partition", "headers"})
"""The columns that a row of Spark's Kafka sink may have (Spark's Kafka integration guide, "Writing Data to Kafka")."""


def outgoing(chunk: Chunk, shape: RecordShape) -> Iterator[Outgoing]:
    """Yield the good records of a chunk in the form in which they are sent.

    Raises:
        ConfigError: the row lacks the key's column, or a column of a record has a type that cannot be sent.
    """
    batch = chunk.batch
    names = batch.schema.names
    if "value" in names and set(names) <= RECORD_COLUMNS:
        yield from _records(batch)
        return
    if shape.key_column is not None and shape.key_column not in names:
        raise ConfigError(
            f"The rows have no column {shape.key_column!r} to take the key from; they have"
            f" {', '.join(names) or 'none'}."
        )
    keys = [None] * batch.num_rows if shape.key_column is None else _bytes(batch, shape.key_column)
    columns = [json_values(field, column) for field, column in zip(batch.schema, batch.columns, strict=True)]
    rows = zip(*columns, strict=True) if columns else (() for _ in range(batch.num_rows))
    for key, values in zip(keys, rows, strict=True):
        document = {name: value for name, value in zip(names, values, strict=True) if value is not None}
        yield Outgoing(orjson.dumps(document, option=orjson.OPT_NON_STR_KEYS), key)


def _records(batch: pa.RecordBatch) -> Iterator[Outgoing]:
    nothing: list[Any] = [None] * batch.num_rows
    names = batch.schema.names
    keys = _bytes(batch, "key") if "key" in names else nothing
    topics = batch.column("topic").to_pylist() if "topic" in names else nothing
    partitions = batch.column("partition").to_pylist() if "partition" in names else nothing
    headers = batch.column("headers").to_pylist() if "headers" in names else nothing
    for value, key, topic, partition, held in zip(
        _bytes(batch, "value"), keys, topics, partitions, headers, strict=True
    ):
        pairs = tuple((one["key"], _as_bytes(one["value"])) for one in held or ())
        yield Outgoing(value, key, pairs, topic, partition)


def _bytes(batch: pa.RecordBatch, name: str) -> list[bytes | None]:
    return [_as_bytes(value) for value in batch.column(name).to_pylist()]


def _as_bytes(value: Any) -> bytes | None:
    if value is None or isinstance(value, bytes):
        return value
    if isinstance(value, str | int | float | bool):
        return str(value).encode()
    raise ConfigError(f"A key, value or header is a {type(value).__name__}; use text, bytes or a number.")
