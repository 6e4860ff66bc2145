"""Payloads of a stream that are compressed one by one, as AWS Glue decompresses them since version 3.0.

The first bytes tell the codec: gzip, zlib (deflate), bzip2, xz, or the framing format of Snappy. No text of JSON begins
with them, and what begins with them but cannot be decompressed is left as it is, as plain text.
"""

from __future__ import annotations

import bz2
import io
import lzma
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from gluepot.connectors.files.compression import Snappy
from gluepot.connectors.values import RawBatch
from gluepot.frames.chunk import Chunk
from gluepot.frames.payloads import Payloads

MOST_PAYLOAD_BYTES = 64 << 20
"""A payload that becomes larger is left as it is, and so is rejected: a kilobyte can become a gigabyte."""
_BATCH_BYTES = 128 << 20
_READ_BYTES = 1 << 20
_XZ_MEMORY_BYTES = 128 << 20
_BZIP2_BLOCKS = (b"1AY&SY", b"\x17rE8P\x90")
_FIRST = np.zeros(256, np.bool_)
_FIRST[[0x1F, 0x78, 0x42, 0xFD, 0xFF]] = True
_DAMAGED = (zlib.error, lzma.LZMAError, OSError, EOFError, ValueError, pa.ArrowException)

Originals = Mapping[int, bytes]
"""The compressed payloads by their positions."""


def plain_batches(raw: RawBatch) -> Iterator[tuple[RawBatch, Originals]]:
    """Yield the records with plain payloads, in order; as one batch unless they take much memory.

    Args:
        raw: records as the source holds them.
    """
    candidates = _candidates(raw)
    if not candidates:
        yield raw, {}
        return
    values, originals = list(raw.values), dict[int, bytes]()
    first, size_bytes = 0, 0
    for at in candidates:
        value = values[at]
        plain = None if value is None else decompressed(value)
        if value is None or plain is None:
            continue
        if size_bytes and size_bytes + len(plain) > _BATCH_BYTES:
            yield _part(raw, values, first, at), originals
            first, size_bytes, originals = at, 0, {}
        values[at], originals[raw.positions[at]] = plain, value
        size_bytes += len(plain)
    yield _part(raw, values, first, len(values)), originals


def as_they_came(chunk: Chunk, originals: Originals) -> Chunk:
    """Return a chunk whose rejected records have the bytes of the source, for a replay."""
    if not originals or not chunk.errors:
        return chunk
    by_position = {str(position): payload for position, payload in originals.items()}
    errors = [replace(one, raw=by_position.get(one.at.position or "", one.raw)) for one in chunk.errors]
    return replace(chunk, errors=errors)


def _part(raw: RawBatch, values: list[bytes | None], first: int, stop: int) -> RawBatch:
    if not first and stop == len(values):
        return replace(raw, values=values)
    columns = {name: column.slice(first, stop - first) for name, column in raw.columns.items()}
    return replace(raw, values=values[first:stop], positions=raw.positions[first:stop], columns=columns)


def _candidates(raw: RawBatch) -> list[int]:
    """Return the indices of payloads that begin as compressed ones do."""
    values = raw.values
    if not isinstance(values, Payloads):
        return [at for at, value in enumerate(values) if value and _FIRST[value[0]]]
    if not len(values):
        return []
    offsets = np.frombuffer(values.array.buffers()[1], np.int64)[values.array.offset :][: len(values) + 1]
    content = np.frombuffer(values.buffer, np.uint8)
    if not len(content):
        return []
    begins = np.minimum(offsets[:-1], len(content) - 1)  # an empty payload at the end begins behind the content
    found: list[int] = np.flatnonzero(_FIRST[content[begins]] & (offsets[1:] > offsets[:-1])).tolist()
    return found


def decompressed(payload: bytes) -> bytes | None:
    """Return the plain bytes of a payload; None if it is not compressed, is damaged, or becomes too large."""
    codec = _codec(payload)
    if codec is None:
        return None
    try:
        return codec(payload)
    except _DAMAGED:
        return None


def _codec(payload: bytes) -> Callable[[bytes], bytes | None] | None:
    if payload.startswith(b"\x1f\x8b"):
        return _of_stream(lambda: zlib.decompressobj(31))
    if payload.startswith(b"BZh") and payload[4:10] in _BZIP2_BLOCKS:
        return _of_stream(bz2.BZ2Decompressor)
    if payload.startswith(b"\xfd7zXZ\0"):
        return _of_stream(lambda: lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=_XZ_MEMORY_BYTES))
    if payload.startswith(Snappy.FRAMED):
        return _of_snappy
    if payload[:1] == b"\x78" and len(payload) > 1 and int.from_bytes(payload[:2]) % 31 == 0:
        return _of_stream(zlib.decompressobj)
    return None


def _of_stream(new: Callable[[], Any]) -> Callable[[bytes], bytes | None]:
    """Return what decompresses with Python's own decompressors, which may be several streams one after the other."""

    def decompress(payload: bytes) -> bytes | None:
        plain, rest = bytearray(), payload
        while rest:
            stream = new()
            plain += stream.decompress(rest, MOST_PAYLOAD_BYTES + 1 - len(plain))
            if len(plain) > MOST_PAYLOAD_BYTES or not stream.eof:
                return None  # too large, or cut off
            rest = stream.unused_data
        return bytes(plain)

    return decompress


def _of_snappy(payload: bytes) -> bytes | None:
    plain, stream = bytearray(), Snappy(io.BytesIO(payload))
    while block := stream.read(_READ_BYTES):
        plain += block
        if len(plain) > MOST_PAYLOAD_BYTES:
            return None
    return bytes(plain)
