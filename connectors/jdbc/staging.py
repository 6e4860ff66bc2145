"""The worker's side of a write: puts rows into staging tables, which nobody reads yet.

A staging table is for a database what a staged file is for a folder, so a `StagedFile` describes it: its name, the
target table and the number of rows. Each database has its own `StagingTables`.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Protocol
from uuid import uuid4

import pyarrow as pa

from gluepot.connectors.values import CommitKey, ManifestPart, StagedFile, dump_errors
from gluepot.core.errors import ConfigError
from gluepot.frames.chunk import Chunk, ErrorRecord
from gluepot.frames.schema import merge_schemas

PREFIX = "gluepot_stage_"
ORDINAL = "gluepot_ordinal"
ERROR_COLUMNS = ("raw", "stream", "shard", "position", "reason", "message")
ROWS_PER_TASK = 1 << 40
UNTYPED_LIST = "null[]"
"""The type of lists that are all empty or hold only nulls, in a database that has types of lists."""

# The rows of a batch in the form in which they are sent, and the database's type of each column.
Stored = tuple[pa.RecordBatch, dict[str, str]]


class StagingTables(Protocol):
    """How one database makes staging tables."""

    @property
    def ordinal_type(self) -> str:
        """The type of an integer of 64 bits."""

    @property
    def text_type(self) -> str:
        """The type of a text of any length."""

    def stored(self, batch: pa.RecordBatch) -> Stored:
        """Return rows of a frame in the form in which they are sent, and the type of each column.

        A column that has only nulls is left out.
        """

    def fill(self, name: str, types: Mapping[str, str], batches: Iterator[pa.RecordBatch]) -> int:
        """Make a table of such columns, put the batches into it, and return the number of rows."""


def staging_prefix(key: CommitKey) -> str:
    """Return the prefix of the names of one write's staging tables, which is the same for all batches."""
    write = f"{key.query_id}/{key.ctx}/{key.target}"
    return f"{PREFIX}{hashlib.blake2b(write.encode(), digest_size=8).hexdigest()}_"


def stage_rows(
    chunks: Iterator[Chunk], tables: StagingTables, *, key: CommitKey, target: str, task: int
) -> ManifestPart:
    """Stage every row and every error record.

    Args:
        chunks: rows and error records of one task.
        tables: what makes the tables.
        key: commit key of the write.
        target: the table that the rows go to in the end, as it is quoted.
        task: number of the task, by which rows of several tasks are ordered.
    """
    stage = _Stage(tables, key, target, task)
    rejected: list[ErrorRecord] = []
    stage.add_all(chunk.batch for chunk in _aside(chunks, rejected))
    files = [*stage.files]
    if rejected:
        files.append(stage.add_rejects(rejected))
    return ManifestPart(
        files=files,
        schema=None if stage.seen is None else stage.seen.serialize().to_pybytes(),
        rows_out=stage.rows,
        rejected=dict(Counter(error.reason for error in rejected)),
    )


def noting(chunks: Iterator[Chunk], raised: list[Exception]) -> Iterator[Chunk]:
    """Yield chunks and note what they raise, because a database's driver may know it only as text."""
    try:
        yield from chunks
    except Exception as error:
        raised.append(error)
        raise


def typed_columns(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Return the columns that have a type; an empty list or struct keeps its place in a column without any value."""
    return batch.select([field.name for field in batch.schema if not pa.types.is_null(field.type)])


def merged_types(staged: Sequence[StagedFile], text_type: str) -> dict[str, str]:
    """Return the columns of all staging tables; a column with different types becomes text, which fits all.

    Lists without any value fit every type of list.
    """
    merged: dict[str, str] = {}
    for one in staged:
        for name, kind in one.encoding["types"].items():
            before = merged.get(name, kind)
            is_list = UNTYPED_LIST in {before, kind} and (before + kind).count("[]") == 2
            if is_list:
                merged[name] = kind if before == UNTYPED_LIST else before
            else:
                merged[name] = kind if before == kind else text_type
    del merged[ORDINAL]
    return merged


def null_columns(staged: Sequence[StagedFile]) -> set[str]:
    """Return the columns of the frame that have a null in every row, and are in no staging table."""
    return {name for one in staged for name in one.encoding["nulls"]}.difference(
        *(one.encoding["types"] for one in staged)
    )


def written_columns(
    staged: Sequence[StagedFile],
    text_type: str,
    columns: Mapping[str, object],
    where: str,
    fills_itself: Collection[str] = (),
) -> dict[str, str]:
    """Return the table's column for each column of the frame.

    A column that is null in every row is written like any other one, so that a record gives the same row whatever the
    other rows of its batch are. It is left out only if the table does not have it, or numbers or computes it itself.

    Args:
        staged: the staged rows.
        text_type: the type of a text of any length.
        columns: the columns of the table.
        where: the table, for messages.
        fills_itself: columns for which the database takes no null, because it numbers or computes them.

    Raises:
        ConfigError: the table does not have a column, or none of its columns is written.
    """
    matched = {name: match_column(name, columns, where) for name in merged_types(staged, text_type)}
    known = {name.lower() for name in columns}
    for name in sorted(null_columns(staged)):
        if name.lower() in known and (column := match_column(name, columns, where)) not in matched.values():
            matched |= {} if column in fills_itself else {name: column}
    if not matched:
        raise ConfigError(
            f"No row for {where} has a value for a column of the table, so there is nothing to write; filter such rows"
            " out."
        )
    return matched


def match_column(name: str, columns: Mapping[str, object], where: str) -> str:
    """Return the column of a name: exactly that name, or else the only one that differs in letter case alone.

    Raises:
        ConfigError: there is none, or there are several.
    """
    alike = [name] if name in columns else [one for one in columns if one.lower() == name.lower()]
    if len(alike) != 1:
        raise ConfigError(
            f"{where} has no column {name!r}; it has {', '.join(columns)}. Add the column, or drop or rename the field."
        )
    return alike[0]


def _aside(chunks: Iterator[Chunk], rejected: list[ErrorRecord]) -> Iterator[Chunk]:
    for chunk in chunks:
        rejected.extend(chunk.errors)
        yield chunk


@dataclass(slots=True)
class _Stage:
    tables: StagingTables
    key: CommitKey
    target: str
    task: int
    rows: int = 0
    seen: pa.Schema | None = None
    files: list[StagedFile] = field(default_factory=list)
    nulls: set[str] = field(default_factory=set)

    def add_all(self, batches: Iterator[pa.RecordBatch]) -> None:
        """Write consecutive batches of one schema to one staging table each."""
        given = (batch for batch in batches if batch.num_rows)
        for types, run in groupby(map(self._numbered, given), key=lambda one: one[1]):
            self.files.append(self._fill(types, (rows for rows, _ in run), rejects=False))

    def add_rejects(self, errors: Sequence[ErrorRecord]) -> StagedFile:
        rows, types = self.tables.stored(dump_errors(errors))
        columns = {name: types.get(name, self.tables.text_type) for name in ERROR_COLUMNS}
        whole = [rows.column(name) if name in types else pa.nulls(rows.num_rows, pa.string()) for name in columns]
        return self._fill(columns, iter([pa.RecordBatch.from_arrays(whole, names=list(columns))]), rejects=True)

    def _numbered(self, batch: pa.RecordBatch) -> Stored:
        self.seen = batch.schema if self.seen is None else merge_schemas(self.seen, batch.schema)
        rows, types = self.tables.stored(batch)
        self.nulls.update(name for name in batch.schema.names if name not in types)
        first = self.task * ROWS_PER_TASK + self.rows
        self.rows += batch.num_rows
        ordinals = pa.array(range(first, first + batch.num_rows), pa.int64())
        # Not `append_column`, because a batch without any column has no rows.
        numbered = pa.RecordBatch.from_arrays([*rows.columns, ordinals], [*rows.schema.names, ORDINAL])
        return numbered, {**types, ORDINAL: self.tables.ordinal_type}

    def _fill(self, types: dict[str, str], batches: Iterator[pa.RecordBatch], *, rejects: bool) -> StagedFile:
        name = f"{staging_prefix(self.key)}{uuid4().hex[:16]}"
        rows = self.tables.fill(name, types, batches)
        return StagedFile(name, self.target, 0, rows, 0, rejects, {"types": types, "nulls": sorted(self.nulls)})
