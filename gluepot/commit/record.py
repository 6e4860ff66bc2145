"""The stored form of a manifest: a JSON file for people and programs."""

from __future__ import annotations

import base64
import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from typing import Any

import pyarrow as pa

from gluepot.connectors.files.sink.names import published_name
from gluepot.connectors.values import CommitKey, Manifest, ManifestPart, SourceRange, StagedFile, ranges_digest
from gluepot.core.errors import CheckpointError
from gluepot.core.stored_json import UNFIT, parsed_json
from gluepot.frames.schema import merge_known, merge_schemas

_VERSION = 1
_NOTHING = "nothing"
_NO_RANGES = ranges_digest(())
# Stored only if they are not empty or 0.
_OPTIONAL_COUNTS = ("rows_put", "rejected_in_read", "rejected_as_rows", "left_out_in_read")
_OPTIONAL_TEXTS = ("mode", "rows_digest", "keys_digest", "rejects_root")


@dataclass(frozen=True, slots=True)
class FileEntry:
    """One published file.

    Args:
        path: path relative to the table's folder, or for a rejects file relative to the folder of rejects.
        size_bytes: length of the file.
        rows: number of records in it.
        crc32: zlib CRC-32 of its bytes.
        rejects: whether it contains rejected records.
        encoding: what a reader needs besides the bytes, see `gluepot.connectors.files.contracts`.
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
        key: commit key of the write.
        generation: 1, or one more than that of the record which this one supersedes.
        token: token of the driver that published it.
        files: data files and rejects files.
        ranges: the ranges that were read, coalesced; those of the whole micro-batch if the rows came through a
            DataFrame.
        offsets_digest: a digest that identifies the input if there are no ranges.
        rows_in: records read; if they came through a DataFrame, its rows.
        rows_out: records in the data files, and in a store of documents.
        rows_put: how many of them are in a store of documents.
        rows_dropped: records that steps left out.
        rejected_in_read: as in `ManifestPart`.
        rejected_as_rows: as in `ManifestPart`.
        left_out_in_read: as in `ManifestPart`.
        bytes_in: payload bytes read.
        rejected: records diverted, by reason.
        schema: merged Arrow schema of the data files with the partition keys (IPC bytes); None if there are none.
        source_schema: merged Arrow schema of the records before transforms (IPC bytes); None if unknown.
        committed_at_epoch_ms: when the files were published, by the clock of the driver that published them; 0 if
            unknown. This is for people; no decision depends on it.
        columns: what the write's tasks added to the table's columns, in the sink's own form; None if the sink does not
            record columns.
        work: text that is equal only if the same work was done with the input; empty if the key alone implies that.
        previous: the batch of the query's previous write under the same ctx, so that a missing manifest is noticed; -1
            for the first write, None if unknown.
        mode: what the write did with existing rows of a database's table; empty for other targets, and in a record of
            an older Gluepot.
        rows_digest: text that is equal only if equal rows were written; empty if unknown.
        keys_digest: the same for the columns by which an upsert finds rows.
        rejects_root: URL of the folder with those rejected records of the batch or run that no table keeps, see
            `gluepot.engine.rejects`; empty if there may be none.
    """

    key: CommitKey
    generation: int
    token: int = 0
    files: Sequence[FileEntry] = ()
    ranges: Sequence[SourceRange] = ()
    offsets_digest: str = ""
    rows_in: int = 0
    rows_out: int = 0
    rows_dropped: int = 0
    bytes_in: int = 0
    rejected: dict[str, int] = field(default_factory=dict)
    schema: bytes | None = None
    source_schema: bytes | None = None
    committed_at_epoch_ms: int = 0
    columns: Sequence[bytes] | None = None
    work: str = ""
    previous: int | None = None
    rows_put: int = 0
    rejected_in_read: int = 0
    rejected_as_rows: int = 0
    left_out_in_read: int = 0
    mode: str = ""
    rows_digest: str = ""
    keys_digest: str = ""
    rejects_root: str = ""

    @classmethod
    def of(cls, manifest: Manifest, generation: int) -> CommitRecord:
        """Return the record that publishing a manifest as a given generation would create."""
        parts = manifest.parts
        rejected: Counter[str] = Counter()
        for part in parts:
            rejected.update(part.rejected)
        return cls(
            key=manifest.key,
            generation=generation,
            token=manifest.token,
            files=[
                FileEntry(
                    published_name(file.final, generation, manifest.token),
                    file.size_bytes,
                    file.rows,
                    file.crc32,
                    file.rejects,
                    file.encoding,
                )
                for part in parts
                for file in part.files
            ],
            ranges=manifest.input_ranges,
            offsets_digest=manifest.offsets_digest,
            rows_in=sum(part.rows_in for part in parts),
            rows_out=sum(part.rows_out for part in parts),
            rows_put=sum(part.rows_put for part in parts),
            rows_dropped=sum(part.rows_dropped for part in parts),
            rejected_in_read=sum(part.rejected_in_read for part in parts),
            rejected_as_rows=sum(part.rejected_as_rows for part in parts),
            left_out_in_read=sum(part.left_out_in_read for part in parts),
            bytes_in=sum(part.bytes_in for part in parts),
            rejected=dict(rejected),
            schema=_merged(part.schema for part in parts),
            source_schema=_merged((part.source_schema for part in parts), merge_known),
            columns=_distinct(part.columns for part in parts),
            work=manifest.work,
            previous=manifest.previous,
            mode=manifest.mode,
            rows_digest=manifest.rows_digest,
            keys_digest=manifest.keys_digest,
            rejects_root=manifest.rejects_root,
        )

    @classmethod
    def nothing(cls, key: CommitKey) -> CommitRecord:
        """Return a record of a write that did not happen; its input is equal to no other input."""
        return cls(key, 0, offsets_digest=_NOTHING)

    @property
    def is_nothing(self) -> bool:
        """Whether it only says that nothing was published."""
        return self.offsets_digest == _NOTHING

    @property
    def input(self) -> str:
        """Text that is equal for equal input."""
        return input_text(self.ranges, self.offsets_digest)

    @property
    def data_paths(self) -> Sequence[str]:
        """Final paths of the data files."""
        return [file.path for file in self.files if not file.rejects]

    @property
    def rejects_paths(self) -> Sequence[str]:
        """Final paths of the files of rejected records."""
        return tuple(file.path for file in self.files if file.rejects)

    def as_part(self) -> ManifestPart:
        """Return its input and output in the form of one task's part, with the final paths of its files."""
        return ManifestPart(
            files=[
                StagedFile(file.path, file.path, file.size_bytes, file.rows, file.crc32, file.rejects, file.encoding)
                for file in self.files
            ],
            ranges=self.ranges,
            schema=self.schema,
            rows_in=self.rows_in,
            rows_out=self.rows_out,
            rows_put=self.rows_put,
            rows_dropped=self.rows_dropped,
            rejected_in_read=self.rejected_in_read,
            rejected_as_rows=self.rejected_as_rows,
            left_out_in_read=self.left_out_in_read,
            bytes_in=self.bytes_in,
            rejected=self.rejected,
            source_schema=self.source_schema,
            columns=self.columns,
        )

    def to_bytes(self) -> bytes:
        """Return the JSON text; equal records give equal bytes."""
        plain: dict[str, Any] = {
            "version": _VERSION,
            "key": plain_key(self.key),
            "generation": self.generation,
            "token": self.token,
            "committed_at_epoch_ms": self.committed_at_epoch_ms,
            "rows_in": self.rows_in,
            "rows_out": self.rows_out,
            "rows_dropped": self.rows_dropped,
            "bytes_in": self.bytes_in,
            "rejected": self.rejected,
            "columns": _described(self.schema),
            "files": [asdict(file) for file in self.files],
            "ranges": [one.to_json() for one in self.ranges],
            "offsets_digest": self.offsets_digest,
            "schema": _to_text(self.schema),
            "source_schema": _to_text(self.source_schema),
            "table_columns": None if self.columns is None else [_to_text(one) for one in self.columns],
            "work": self.work,
            "previous": self.previous,
            **{name: count for name in _OPTIONAL_COUNTS if (count := getattr(self, name))},
            **{name: text for name in _OPTIONAL_TEXTS if (text := getattr(self, name))},
        }
        return json.dumps(plain, indent=1, ensure_ascii=False).encode()

    @classmethod
    def from_bytes(cls, text: bytes) -> CommitRecord:
        """Read the JSON text back.

        Raises:
            CheckpointError: the text is not a manifest, or a newer version of Gluepot wrote it.
        """
        try:
            plain = parsed_json(text)
            if plain["version"] != _VERSION:
                raise CheckpointError(
                    f"a manifest has version {plain['version']}, this Gluepot knows {_VERSION}; use a newer Gluepot",
                )
            return cls(
                key=CommitKey(**plain["key"]),
                generation=plain["generation"],
                token=plain["token"],
                files=[FileEntry(**file) for file in plain["files"]],
                ranges=[SourceRange.from_json(one) for one in plain["ranges"]],
                offsets_digest=plain["offsets_digest"],
                rows_in=plain["rows_in"],
                rows_out=plain["rows_out"],
                rows_dropped=plain["rows_dropped"],
                bytes_in=plain["bytes_in"],
                rejected=plain["rejected"],
                schema=_from_text(plain["schema"]),
                source_schema=_from_text(plain["source_schema"]),
                committed_at_epoch_ms=plain["committed_at_epoch_ms"],
                columns=_columns(plain.get("table_columns")),
                work=plain.get("work", ""),
                previous=plain.get("previous"),
                **{name: plain[name] for name in _OPTIONAL_COUNTS if name in plain},
                **{name: plain[name] for name in _OPTIONAL_TEXTS if name in plain},
            )
        except UNFIT as error:
            start = text[:40]
            raise CheckpointError(
                f"a manifest beginning with {start!r} cannot be read; restore or remove it"
            ) from error


def plain_key(key: CommitKey) -> dict[str, Any]:
    """Return a key in the form of records and intents: without its target, because they lie in the target."""
    return {"query_id": key.query_id, "batch_id": key.batch_id, "ctx": key.ctx}


def input_text(ranges: Iterable[SourceRange], offsets_digest: str) -> str:
    """Return text that is equal for equal input: made from the ranges, or the digest if there are none."""
    text = ranges_digest(ranges)
    return offsets_digest if text == _NO_RANGES else text


def _merged(
    schemas: Iterable[bytes | None], merge: Callable[[pa.Schema, pa.Schema], pa.Schema] = merge_schemas
) -> bytes | None:
    known = [pa.ipc.read_schema(pa.py_buffer(one)) for one in schemas if one is not None]
    if not known:
        return None
    merged = pa.schema([])
    for one in known:
        merged = merge(merged, one)
    return bytes(merged.serialize())


def _distinct(of_parts: Iterable[Sequence[bytes] | None]) -> Sequence[bytes] | None:
    known = [columns for columns in of_parts if columns is not None]
    return tuple(dict.fromkeys(one for columns in known for one in columns)) if known else None


def _columns(texts: Sequence[str] | None) -> Sequence[bytes] | None:
    return None if texts is None else tuple(map(base64.b64decode, texts))


def _described(schema: bytes | None) -> list[dict[str, str]]:
    """Return the names and types of the columns, for people who open the file."""
    if schema is None:
        return []
    return [{"name": one.name, "type": str(one.type)} for one in pa.ipc.read_schema(pa.py_buffer(schema))]


def _to_text(schema: bytes | None) -> str | None:
    return None if schema is None else base64.b64encode(schema).decode()


def _from_text(text: str | None) -> bytes | None:
    return None if text is None else _checked_schema(text)


# The manifests of a table have few schemas, and each is checked once.
@lru_cache(maxsize=256)
def _checked_schema(text: str) -> bytes:
    """Return the bytes of a schema in base64; one of `UNFIT` if they are none."""
    schema = base64.b64decode(text)
    _described(schema)
    return schema
