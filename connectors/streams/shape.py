"""The columns of a streaming frame, as Glue makes them (docs/glue 3.5)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import orjson
import pyarrow as pa

from gluepot.connectors.values import RawBatch, StreamShape
from gluepot.frames.magic import RECORD_TIMESTAMP, magic_column
from gluepot.frames.payloads import as_array

if TYPE_CHECKING:  # planners need none of the decoders
    from gluepot.frames.declared import RecordDecoder

TEXT_FORMATS = frozenset({"json", "csv", "text", "groklog", "xml", "ion"})
TIMESTAMP_TYPE = pa.timestamp("us", tz="UTC")
RECORD_TIMESTAMP_FIELD = pa.field(RECORD_TIMESTAMP, TIMESTAMP_TYPE)


def payload_field(classification: str, *, infer_schema: bool, name: str = "data") -> pa.Field:
    """Return the column that holds the payload if no schema is declared.

    With `inferSchema` it is the magic column that fromDF expands. Text formats become strings, other formats bytes.

    Args:
        classification: format of the payload in lower case; empty if not given.
        infer_schema: the script's `inferSchema`.
        name: name of the column without `inferSchema`.
    """
    if infer_schema:
        return pa.field(magic_column(classification or "json"), pa.string())
    return pa.field(name, pa.string() if classification in TEXT_FORMATS else pa.binary())


def arrow_schema(shape: StreamShape) -> pa.Schema:
    """Return the Arrow schema of a stream's frame: first the payload's columns, then those that options add."""
    return pa.schema([*([shape.payload] if shape.declared is None else shape.declared.schema), *shape.added])


def as_json(raw: RawBatch, decoder: RecordDecoder) -> RawBatch:
    """Return records with JSON as their payloads, and with their own bytes where they cannot be decoded."""
    from gluepot.connectors.json_values import json_values  # noqa: PLC0415  planners, which import this module, write none

    chunk = decoder.decode(raw.values, raw.positions, raw.stream, raw.shard)
    bad = {error.at.position for error in chunk.errors}
    columns = [
        json_values(field, column) for field, column in zip(chunk.batch.schema, chunk.batch.columns, strict=True)
    ]
    rows = zip(*columns, strict=True) if columns else (() for _ in range(chunk.batch.num_rows))
    names = chunk.batch.schema.names
    texts = (
        orjson.dumps(
            {name: value for name, value in zip(names, row, strict=True) if value is not None},
            option=orjson.OPT_NON_STR_KEYS,
        )
        for row in rows
    )
    values = [
        value if str(position) in bad else next(texts)
        for value, position in zip(raw.values, raw.positions, strict=True)
    ]
    return replace(raw, values=values)


def to_arrow(raw: RawBatch, schema: pa.Schema) -> pa.RecordBatch:
    """Put raw records into the frame's columns.

    Bytes go into a string column as they are, valid UTF-8 or not. Spark carries them unchanged, so a broken record has
    the same bytes whether it is read through Spark rows or directly.
    """
    values = as_array(raw.values).cast(pa.binary())
    if pa.types.is_string(schema.field(0).type):
        values = values.view(pa.string())
    return pa.RecordBatch.from_arrays([values, *(raw.columns[name] for name in schema.names[1:])], schema=schema)
