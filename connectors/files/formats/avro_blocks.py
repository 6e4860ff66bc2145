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
from typing import BinaryIO, Protocol

import pyarrow as pa

from gluepot.connectors.files.compression import snappy_length
from gluepot.connectors.files.formats.avro_schema import AvroSchema, UnusableSchemaError
from gluepot.connectors.files.formats.bounds import CHUNK_BYTES, MOST_RECORD_BYTES, too_large
from gluepot.core.errors import PermanentError
from gluepot.frames.declared.avro_footprint import AvroFootprint, TooLarge

_MAGIC = b"Obj\x01"
_SYNC_BYTES = 16
_MOST_HEADER_BYTES = 16 << 20
# Of a block, compressed or not. Writers end a block after some 64 kB, or with a record that is larger.
_MOST_BLOCK_BYTES = 64 << 20
# Of records that take no bytes; a block may name any number of those.
_MOST_EMPTY_RECORDS = 1_000_000


_CODECS = ("null", "deflate", "snappy", "bzip2", "xz", "zstandard", "lz4")


class _Ends(Exception):
    """The file ends within its header or a block."""


class _Decompressor(Protocol):
    @property
    def eof(self) -> bool: ...

    def decompress(self, data: bytes, max_length: int, /) -> bytes: ...


# What the decompressors raise over bytes that another program packed.
_UNPACKABLE = (ValueError, OverflowError, EOFError, IndexError, OSError, zlib.error, lzma.LZMAError, pa.ArrowException)


def broken(place: str, what: str) -> PermanentError:
    """Return the error of a file that begins as an Avro file and cannot be read to its end."""
    return PermanentError(f"{place} is an Avro file that {what}; write it again, or skip it with exclusions")


def unusable(place: str, why: object) -> PermanentError:
    """Return the error of a file whose schema cannot be read."""
    return PermanentError(f"The Avro file {place} cannot be read: {why}, or leave the file out with exclusions")


class PlainBlocks:
    """An Avro file as a stream that `fastavro.block_reader` takes.

    Args:
        raw: the file.
        place: its URL, for messages.
        logic: the logical types that become columns of their own.

    Raises:
        PermanentError: the file is not an Avro file, ends early, is damaged, or has a schema or a codec that cannot be
            read; or a block or a record takes too much memory.
    """

    def __init__(self, raw: BinaryIO, place: str, logic: frozenset[str]) -> None:
        self._raw = raw
        self._place = place
        self._at = 0
        self._block_at = 0
        self.record_bytes = 0
        """An estimate of the memory that each record of the current block takes."""
        metadata, self._sync = self._header()
        self._codec = metadata.get("avro.codec", b"null").decode("utf-8", "replace")
        if self._codec not in _CODECS:
            raise broken(place, f"is compressed with {self._codec!r}; Gluepot reads {', '.join(_CODECS)}")
        try:
            self.schema_text = metadata["avro.schema"].decode()
            """The schema as the file has it, JSON."""
            self.schema = AvroSchema.of(json.loads(self.schema_text), logic)
        except (LookupError, ValueError, RecursionError, UnusableSchemaError) as error:
            why = (
                error
                if isinstance(error, UnusableSchemaError)
                else f"its schema cannot be read ({error!r}); write it again"
            )
            raise unusable(place, why) from error
        self._footprint = AvroFootprint(self.schema.parsed, self.schema.named)
        plain = {"avro.codec": b"null", "avro.schema": json.dumps(self.schema.prepared).encode()}
        self._now = io.BytesIO(_MAGIC + _as_map(plain) + self._sync)
        self._blocks = self._cut_blocks()

    def undecodable(self, error: Exception) -> PermanentError:
        """Return the error of a file in whose current block the library that reads records has failed."""
        return broken(self._place, f"cannot be read in the block that begins at byte {self._block_at} ({error!r})")

    def read(self, size: int = -1) -> bytes:
        """Return so many bytes of the header or of a block; the empty text at the end of the file."""
        data = self._now.read(size)
        if data or not size:
            return data
        self._now = io.BytesIO(next(self._blocks, b""))
        return self._now.read(size)

    def tell(self) -> int:
        """Return the byte of the file up to which it was read."""
        return self._at

    def _cut_blocks(self) -> Iterator[bytes]:
        while (block := self._next_block()) is not None:
            count, data = block
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
        if records or at < len(data):  # bytes beyond the last record are an error of `_records` in avro.py
            yield records, data[first:], taken_bytes

    def _next_block(self) -> tuple[int, bytes] | None:
        """Return the number of records of the next block and its plain bytes; None at the end of the file."""
        self._block_at = self._at
        try:
            count = self._long(may_end=True)
            if count is None:
                return None
            packed = self._exactly(self._length(_MOST_BLOCK_BYTES))
            if self._exactly(_SYNC_BYTES) != self._sync:
                raise ValueError("it does not end with the sync marker of the file")
            if count < 0:
                raise ValueError(f"its number of records is {count}")
            return count, _decompressed(packed, self._codec, self._place)
        except _Ends as error:
            raise broken(
                self._place, f"ends early: in the block that begins at byte {self._block_at}, {error}"
            ) from error
        except _UNPACKABLE as error:
            raise self.undecodable(error) from error

    def _header(self) -> tuple[dict[str, bytes], bytes]:
        magic = self._raw.read(len(_MAGIC))
        self._at = len(magic)
        if magic != _MAGIC:
            begins = f"begins with {magic!r}" if magic else "is empty"
            raise PermanentError(
                f"{self._place} is not an Avro file, because it {begins}; skip it with exclusions, or give its format"
            )
        try:
            return self._metadata()
        except _Ends as error:
            raise broken(self._place, f"ends early: in its header, {error}") from error
        except (ValueError, OverflowError) as error:
            raise broken(self._place, f"has a header that cannot be read up to byte {self._at} ({error})") from error

    def _metadata(self) -> tuple[dict[str, bytes], bytes]:
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
        self._at += len(data)
        if len(data) < size:
            raise _Ends(f"{size - len(data)} bytes are missing at byte {self._at}")
        return data

    def _long(self, *, may_end: bool = False) -> int | None:
        value = 0
        for shift in range(0, 64, 7):
            byte = self._raw.read(1)
            if not byte:
                if may_end and not shift:
                    return None
                raise _Ends(f"a number is cut off at byte {self._at}")
            self._at += 1
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
            plain = _whole(zlib.decompressobj(-zlib.MAX_WBITS), data, most)
        case "bzip2":
            plain = _whole(bz2.BZ2Decompressor(), data, most)
        case "xz":
            plain = _whole(lzma.LZMADecompressor(memlimit=_MOST_BLOCK_BYTES), data, most)
        case "zstandard":
            plain = pa.CompressedInputStream(pa.BufferReader(data), "zstd").read(most)
        case "snappy":
            plain = _with_known_length("snappy", data[:-4], snappy_length(data), place)
            if zlib.crc32(plain) != int.from_bytes(data[-4:]):
                raise ValueError("its checksum does not fit its bytes")
        case _:  # lz4
            plain = _with_known_length("lz4_raw", data[4:], int.from_bytes(data[:4], "little"), place)
    if len(plain) >= most:
        raise too_large(place, f"a block of more than {_MOST_BLOCK_BYTES >> 20} MiB")
    return plain


def _whole(decompressor: _Decompressor, data: bytes, most: int) -> bytes:
    plain = decompressor.decompress(data, most)
    if len(plain) < most and not decompressor.eof:
        raise ValueError("its compressed bytes end early")
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
