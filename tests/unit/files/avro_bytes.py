"""Avro files put together byte by byte, as no library writes them."""

from __future__ import annotations

import json
from io import BytesIO

import fastavro


def avro_file(schema: object, count: int, block: bytes, codec: str = "null") -> bytes:
    """Return an Avro file of one block."""
    sync = bytes(16)
    text = schema if isinstance(schema, str) else json.dumps(schema)
    entries = {"avro.schema": text.encode(), "avro.codec": codec.encode()}
    texts = [avro_number(len(text)) + text for key, value in entries.items() for text in (key.encode(), value)]
    header = b"Obj\x01" + avro_number(len(entries)) + b"".join(texts) + avro_number(0) + sync
    return header + avro_number(count) + avro_number(len(block)) + block + sync


def avro_number(value: int) -> bytes:
    """Return a number as Avro writes it."""
    out = BytesIO()
    fastavro.schemaless_writer(out, "long", value)
    return out.getvalue()
