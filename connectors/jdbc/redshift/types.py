"""Converts rows to what COPY reads from Parquet, and staged columns to the types of a table. Pure.

Each staged column has a kind: the type of the column that a new table gets. Most kinds are staged as such. A nested
value is staged as JSON text, and becomes SUPER when it moves into the table.
"""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from gluepot.connectors.jdbc.staging import typed_columns
from gluepot.frames.chunk import ErrorRecord
from gluepot.frames.columns import Column, columns_of
from gluepot.frames.json_text import json_bytes, json_texts
from gluepot.frames.rows import plain_values
from gluepot.frames.schema import choice_to_string

MOST_TEXT_BYTES = 65_535  # Redshift's VARCHAR
MOST_BINARY_BYTES = 16_777_216  # Redshift's VARBYTE
TEXT = f"varchar({MOST_TEXT_BYTES})"
BINARY = f"varbyte({MOST_BINARY_BYTES})"
SUPER = "super"

_KINDS = {
    pa.int8(): "smallint",
    pa.int16(): "smallint",
    pa.int32(): "integer",
    pa.int64(): "bigint",
    pa.uint8(): "smallint",
    pa.uint16(): "integer",
    pa.uint32(): "bigint",
    pa.float32(): "real",
    pa.float64(): "double precision",
    pa.bool_(): "boolean",
    pa.string(): TEXT,
    pa.large_string(): TEXT,
    pa.binary(): BINARY,
    pa.large_binary(): BINARY,
    pa.date32(): "date",
}
# COPY wants the physical types of Parquet, which has no integers below 32 bits.
_SENT_AS = {
    pa.int8(): pa.int32(),
    pa.int16(): pa.int32(),
    pa.uint8(): pa.int32(),
    pa.uint16(): pa.int32(),
    pa.uint32(): pa.int64(),
    pa.large_string(): pa.string(),
    pa.large_binary(): pa.binary(),
}
TOO_LARGE = "value_too_large"
NUL_CHARACTER = "nul_character"


@dataclass(frozen=True, slots=True)
class Stored:
    """Rows as they are staged.

    Args:
        rows: columns of types that COPY takes.
        kinds: the kind of each column.
        count: number of rows, also if there is no column.
        rejected: the rows that Redshift cannot hold.
    """

    rows: pa.RecordBatch
    kinds: dict[str, str]
    count: int
    rejected: list[ErrorRecord]


def stored(batch: pa.RecordBatch) -> Stored:
    """Return rows as they are staged; a column that has only nulls is left out.

    Rows with a text, a nested value or bytes that Redshift cannot hold are set aside.
    """
    rows = choice_to_string(typed_columns(batch))
    columns = [_stored(column) for column in columns_of(rows)]
    kinds = {name: kind for name, _, kind in columns}
    made = pa.RecordBatch.from_arrays([array for _, array, _ in columns], names=list(kinds))
    reasons = _unfit(made, kinds)
    if not reasons:
        return Stored(made, kinds, batch.num_rows, [])
    values = [plain_values(column) for column in columns_of(rows)]
    rejected = [
        ErrorRecord(json_bytes({name: of[row] for name, of in zip(rows.schema.names, values, strict=True)}), *why)
        for row, why in sorted(reasons.items())
    ]
    fits = pa.array([row not in reasons for row in range(made.num_rows)])
    return Stored(made.filter(fits), kinds, made.num_rows - len(reasons), rejected)


def _unfit(rows: pa.RecordBatch, kinds: dict[str, str]) -> dict[int, tuple[str, str]]:
    """Return reason and message of each row that Redshift cannot hold."""
    found: dict[int, tuple[str, str]] = {}
    for name, array in zip(rows.schema.names, rows.columns, strict=True):
        if kinds[name] not in {TEXT, SUPER, BINARY}:
            continue
        most = MOST_BINARY_BYTES if kinds[name] == BINARY else MOST_TEXT_BYTES
        # A look at all bytes of the column comes first, because nearly no column has such a value.
        lengths = pc.binary_length(array)
        if (pc.max(lengths).as_py() or 0) > most:
            for row in pc.indices_nonzero(pc.greater(lengths, most)).to_pylist():
                message = f"{name} has {lengths[row]} bytes, and Redshift holds at most {most}"
                found.setdefault(row, (TOO_LARGE, message))
        if kinds[name] != BINARY and _has_nul(array):
            for row in pc.indices_nonzero(pc.match_substring(array, "\0")).to_pylist():
                found.setdefault(row, (NUL_CHARACTER, f"{name} has a NUL character, which Redshift cannot hold"))
    return found


def _has_nul(array: pa.Array) -> bool:
    """Whether the bytes of a column of texts have a NUL, be it in a row of the array or in one that was sliced off."""
    data = array.buffers()[2]
    return data is not None and data.to_pybytes().find(b"\0") >= 0


def _stored(column: Column) -> tuple[str, pa.Array, str]:
    name, kind = column.field.name, column.field.type
    if (known := _KINDS.get(kind)) is not None:
        sent = _SENT_AS.get(kind)
        return name, column.array if sent is None else pc.cast(column.array, sent), known
    if pa.types.is_timestamp(kind):
        return name, pc.cast(pc.cast(column.array, pa.timestamp("us", kind.tz)), pa.timestamp("us")), "timestamp"
    if pa.types.is_decimal128(kind) and 0 <= kind.scale <= kind.precision:
        return name, column.array, f"numeric({kind.precision},{kind.scale})"
    return name, json_texts(column), SUPER if pa.types.is_nested(kind) else TEXT


def staged_type(kind: str) -> str:
    """Return the type of a staging table's column."""
    return {SUPER: TEXT, "smallint": "integer"}.get(kind, kind)


def merged_kinds(several: list[dict[str, str]]) -> dict[str, str]:
    """Return the columns of all staged files; a column of different kinds becomes text, which fits all."""
    merged: dict[str, str] = {}
    for kinds in several:
        for name, kind in kinds.items():
            merged[name] = kind if merged.get(name, kind) == kind else TEXT
    return merged


def converted(expression: str, kind: str, target: str, *, truncates: bool = False) -> str:
    """Return the SQL that converts a staged column to the type of the table's column.

    A text that is too long for its column is an error, unless `truncates` asks to cut it: a cast to `varchar(n)` cuts
    silently in Redshift, so texts are not cast otherwise.

    Args:
        expression: the staged column.
        kind: its kind.
        target: the table's type, as `format_type` or `converted` names it.
        truncates: see above.
    """
    if is_text(target):
        if kind == "boolean":
            text = f"CASE WHEN {expression} THEN 'true' WHEN NOT {expression} THEN 'false' END"
        else:
            text = expression if kind in {TEXT, SUPER} else f"{expression}::varchar"
        return f"({text})::{target}" if truncates and "(" in target else text
    if target == SUPER:
        if kind == SUPER:
            return f"JSON_PARSE({expression})"
        return f"{expression}::varchar::super" if kind in {"date", "timestamp"} else f"{expression}::super"
    return expression if kind == target or (kind == BINARY and is_binary(target)) else f"{expression}::{target}"


def rounds(kind: str, target: str) -> bool:
    """Whether a cast of a staged column to the type of the table's column may round a value."""
    has_fractions = kind in {"real", "double precision", "timestamp"} or kind.startswith("numeric")
    return (
        has_fractions
        and kind != target
        and not is_text(target)
        and target != SUPER
        and target not in _WIDER.get(kind, ())
    )


_WIDER = {"real": {"double precision"}, "timestamp": {"timestamp without time zone", "timestamp with time zone"}}


def is_text(target: str) -> bool:
    """Whether a type holds text."""
    return target.startswith(("character", "varchar", "char(", "bpchar", "text"))


def is_binary(target: str) -> bool:
    """Whether a type holds bytes."""
    return target.startswith(("binary varying", "varbyte"))


def fingerprint(expression: str, target: str) -> str:
    """Return SQL of a text that is equal for equal values of a column, and empty for null.

    Args:
        expression: the column.
        target: its type.
    """
    if target == "boolean":
        text = f"CASE WHEN {expression} THEN 't' ELSE 'f' END"
    elif target == SUPER:
        text = f"JSON_SERIALIZE({expression})"
    elif is_binary(target):
        text = f"TO_HEX({expression})"
    else:
        text = expression if is_text(target) else f"{expression}::varchar"
    return f"CASE WHEN {expression} IS NULL THEN '' ELSE MD5({text}) END"
