"""A chunk: records of one Arrow schema with the errors met on the way to them.

A choice (one field, several types) is an Arrow struct with one child per type, named as Glue names types
(`int`, `long`, `double`, `string`, ...), of which at most one is set in a row. The *field* that holds it carries the
metadata `CHOICE`, at any depth, so that a struct of the user's own is never mistaken for one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import pyarrow as pa

CHOICE_KEY = b"gluepot.kind"
CHOICE = {CHOICE_KEY: b"choice"}


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


@dataclass(frozen=True, slots=True)
class CallSite:
    """The call of a transform, as error records tell of it (glue-api 6.5).

    Args:
        site: file, line and function of the script.
        info: what the script passed as `info`.
    """

    site: str = ""
    info: str = ""


@dataclass(frozen=True, slots=True)
class ErrorRecord:
    """A record that could not go on, with everything needed to replay it.

    Args:
        raw: the bytes exactly as they came, or as JSON if a transform refused them; None for a record without a value.
        reason: a short fixed word, fit for a metric's label, e.g. `malformed_json`.
        message: one sentence for a person.
        at: where it came from.
        callsite: the transform that refused it; None for a record that could not be read.
        stack_trace: of the user's function, where that raised; no part of what makes two errors equal.
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
        errors: what was diverted while this chunk was made.
    """

    batch: pa.RecordBatch
    errors: Sequence[ErrorRecord] = field(default=())


def with_columns(chunk: Chunk, positions: Sequence[int], beside: pa.RecordBatch) -> Chunk:
    """Return a chunk with further columns of the records it was decoded from, those of its errors left out.

    Args:
        chunk: its errors carry the positions of the records that are missing in its rows.
        positions: of all records.
        beside: one row per record.
    """
    bad = {error.at.position for error in chunk.errors}
    if bad and beside.num_columns:
        beside = beside.filter(pa.array([str(position) not in bad for position in positions], pa.bool_()))
    batch = chunk.batch
    for column_field, column in zip(beside.schema, beside.columns, strict=True):
        batch = batch.append_column(column_field, column)
    return Chunk(batch, chunk.errors)


def is_choice(arrow_field: pa.Field) -> bool:
    """Tell whether a field holds a choice rather than a struct of the user's."""
    metadata = arrow_field.metadata
    return bool(metadata) and metadata.get(CHOICE_KEY) == CHOICE[CHOICE_KEY]
