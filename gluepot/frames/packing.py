"""Packs chunks as bytes. Bytes keep what a DataFrame's rows cannot hold: schemas per chunk, choices and errors."""

from __future__ import annotations

import pickle
from collections.abc import Iterator

import pyarrow as pa

from gluepot.frames.chunk import Chunk


def pack(chunk: Chunk) -> bytes:
    """Return the chunk as bytes for `unpack` in the same versions of all packages. Do not store the bytes."""
    sink = pa.BufferOutputStream()
    # We use Arrow's own format, because pickle would write a slice's whole buffers.
    with pa.ipc.new_stream(sink, chunk.batch.schema) as stream:
        stream.write_batch(chunk.batch)
    return pickle.dumps((pickle.PickleBuffer(sink.getvalue()), chunk.errors), protocol=pickle.HIGHEST_PROTOCOL)


def unpack(packed: bytes | pa.Buffer) -> Chunk:
    """Return the chunk that `pack` was given."""
    rows, errors = pickle.loads(packed)  # noqa: S301 - our own bytes, from our own tasks
    return Chunk(pa.ipc.open_stream(rows).read_next_batch(), errors)


def pieces(chunk: Chunk, count: int) -> Iterator[Chunk]:
    """Cut a chunk into up to `count` pieces of about equal size, none of them empty, the errors with the first."""
    rows = chunk.batch.num_rows
    size = max(1, -(-rows // count))
    yield Chunk(chunk.batch.slice(0, size), chunk.errors)
    for start in range(size, rows, size):
        yield Chunk(chunk.batch.slice(start, size))
