"""Summaries of the manifests in rollups. Pure.

A stream with windows of one second publishes a million manifests in twelve days. A process that opens the table needs
only a little of them: which input they cover, how many rows, which columns. So the manifests of a thousand finished
batches are copied into one file, a rollup, with a summary. An index names the query's rollups and adds their summaries.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from typing import Any

import pyarrow as pa

from gluepot.commit.record import CommitRecord
from gluepot.commit.spans import Lane, Piece, joined_pieces, lane_of
from gluepot.connectors.files.partition_folders import partition_values
from gluepot.connectors.files.sink.layout import FOLDER_BATCHES, commits_from, first_of_folder
from gluepot.connectors.values import CommitKey
from gluepot.core.errors import CheckpointError
from gluepot.core.storage.port import Stretch
from gluepot.core.stored_json import UNFIT, parsed_json
from gluepot.frames.schema import choice_to_string, merge_schemas

_VERSION = 1


@dataclass(frozen=True, slots=True)
class Summary:
    """A summary of some writes of one query, which stands in for reading their manifests.

    Args:
        writes: number of writes.
        rows_out: rows in their data files.
        newest: the last batch, by ctx.
        newest_known: the last batch whose input is known; -1 if there is none.
        pieces: the input of the writes, by ctx and shard, in order and without overlaps.
        columns: distinct records of the table's columns, oldest first; see `gluepot.commit.recorded_columns`.
        schema: merged schema of the rows as readers of the files see them (Arrow IPC bytes); None if there is none.
        partition_keys: partition keys in the paths of data files, in order of first appearance.
    """

    writes: int = 0
    rows_out: int = 0
    newest: Mapping[str, int] = field(default_factory=dict)
    newest_known: int = -1
    pieces: Mapping[tuple[str, Lane], Sequence[Piece]] = field(default_factory=dict)
    columns: Sequence[bytes] = ()
    schema: bytes | None = None
    partition_keys: Sequence[str] = ()

    @classmethod
    def of(cls, records: Sequence[CommitRecord]) -> Summary:
        """Sum up the newest manifests of writes, in the order of their batches."""
        known = [one for one in records if one.ranges or one.offsets_digest]
        pieces: dict[tuple[str, Lane], list[Piece]] = {}
        for record in known:
            for one in record.ranges:
                piece = Piece(one.start, one.end, record.key, record.key.batch_id)
                pieces.setdefault((record.key.ctx, lane_of(one)), []).append(piece)
        newest: dict[str, int] = {}
        for record in records:
            newest[record.key.ctx] = max(newest.get(record.key.ctx, -1), record.key.batch_id)
        return cls(
            writes=len(records),
            rows_out=sum(one.rows_out for one in records),
            newest=newest,
            newest_known=max((one.key.batch_id for one in known), default=-1),
            pieces={lane: joined_pieces(some) for lane, some in pieces.items()},
            columns=tuple(dict.fromkeys(column for one in records for column in recorded_columns(one))),
            schema=to_ipc(merged_schema(records)),
            partition_keys=partition_keys(records),
        )

    def and_then(self, later: Summary) -> Summary:
        """Return the sum of this summary and a later one."""
        lanes = dict.fromkeys([*self.pieces, *later.pieces])
        return Summary(
            writes=self.writes + later.writes,
            rows_out=self.rows_out + later.rows_out,
            newest={
                ctx: max(self.newest.get(ctx, -1), later.newest.get(ctx, -1)) for ctx in {**self.newest, **later.newest}
            },
            newest_known=max(self.newest_known, later.newest_known),
            pieces={lane: joined_pieces([*self.pieces.get(lane, ()), *later.pieces.get(lane, ())]) for lane in lanes},
            columns=tuple(dict.fromkeys([*self.columns, *later.columns])),
            schema=to_ipc(merged(one for one in (self.schema, later.schema) if one is not None)),
            partition_keys=tuple(dict.fromkeys([*self.partition_keys, *later.partition_keys])),
        )

    def to_json(self) -> dict[str, Any]:
        """Return it as plain values."""
        return {
            "writes": self.writes,
            "rows_out": self.rows_out,
            "newest": dict(self.newest),
            "newest_known": self.newest_known,
            "pieces": [
                [ctx, *lane, [[one.start, one.end, one.first_batch, one.key.batch_id] for one in pieces]]
                for (ctx, lane), pieces in self.pieces.items()
            ],
            "columns": [base64.b64encode(one).decode() for one in self.columns],
            "schema": None if self.schema is None else base64.b64encode(self.schema).decode(),
            "partition_keys": list(self.partition_keys),
        }

    @classmethod
    def from_json(cls, plain: Mapping[str, Any], query_id: str) -> Summary:
        """Read the plain values back. Wrong values raise ValueError, KeyError, TypeError or AttributeError."""
        return cls(
            writes=int(plain["writes"]),
            rows_out=int(plain["rows_out"]),
            newest={str(ctx): int(batch) for ctx, batch in plain["newest"].items()},
            newest_known=int(plain["newest_known"]),
            pieces={
                (ctx, (source, stream, shard)): [
                    Piece(start, end, CommitKey(query_id, last, ctx), first) for start, end, first, last in pieces
                ]
                for ctx, source, stream, shard, pieces in plain["pieces"]
            },
            columns=tuple(map(base64.b64decode, plain["columns"])),
            schema=None if plain["schema"] is None else base64.b64decode(plain["schema"]),
            partition_keys=tuple(map(str, plain["partition_keys"])),
        )


@dataclass(frozen=True, slots=True)
class Index:
    """The list of the valid rollups of a query.

    Args:
        query_id: id of the query.
        number: number of the index, counted from 1; only the index with the highest number is valid.
        token: token of the driver that created it.
        files: the keys of the rollups, by the first batch of the thousand.
        summary: the summary of all rollups together.
    """

    query_id: str
    number: int = 0
    token: int = 0
    files: Mapping[int, str] = field(default_factory=dict)
    summary: Summary = field(default_factory=Summary)

    def holds(self, batch_id: int) -> bool:
        """Tell whether the manifests of a batch are in a rollup."""
        return first_of_folder(batch_id) in self.files

    def stretches(self) -> list[Stretch]:
        """Return the folders whose manifests are in rollups; adjacent folders form one stretch."""
        found: list[tuple[int, int]] = []
        for first in sorted(self.files):
            if found and found[-1][1] + FOLDER_BATCHES == first:
                found[-1] = found[-1][0], first
            else:
                found.append((first, first))
        return [(commits_from(self.query_id, first), commits_from(self.query_id, last)) for first, last in found]

    def to_bytes(self) -> bytes:
        """Return the JSON text."""
        plain = {
            "version": _VERSION,
            "query_id": self.query_id,
            "token": self.token,
            "files": {str(first): self.files[first] for first in sorted(self.files)},
            "summary": self.summary.to_json(),
        }
        return json.dumps(plain).encode()

    @classmethod
    def from_bytes(cls, number: int, text: bytes) -> Index:
        """Read the JSON text back.

        Raises:
            CheckpointError: the text is not an index, or a newer version of Gluepot wrote it.
        """
        try:
            plain = parsed_json(text)
            if plain["version"] != _VERSION:
                raise CheckpointError(f"it has version {plain['version']}; use a newer Gluepot")
            query_id = str(plain["query_id"])
            files = {int(first): str(key) for first, key in plain["files"].items()}
            return cls(query_id, number, int(plain["token"]), files, Summary.from_json(plain["summary"], query_id))
        except UNFIT as damaged:
            raise CheckpointError(f"({len(text)} bytes) is not as it was written; remove it") from damaged


def recorded_columns(record: CommitRecord) -> Sequence[bytes]:
    """Return the column records of a manifest; if its sink does not record columns, the manifest's schema."""
    if record.columns is not None:
        return record.columns
    return () if record.schema is None else (record.schema,)


def columns_since(records: Iterable[CommitRecord], emptied: frozenset[str]) -> Sequence[bytes]:
    """Return the distinct column records of the writes after a table was emptied, oldest first.

    A writer in another process may not have noticed, and then its manifests lack the columns that the table had before.
    They are taken from the schemas of the manifests.

    Args:
        records: manifests of the table.
        emptied: the data files that the table had when it was emptied.
    """
    later = [one for one in records if not emptied.issuperset(one.data_paths)]
    found = list(dict.fromkeys(column for one in later for column in recorded_columns(one)))
    named = {name for one in found for name in pa.ipc.read_schema(pa.py_buffer(one)).names}
    for schema in dict.fromkeys(one.schema for one in later if one.schema is not None):
        lacking = [field for field in pa.ipc.read_schema(pa.py_buffer(schema)) if field.name not in named]
        if lacking:
            found.append(bytes(pa.schema(lacking).serialize()))
    return list(dict.fromkeys(found))


def partition_keys(records: Iterable[CommitRecord]) -> tuple[str, ...]:
    """Return the partition keys in the paths of data files, in order of first appearance."""
    folders = dict.fromkeys(
        file.path.rpartition("/")[0] for record in records for file in record.files if not file.rejects
    )
    return tuple(dict.fromkeys(key for folder in folders for key in partition_values(folder)))


def merged_schema(records: Iterable[CommitRecord]) -> pa.Schema | None:
    """Return the merged columns of files as their readers see them; None if no manifest has a schema."""
    distinct = dict.fromkeys((one.schema, _is_text(one)) for one in records if one.schema is not None)
    return merged(_as_read(schema) if text else schema for schema, text in distinct)


def merged(schemas: Iterable[bytes]) -> pa.Schema | None:
    """Return the columns of several schemas (Arrow IPC bytes), in order of first appearance; None for no schemas."""
    distinct = [pa.ipc.read_schema(pa.py_buffer(one)) for one in dict.fromkeys(schemas)]
    return reduce(merge_schemas, distinct, pa.schema([])) if distinct else None


def to_ipc(schema: pa.Schema | None) -> bytes | None:
    """Return a schema as Arrow IPC bytes."""
    return None if schema is None else bytes(schema.serialize())


def _is_text(record: CommitRecord) -> bool:
    return any(not file.rejects and file.encoding["format"] != "parquet" for file in record.files)


def _as_read(schema: bytes) -> bytes:
    """Return the schema that readers of text files see: columns with a choice of types become text."""
    recorded = pa.ipc.read_schema(pa.py_buffer(schema))
    return bytes(choice_to_string(pa.RecordBatch.from_pylist([], schema=recorded)).schema.serialize())
