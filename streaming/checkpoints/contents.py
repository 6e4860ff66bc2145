"""Parses the files of a checkpoint, or returns what is wrong with them. Pure."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

from gluepot.connectors.positions import StreamPositions
from gluepot.connectors.registry import positions_class
from gluepot.core.errors import CheckpointError
from gluepot.core.stored_json import parsed_json

_OFFSETS_VERSIONS = ("v1",)
_COMMITS_VERSIONS = ("v1", "v2")  # v2 if the query keeps state in Spark's second checkpoint format
_NO_OFFSET = "-"  # Spark's line for a source that has no offset yet
_CRC_HEADER = struct.Struct(">4si")
_CRC_MAGIC = b"crc\0"


@dataclass(frozen=True, slots=True)
class Damage:
    """A file whose contents are damaged or unknown.

    Args:
        what: the damage, as a clause that follows the file's name.
        torn: whether a write that did not reach the disk whole looks like this.
    """

    what: str
    torn: bool = False


_NO_MATCH = Damage("does not match its checksum file", torn=True)


@dataclass(frozen=True, slots=True)
class Foreign:
    """The offset of a source that is not ours."""

    text: str


@dataclass(frozen=True, slots=True)
class OffsetFile:
    """An entry of the offset log.

    Args:
        data: the bytes of the file.
        streams: the positions of the batch for each source of the query, in the plan's order.
        contradicted: whether Hadoop's checksum file does not match, although the entry's own checksum does.
    """

    data: bytes
    streams: Sequence[StreamPositions[Any] | Foreign]
    contradicted: bool = False

    @property
    def positions(self) -> list[StreamPositions[Any]]:
        """The positions of our own sources."""
        return [one for one in self.streams if isinstance(one, StreamPositions)]


@dataclass(frozen=True, slots=True)
class CommitFile:
    """An entry of the commit log."""

    data: bytes


@dataclass(frozen=True, slots=True)
class QueryId:
    """The query id that `metadata` holds."""

    text: str


def read_offsets(data: bytes, crc: bytes | None) -> OffsetFile | Damage:
    """Read a file of the offset log; `crc` holds the bytes of Hadoop's checksum file, None if there is none."""
    read = _offsets(data)
    if isinstance(read, Damage) or checksum_holds(data, crc):
        return read
    if len(read.positions) < len(read.streams):
        return _NO_MATCH
    return replace(read, contradicted=True)


def read_commit(data: bytes, crc: bytes | None) -> CommitFile | Damage:
    """Read a file of the commit log."""
    lines = _lines(data)
    if isinstance(lines, Damage):
        return lines
    if foreign := _other_version(lines[0], _COMMITS_VERSIONS):
        return foreign
    if len(lines) != 2 or not isinstance(_json(lines[1]), dict):
        return _torn(data)
    return CommitFile(data) if checksum_holds(data, crc) else _NO_MATCH


def read_metadata(data: bytes, crc: bytes | None) -> QueryId | Damage:
    """Read the file with the query's id."""
    lines = _lines(data)
    if isinstance(lines, Damage):
        return lines
    plain = _json(lines[0])
    try:
        text = str(UUID(plain["id"]))
    except (TypeError, KeyError, ValueError, AttributeError):
        return _torn(data)
    return QueryId(text) if checksum_holds(data, crc) else _NO_MATCH


def checksum_holds(data: bytes, crc: bytes | None) -> bool:
    """Tell whether Hadoop would read a file; Hadoop refuses a file whose checksums do not match.

    A checksum file holds the magic `crc` and a zero byte, the number of bytes per checksum, then a CRC-32 for each
    piece of that length (`ChecksumFileSystem`). A checksum file with another beginning is ignored, as Hadoop does.
    """
    if crc is None or len(crc) < _CRC_HEADER.size:
        return True
    magic, piece = _CRC_HEADER.unpack_from(crc)
    if magic != _CRC_MAGIC:
        return True
    if piece <= 0:
        return False
    sums = b"".join(zlib.crc32(data[start : start + piece]).to_bytes(4, "big") for start in range(0, len(data), piece))
    return crc[_CRC_HEADER.size :] == sums


def _offsets(data: bytes) -> OffsetFile | Damage:
    lines = _lines(data)
    if isinstance(lines, Damage):
        return lines
    if foreign := _other_version(lines[0], _OFFSETS_VERSIONS):
        return foreign
    if len(lines) < 3 or not isinstance(_json(lines[1]), dict):
        return _torn(data)
    streams: list[StreamPositions[Any] | Foreign] = []
    for line in lines[2:]:
        plain = _json(line)
        if ours := positions_class(plain.get("source")) if isinstance(plain, dict) else None:
            if plain.get("version") != ours.VERSION:
                return Damage(f"holds offsets of version {plain.get('version')}, this Gluepot knows {ours.VERSION}")
            try:
                streams.append(ours.from_json(plain))
            except CheckpointError:
                return Damage("was changed since it was written")
        elif plain is None and line != _NO_OFFSET:
            return _torn(data)
        else:
            streams.append(Foreign(line))
    return OffsetFile(data, streams)


def _lines(data: bytes) -> list[str] | Damage:
    if not data:
        return Damage("is empty", torn=True)
    try:
        return data.decode().splitlines() or [""]
    except UnicodeDecodeError:
        return _torn(data)


def _other_version(line: str, known: Sequence[str]) -> Damage | None:
    if line in known:
        return None
    if line.startswith("v") and line[1:].isdecimal():
        return Damage(f"is of version {line}, this Gluepot knows {' and '.join(known)}")
    return Damage("does not begin with its version", torn=True)


def _torn(data: bytes) -> Damage:
    return Damage(f"is cut off or overwritten ({len(data)} bytes)", torn=True)


def _json(line: str) -> Any:
    """Return the parsed text; None if it is not JSON."""
    try:
        return parsed_json(line)
    except ValueError:
        return None
