"""The file of one partition that a task is writing, and the next one when a file cannot take further rows.

One row group is encoded at a time, so the schema of a file is settled with its first row group: until then columns may
come as they like. A column, a type or a value that the open file has no place for closes it, and another file begins.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import pyarrow as pa

from gluepot.connectors.files.contracts import OutputFormat, RowWriter
from gluepot.connectors.files.sink.clashes import without_clashes
from gluepot.connectors.files.sink.key_instants import with_instants
from gluepot.connectors.files.sink.refused_rows import Origins
from gluepot.connectors.files.sink.staging import Stage, StagedOutput
from gluepot.connectors.values import StagedFile
from gluepot.core.errors import ConfigError
from gluepot.frames.schema import align, concat, merge_schemas, observed, unmarked
from gluepot.frames.sizes import memory_bytes
from gluepot.frames.time_zone import UTC, TimeZone


@dataclass(frozen=True, slots=True)
class FilePlan:
    """What all files of one task have in common.

    Args:
        format: encodes the rows.
        stage: opens the files.
        prefix: of every file's name.
        task: ordinal of the task.
        partition_keys: names that no column in a file may have.
        target_size_bytes: a file that has reached this gets no further rows.
        zone: the zone of timestamps in names of folders.
        renamed: columns that have other names in the files than they came with, and these; it grows.
    """

    format: OutputFormat
    stage: Stage
    prefix: str
    task: int
    partition_keys: Sequence[str]
    target_size_bytes: int
    zone: TimeZone = UTC
    renamed: dict[str, str] = field(default_factory=dict)

    def storable(self, rows: pa.RecordBatch) -> pa.RecordBatch:
        """Return the rows as they are encoded."""
        found = self.format.storable(rows)
        stored = without_clashes(found, self.partition_keys)
        if stored is not found:
            names = zip(stored.schema.names, found.schema.names, strict=True)
            self.renamed.update((new, name) for new, name in names if new != name)
        return stored


@dataclass(slots=True)
class _OpenFile:
    """A file with one row group or more.

    Args:
        merged: schema of all its rows as they came, choices and null columns included.
        stored: schema of the file.
    """

    output: StagedOutput
    writer: RowWriter
    merged: pa.Schema
    stored: pa.Schema
    rows: int = 0


@dataclass(slots=True)
class PartitionFile:
    """Takes the rows of one partition.

    Args:
        plan: shared by all partitions.
        path: the partition's folder, or an empty string.
        values: of the partition keys, as text.
        instants: what texts of timestamps in another zone than UTC stand for, by key, in microseconds from 1970 UTC.
    """

    plan: FilePlan
    path: str
    values: Sequence[str | None]
    instants: Mapping[str, int] = field(default_factory=dict)
    finished: list[StagedFile] = field(default_factory=list)
    schema: pa.Schema = field(default_factory=lambda: pa.schema([]))
    held_bytes: int = 0
    _held: list[tuple[pa.RecordBatch, Origins | None]] = field(default_factory=list)
    _open: _OpenFile | None = None

    @property
    def is_open(self) -> bool:
        """Whether a file has been started and not ended."""
        return self._open is not None

    def hold(self, rows: pa.RecordBatch, origins: Origins | None) -> None:
        """Take rows in, to be encoded with the next `encode`.

        Args:
            rows: of this partition.
            origins: of the rows; None where a file can hold them for sure, or where nobody knows them.
        """
        self._held.append((rows, origins))
        self.held_bytes += memory_bytes(rows)

    def encode(self) -> Iterator[tuple[pa.RecordBatch, Origins | None]]:
        """Write what is held as one row group; yield rows that have no column the format can hold."""
        if not self._held:
            return
        held = self._held
        rows = concat([rows for rows, _ in held])
        self._held, self.held_bytes = [], 0
        merged, stored = rows.schema, None
        if self._open is not None and self.plan.format.one_schema:
            merged = unmarked(merge_schemas(self._open.merged, observed(rows, keep_choices=True)))
            stored = self.plan.storable(align(rows, merged))
            if stored.schema != self._open.stored or not self._open.writer.takes(stored):
                self.end()
                merged, stored = rows.schema, None
        stored = stored or self.plan.storable(rows)
        if self.plan.format.one_schema and not stored.num_columns:
            yield from held
            return
        self._open = self._open or self._begin(merged, stored.schema)
        self._open.merged = merged
        self._open.writer.write(stored)
        self._open.rows += stored.num_rows
        # With marks: a column may be double in another write, and readers must know whether that holds its integers.
        self.schema = merge_schemas(self.schema, observed(stored))
        if self._open.output.size_bytes >= self.plan.target_size_bytes:
            self.end()

    def end(self) -> None:
        """Complete the open file, if there is one."""
        if self._open is None:
            return
        self._open.writer.close()
        encoding = with_instants(self.plan.format.encoding(self._open.stored), self.instants)
        self.finished.append(self._open.output.finish(self._open.rows, encoding))
        self._open = None

    def _begin(self, merged: pa.Schema, stored: pa.Schema) -> _OpenFile:
        _refuse_intervals(stored)
        name = self.plan.prefix + self.plan.format.ending(self.plan.task, len(self.finished))
        output = self.plan.stage.open(f"{self.path}/{name}" if self.path else name)
        return _OpenFile(output, self.plan.format.open(output, stored), merged, stored)


def _refuse_intervals(schema: pa.Schema) -> None:
    for name, kind in zip(schema.names, schema.types, strict=True):
        if _holds_interval(kind):
            raise ConfigError(
                f"The column '{name}' of type {kind} cannot be written, because Glue has no type for it; cast the"
                " column to a string or a number before it becomes a DynamicFrame."
            )


def _holds_interval(kind: pa.DataType) -> bool:
    return pa.types.is_duration(kind) or pa.types.is_interval(kind) or any(map(_holds_interval, _inner_types(kind)))


def _inner_types(kind: pa.DataType) -> list[pa.DataType]:
    return [kind.field(number).type for number in range(kind.num_fields)]
