"""A chunk: records with one Arrow schema, and the errors that occurred while they were made.

A choice (one field, several types) is an Arrow struct with one child per type, named as Glue names types
(`int`, `long`, `double`, `string`, ...), of which at most one is set in a row. The *field* that holds it carries the
metadata `CHOICE`, at any depth, so that a struct in the user's data is never mistaken for a choice.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol, TypeAlias, TypeGuard

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from gluepot.core.errors import ConfigError

CHOICE_KEY = b"gluepot.kind"
CHOICE = {CHOICE_KEY: b"choice"}

# Kafka's offsets fit into numpy's integers; Kinesis' sequence numbers do not.
_LARGEST = 2**63


@dataclass(frozen=True, slots=True)
class Coordinates:
    """Where in the source a record came from; all None when the record went through a DataFrame.

    Args:
        stream: topic, stream or file.
        shard: partition or shard.
        position: offset, sequence number or byte.
    """

    stream: str | None = None
    shard: str | None = None
    position: str | None = None


Taken: TypeAlias = npt.NDArray[np.int64] | pa.BooleanArray


class Records(Protocol):
    """Records of one shard that can be read again."""

    def again(self, first: int, last: int) -> Iterator[tuple[Sequence[int], Sequence[bytes | None]]]:
        """Yield positions and payloads in ascending order of the positions, batch by batch.

        Args:
            first: a position; earlier records may come as well.
            last: a position; later records may come as well.

        Raises:
            DataLoss: the records are no longer there.
            TransientError: the source was away for longer than its deadline.
        """


@dataclass(frozen=True, slots=True)
class Origin:
    """Says which record each row of a chunk was made from. It holds no payloads; they can be read again.

    Args:
        records: reads the records again.
        stream: topic or stream.
        shard: partition or shard.
        given: the positions of the rows that were decoded.
        taken: successive selections of rows, each from the result of the one before. Positions are rarely needed, so
            they are calculated from these on demand.
    """

    records: Records
    stream: str
    shard: str
    given: Sequence[int]
    taken: tuple[Taken, ...] = ()

    def of(self, rows: Taken) -> Origin:
        """Return the origin of some of the rows.

        Args:
            rows: the indices of the rows, possibly with repetitions, or for each row whether it is selected.
        """
        return replace(self, taken=(*self.taken, rows))

    def positions(self) -> npt.NDArray[Any]:
        """Return the position of each row; as Python integers if they exceed 64 bits."""
        given = self.given
        positions: npt.NDArray[Any] = (
            np.arange(given.start, given.stop) if _is_small(given) else np.array([*given], dtype=object)
        )
        for rows in self.taken:
            indices = np.flatnonzero(rows.to_numpy(zero_copy_only=False)) if isinstance(rows, pa.Array) else rows
            positions = positions[indices]
        return positions


def _is_small(positions: Sequence[int]) -> TypeGuard[range]:
    return isinstance(positions, range) and positions.stop < _LARGEST


@dataclass(frozen=True, slots=True)
class CallSite:
    """The call of a transform, as error records describe it (docs/glue 6.5).

    Args:
        site: file, line and function of the script.
        info: what the script passed as `info`.
    """

    site: str = ""
    info: str = ""


@dataclass(frozen=True, slots=True)
class ErrorRecord:
    """A record that could not continue, with everything needed to replay it.

    Args:
        raw: the bytes exactly as they came, or as JSON if a transform refused them; None for a record without a value.
        reason: a short fixed word, fit for a metric's label, e.g. `malformed_json`.
        message: one sentence for a person.
        at: where it came from.
        callsite: the transform that refused it; None for a record that could not be read.
        stack_trace: stack trace of the user's function, if that raised. It does not count when errors are compared.
    """

    raw: bytes | None
    reason: str
    message: str
    at: Coordinates = Coordinates()
    callsite: CallSite | None = None
    stack_trace: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Chunk:
    """Good records as one Arrow batch, bad ones beside it.

    Args:
        batch: zero or more rows, zero or more columns.
        errors: the records that failed while this chunk was made.
        origin: the origin of the rows; None if it is not known any more, as after a step that does not pass it on.
        misfits: how many values became null because they are not of the declared type, by field, where the records
            were decoded or in the steps since.
    """

    batch: pa.RecordBatch
    errors: Sequence[ErrorRecord] = field(default=())
    origin: Origin | None = field(default=None, compare=False)
    misfits: Mapping[str, int] = field(default_factory=dict, compare=False)

    def taken(self, rows: npt.NDArray[np.int64]) -> Chunk:
        """Return the chunk with only some of its rows, given by their indices; the errors stay."""
        origin = None if self.origin is None else self.origin.of(rows)
        return replace(self, batch=self.batch.take(pa.array(rows, pa.int64())), origin=origin)

    def filtered(self, wanted: pa.BooleanArray) -> Chunk:
        """Return the chunk with only the rows for which `wanted` is true; the errors stay."""
        origin = self.origin
        if origin is not None:
            origin = origin.of(wanted)
        return replace(self, batch=self.batch.filter(wanted), origin=origin)


def with_columns(
    chunk: Chunk, positions: Sequence[int], beside: pa.RecordBatch, distinct: Collection[str] = ()
) -> Chunk:
    """Return a chunk with further columns of the records that it was decoded from, without the records of its errors.

    A further column takes the place of a field of the same name: records have each name once, and the last counts.
    Columns in `distinct` take no place; a field of their name is an error.

    Args:
        chunk: its errors carry the positions of the records that are missing in its rows.
        positions: of all records.
        beside: one row per record.
        distinct: names that no field may have, in any letter case.

    Raises:
        ConfigError: a field has one of these names.
    """
    if distinct:
        _check_distinct(chunk.batch.schema.names, distinct)
    bad = {error.at.position for error in chunk.errors}
    if bad and beside.num_columns:
        beside = beside.filter(pa.array([str(position) not in bad for position in positions], pa.bool_()))
    batch = chunk.batch
    for column_field, column in zip(beside.schema, beside.columns, strict=True):
        at = batch.schema.get_field_index(column_field.name)
        batch = batch.append_column(column_field, column) if at < 0 else batch.set_column(at, column_field, column)
    return replace(chunk, batch=batch)


def _check_distinct(fields: Sequence[str], distinct: Collection[str]) -> None:
    by_folded = {name.casefold(): name for name in distinct}
    for field_name in fields:
        if column := by_folded.get(field_name.casefold()):
            raise ConfigError(
                f"Records have a field {field_name!r}, and addRecordColumns adds a column {column!r}; give the column"
                f" another name in addRecordColumns, such as {column} AS source_{column}."
            )


def is_choice(arrow_field: pa.Field) -> bool:
    """Return whether a field holds a choice rather than a struct of the user's data."""
    metadata = arrow_field.metadata
    return bool(metadata) and metadata.get(CHOICE_KEY) == CHOICE[CHOICE_KEY]
