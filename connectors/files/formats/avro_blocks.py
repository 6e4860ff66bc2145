"""Blocks of an Avro file, decompressed and cut so that each takes bounded memory once it is read.

The library that reads Avro decompresses a block and builds its records whatever they take. It is given the file as this
stream instead, in which the blocks are plain and have been looked at before.
"""

from __future__ import annotations

import bz2
import io
import json
import lzma
import zlib
from collections.abc import Iterator, Mapping
from typing import Any, BinaryIO

import fastavro
import pyarrow as pa

from gluepot.connectors.files.compression import snappy_length
from gluepot.connectors.files.formats.bounds import CHUNK_BYTES, MOST_RECORD_BYTES, too_large
from gluepot.frames.declared.avro_footprint import AvroFootprint, TooLarge

_MAGIC = b"Obj\x01"
_SYNC_BYTES = 16
_MOST_HEADER_BYTES = 16 << 20
# Of a block, compressed or not. Writers end a block after some 64 kB, or with a record that is larger.
_MOST_BLOCK_BYTES = 64 << 20
# Of records that take no bytes; a block may name any number of those.
_MOST_EMPTY_RECORDS = 1_000_000


class PlainBlocks:
    """An Avro file as a stream that `fastavro.reader` takes.

    Args:
        raw: the file.
        place: its URL, for messages.

    Raises:
        PermanentError: a block or a record takes too much memory.
        ValueError: the file is no Avro file, or is compressed by a codec that is not known.
        EOFError: the file ends too early.
    """

    def __init__(self, raw: BinaryIO, place: str) -> None:
        self._raw = raw
        self._place = place
        self.record_bytes = 0
        """An estimate of the memory that each record of the current block takes."""
        metadata, self._sync = self._header()
        self._codec = metadata.get("avro.codec", b"null").decode()
        named: dict[str, Any] = {}
        self.schema_text = metadata["avro.schema"].decode()
        """The schema as the file has it, JSON."""
        self.schema = fastavro.parse_schema(json.loads(self.schema_text), named_schemas=named)
        self.named = named
        self._footprint = AvroFootprint(self.schema, named)
        plain = {**metadata, "avro.codec": b"null"}
        self._now = io.BytesIO(_MAGIC + _as_map(plain) + self._sync)
        self._blocks = self._cut_blocks()

    def read(self, size: int = -1) -> bytes:
        """Return so many bytes of the header or of a block; the empty text at the end of the file."""
        if data := self._now.read(size):
            return data
        self._now = io.BytesIO(next(self._blocks, b""))
        return self._now.read(size)

    def _cut_blocks(self) -> Iterator[bytes]:
        while (count := self._long(may_end=True)) is not None:
            data = _decompressed(self._exactly(self._length(_MOST_BLOCK_BYTES)), self._codec, self._place)
            if self._exactly(_SYNC_BYTES) != self._sync:
                raise ValueError("a block does not end with the mark of its file")
            if count > len(data) and count > _MOST_EMPTY_RECORDS:
                raise too_large(self._place, f"a block of {count} records in {len(data)} bytes")
            for records, part, part_bytes in self._parts(count, data):
                self.record_bytes = part_bytes // max(1, records)
                yield _as_long(records) + _as_long(len(part)) + part + self._sync

    def _parts(self, count: int, data: bytes) -> Iterator[tuple[int, bytes, int]]:
        """Yield pieces of a block that take bounded memory: their number of records, their bytes, an estimate."""
        most = self._footprint.most(len(data), count)
        if most <= MOST_RECORD_BYTES:
            yield count, data, int(most)
            return
        first = at = records = taken_bytes = 0
        for _ in range(count):
            try:
                at, record_bytes = self._footprint.walk(data, at)
            except TooLarge as wrong:
                raise too_large(self._place, f"a record that is refused because {wrong}") from wrong
            records += 1
            taken_bytes += record_bytes
            if taken_bytes > CHUNK_BYTES:
                yield records, data[first:at], taken_bytes
                first, records, taken_bytes = at, 0, 0
        if records or at < len(data):  # bytes beyond the last record are an error that the library reports
            yield records, data[first:], taken_bytes

    def _header(self) -> tuple[dict[str, bytes], bytes]:
        if self._raw.read(len(_MAGIC)) != _MAGIC:
            raise ValueError("it does not begin as an Avro file does")
        metadata: dict[str, bytes] = {}
        left_bytes = _MOST_HEADER_BYTES
        while entries := self._long():
            if entries < 0:
                entries = -entries
                self._long()
            for _ in range(entries):
                key = self._exactly(self._length(left_bytes))
                value = self._exactly(self._length(left_bytes))
                left_bytes -= len(key) + len(value) + 1
                metadata[key.decode()] = value
        return metadata, self._exactly(_SYNC_BYTES)

    def _length(self, most_bytes: int) -> int:
        length = self._long() or 0
        if length < 0:
            raise ValueError(f"a length is {length}")
        if length > most_bytes:
            raise too_large(self._place, f"a block or a header of {length} bytes")
        return length

    def _exactly(self, size: int) -> bytes:
        data = self._raw.read(size) if size else b""
        if len(data) < size:
            raise EOFError(f"{size - len(data)} bytes are missing")
        return data

    def _long(self, *, may_end: bool = False) -> int | None:
        value = 0
        for shift in range(0, 64, 7):
            byte = self._raw.read(1)
            if not byte:
                if may_end and not shift:
                    return None
                raise EOFError("it ends within a number")
            value |= (byte[0] & 0x7F) << shift
            if byte[0] < 0x80:  # the last byte of a number
                break
        return (value >> 1) ^ -(value & 1)


def _decompressed(data: bytes, codec: str, place: str) -> bytes:
    most = _MOST_BLOCK_BYTES + 1
    match codec:
        case "null":
            return data
        case "deflate":
            plain = zlib.decompressobj(-zlib.MAX_WBITS).decompress(data, most)
        case "bzip2":
            plain = bz2.BZ2Decompressor().decompress(data, most)
        case "xz":
            plain = lzma.LZMADecompressor(memlimit=_MOST_BLOCK_BYTES).decompress(data, most)
        case "zstandard":
            plain = pa.CompressedInputStream(pa.BufferReader(data), "zstd").read(most)
        case "snappy":
            plain = _with_known_length("snappy", data[:-4], snappy_length(data), place)
        case "lz4":
            plain = _with_known_length("lz4_raw", data[4:], int.from_bytes(data[:4], "little"), place)
        case _:
            raise ValueError(f"its codec is {codec!r}, which is not known")
    if len(plain) >= most:
        raise too_large(place, f"a block of more than {_MOST_BLOCK_BYTES >> 20} MiB")
    return plain


def _with_known_length(codec: str, data: bytes, length: int, place: str) -> bytes:
    if length > _MOST_BLOCK_BYTES:
        raise too_large(place, f"a block of {length} bytes")
    return bytes(pa.Codec(codec).decompress(data, length))


def _as_long(value: int) -> bytes:
    value <<= 1  # the numbers written here are not negative
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])


def _as_map(entries: Mapping[str, bytes]) -> bytes:
    texts = [_as_long(len(text)) + text for key, value in entries.items() for text in (key.encode(), value)]
    return b"".join([_as_long(len(entries)), *texts, b"\0"])
