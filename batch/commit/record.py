"""The manifest as it is kept: a JSON file for people and programs."""

from __future__ import annotations

import base64
import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import pyarrow as pa

from connectors.filesink.names import of_generation
from connectors.ports import CommitKey, Manifest, SourceRange, ranges_digest
from dynamicframe.schema import merge_schemas
from etlcore.errors import CheckpointError

_VERSION = 1


@dataclass(frozen=True, slots=True)
class FileEntry:
    """One published file.

    Args:
        path: relative to the table's folder; that of a rejects file to the folder of rejects.
        size_bytes: its length.
        rows: records in it.
        crc32: zlib CRC-32 of its bytes.
        rejects: whether it holds rejected records.
        encoding: what a reader must know beside the bytes, see `connectors.filesink.format`; empty if unknown.
    """

    path: str
    size_bytes: int
    rows: int
    crc32: int
    rejects: bool
    encoding: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class CommitRecord:
    """Everything known of one published write.

    Args:
        key: of the write.
        generation: 1, or one more than that of the record which this one supersedes.
        files: data and rejects.
        ranges: input of all tasks, sorted; empty when it came through a DataFrame.
        rows_in: records read.
        rows_out: records in the data files.
        bytes_in: payload bytes read.
        rejected: records diverted, by reason.
        schema: merged Arrow schema of the data files with the partition keys (IPC bytes), None without any.
        source_schema: merged Arrow schema of the records before transforms (IPC bytes), None if unknown.
        committed_at_epoch_ms: when the driver made the manifest, by its own clock; 0 if unknown. For people: nothing
            is decided by it.
    """

    key: CommitKey
    generation: int
    files: Sequence[FileEntry] = ()
    ranges: Sequence[SourceRange] = ()
    rows_in: int = 0
    rows_out: int = 0
    bytes_in: int = 0
    rejected: dict[str, int] = field(default_factory=dict)
    schema: bytes | None = None
    source_schema: bytes | None = None
    committed_at_epoch_ms: int = 0

    @classmethod
    def of(cls, manifest: Manifest, generation: int) -> CommitRecord:
        """Return what publishing a manifest as a given generation would record."""
        parts = manifest.parts
        rejected: Counter[str] = Counter()
        for part in parts:
            rejected.update(part.rejected)
        return cls(
            key=manifest.key,
            generation=generation,
            files=[
                FileEntry(
                    of_generation(file.final, generation),
                    file.size_bytes,
                    file.rows,
                    file.crc32,
                    file.rejects,
                    file.encoding,
                )
                for part in parts
                for file in part.files
            ],
            ranges=sorted(one for part in parts for one in part.ranges),
            rows_in=sum(part.rows_in for part in parts),
            rows_out=sum(part.rows_out for part in parts),
            bytes_in=sum(part.bytes_in for part in parts),
            rejected=dict(rejected),
            schema=_merged(part.schema for part in parts),
            source_schema=_merged(part.source_schema for part in parts),
        )

    @property
    def input(self) -> str:
        """Text that is equal for equal ranges."""
        return ranges_digest(self.ranges)

    @property
    def data_paths(self) -> Sequence[str]:
        """Final paths of the data files."""
        return [file.path for file in self.files if not file.rejects]

    def to_bytes(self) -> bytes:
        """Return the JSON text; equal records give equal bytes."""
        plain: dict[str, Any] = {
            "version": _VERSION,
            "key": asdict(self.key),
            "generation": self.generation,
            "committed_at_epoch_ms": self.committed_at_epoch_ms,
            "rows_in": self.rows_in,
            "rows_out": self.rows_out,
            "bytes_in": self.bytes_in,
            "rejected": self.rejected,
            "columns": _described(self.schema),
            "files": [asdict(file) for file in self.files],
            "ranges": [one.to_json() for one in self.ranges],
            "schema": _to_text(self.schema),
            "source_schema": _to_text(self.source_schema),
        }
        return json.dumps(plain, indent=1, ensure_ascii=False).encode()

    @classmethod
    def from_bytes(cls, text: bytes) -> CommitRecord:
        """Read the JSON text back.

        Raises:
            CheckpointError: it is not such a text, or was written by a newer version of Gluepot.
        """
        try:
            plain = json.loads(text)
            if plain["version"] != _VERSION:
                raise CheckpointError(
                    f"a manifest has version {plain['version']}, this Gluepot knows {_VERSION}; use a newer Gluepot",
                )
            return cls(
                key=CommitKey(**plain["key"]),
                generation=plain["generation"],
                files=[FileEntry(**file) for file in plain["files"]],
                ranges=[SourceRange.from_json(one) for one in plain["ranges"]],
                rows_in=plain["rows_in"],
                rows_out=plain["rows_out"],
                bytes_in=plain["bytes_in"],
                rejected=plain["rejected"],
                schema=_from_text(plain["schema"]),
                source_schema=_from_text(plain["source_schema"]),
                committed_at_epoch_ms=plain.get("committed_at_epoch_ms", 0),
            )
        except (ValueError, KeyError, TypeError) as error:
            start = text[:40]
            raise CheckpointError(
                f"a manifest beginning with {start!r} cannot be read; restore or remove it"
            ) from error


def _merged(schemas: Iterable[bytes | None]) -> bytes | None:
    known = [pa.ipc.read_schema(pa.py_buffer(one)) for one in schemas if one is not None]
    if not known:
        return None
    merged = pa.schema([])
    for one in known:
        merged = merge_schemas(merged, one)
    return bytes(merged.serialize())


def _described(schema: bytes | None) -> list[dict[str, str]]:
    """Return the columns in words, for people who open the file."""
    if schema is None:
        return []
    return [{"name": one.name, "type": str(one.type)} for one in pa.ipc.read_schema(pa.py_buffer(schema))]


def _to_text(schema: bytes | None) -> str | None:
    return None if schema is None else base64.b64encode(schema).decode()


def _from_text(text: str | None) -> bytes | None:
    return None if text is None else base64.b64decode(text)
