"""Converts rows of a DynamicFrame to columns of types that MySQL has, and to the text in which they are sent. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from gluepot.connectors.jdbc.mysql.columns import quoted
from gluepot.connectors.jdbc.staging import Stored, typed_columns
from gluepot.frames.cast.times import in_micros
from gluepot.frames.columns import Column, columns_of
from gluepot.frames.json_text import json_texts
from gluepot.frames.schema import choice_to_string

_TYPES = {
    pa.int8(): "TINYINT",
    pa.int16(): "SMALLINT",
    pa.int32(): "INT",
    pa.int64(): "BIGINT",
    pa.uint8(): "TINYINT UNSIGNED",
    pa.uint16(): "SMALLINT UNSIGNED",
    pa.uint32(): "INT UNSIGNED",
    pa.uint64(): "BIGINT UNSIGNED",
    pa.float32(): "FLOAT",
    pa.float64(): "DOUBLE",
    pa.bool_(): "TINYINT(1)",
    pa.string(): "LONGTEXT",
    pa.binary(): "LONGBLOB",
    pa.date32(): "DATE",
}
TEXT, JSON, WHOLE = "LONGTEXT", "JSON", "BIGINT"
_TIME = "DATETIME(6)"
_MOST_SCALE = 30
# A single precision number is sent in its shortest decimal form, which a double keeps. A JSON text becomes JSON in the
# table, which checks it.
_STAGED_AS = {"FLOAT": "DOUBLE", JSON: TEXT}
_EARLIEST, _LATEST = -62_135_596_800_000_000, 253_402_300_799_999_999  # the years 1 to 9999, in microseconds
_NO_DATE = "has a date before the year 1 or after the year 9999"
_US = {"s": 1_000_000, "ms": 1000, "us": 1}
_FIRST_DAY, _LAST_DAY = -719_162, 2_932_896


def unfit(batch: pa.RecordBatch) -> dict[int, str]:
    """Return which rows have a value that MySQL has not, and what it is: the row's index and a clause.

    Numbers that are none or infinite are such values, and dates before the year 1 or after 9999.
    """
    found: dict[int, str] = {}
    for name, array in zip(batch.schema.names, batch.columns, strict=True):
        for bad, said in ((_no_number(array), "is infinite or not a number"), (_no_date(array), _NO_DATE)):
            if bad is not None:
                for index in pc.indices_nonzero(pc.fill_null(bad, fill_value=False)).to_pylist():
                    found.setdefault(index, f"the field {name!r} {said}")
    return found


def readable(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Return rows that Python can hold: dates and times beyond those of MySQL are numbers of days or ticks."""
    arrays = []
    for array in batch.columns:
        bad = _no_date(array)
        is_readable = bad is None or not pc.any(bad).as_py()
        arrays.append(array if is_readable else array.view(pa.int32() if array.type == pa.date32() else pa.int64()))
    fields = [field.with_type(array.type) for field, array in zip(batch.schema, arrays, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=pa.schema(fields))


def _no_number(array: pa.Array) -> pa.Array | None:
    return pc.invert(pc.is_finite(array)) if pa.types.is_floating(array.type) else None


def _no_date(array: pa.Array) -> pa.Array | None:
    if pa.types.is_date32(array.type):
        return _beyond(pc.cast(array, pa.int32()), _FIRST_DAY, _LAST_DAY)
    if pa.types.is_timestamp(array.type) and array.type.unit != "ns":  # which ends in the year 2262
        us = _US[array.type.unit]
        return _beyond(pc.cast(array, pa.int64()), _EARLIEST // us, _LATEST // us)
    return None


def _beyond(numbers: pa.Array, least: int, most: int) -> pa.Array:
    return pc.or_(pc.less(numbers, least), pc.greater(numbers, most))


def stored(batch: pa.RecordBatch) -> Stored:
    """Return the rows as numbers, texts and bytes, and the type that a column of a new table gets for each.

    Structs, maps and lists become JSON texts. A choice becomes the text of its value. A time with a zone becomes the
    time in UTC. A column that has only nulls is left out.

    Args:
        batch: rows without those that are `unfit`.
    """
    columns = [_stored(column) for column in columns_of(choice_to_string(typed_columns(batch)))]
    arrays = [array for _, array, _ in columns]
    names = [name for name, _, _ in columns]
    return pa.RecordBatch.from_arrays(arrays, names=names), {name: kind for name, _, kind in columns}


def staged_type(kind: str) -> str:
    """Return the type of a staging table's column for that of a new table's column."""
    return _STAGED_AS.get(kind, kind)


def _stored(column: Column) -> tuple[str, pa.Array, str]:
    name, array, kind = column.field.name, column.array, column.field.type
    if pa.types.is_timestamp(kind):
        exact = pc.cast(in_micros(array), pa.timestamp("us", kind.tz))
        return name, pc.cast(pc.cast(exact, pa.timestamp("us")), pa.string()), _TIME
    if pa.types.is_date32(kind):
        return name, pc.cast(array, pa.string()), _TYPES[kind]
    if pa.types.is_boolean(kind):
        return name, pc.cast(array, pa.int8()), _TYPES[kind]
    if (known := _TYPES.get(kind)) is not None:
        return name, array, known
    if pa.types.is_decimal(kind):
        declared = f"DECIMAL({kind.precision},{kind.scale})" if 0 <= kind.scale <= _MOST_SCALE else TEXT
        return name, pc.cast(array, pa.string()), declared
    return name, json_texts(column), JSON if pa.types.is_nested(kind) else TEXT


def load_statement(table: str, types: Mapping[str, str], names: Sequence[str]) -> str:
    """Return the LOAD DATA statement for lines of `load_lines`.

    Args:
        table: the table, as it is quoted.
        types: type of each column of the table.
        names: the columns in the order of the lines.
    """
    hex_columns = [name for name in names if types[name] == "LONGBLOB"]
    fields = ", ".join(f"@h{hex_columns.index(name)}" if name in hex_columns else quoted(name) for name in names)
    changed = ", ".join(f"{quoted(name)} = UNHEX(@h{n})" for n, name in enumerate(hex_columns))
    return (
        f"LOAD DATA LOCAL INFILE 'rows' INTO TABLE {table} CHARACTER SET utf8mb4 FIELDS TERMINATED BY '\\t'"
        f" ESCAPED BY '\\\\' LINES TERMINATED BY '\\n' ({fields}){f' SET {changed}' if changed else ''}"
    )


def load_lines(batch: pa.RecordBatch) -> pa.StringArray:
    """Return a line of text for each row, as LOAD DATA reads it, with tabs between fields."""
    texts = [_escaped(_text(array), ("\\", "\\\\"), ("\t", "\\t"), ("\n", "\\n")) for array in batch.columns]
    last = pc.binary_join_element_wise(texts[-1], "\n", "", null_handling="replace", null_replacement="\\N")
    return pc.binary_join_element_wise(*texts[:-1], last, "\t", null_handling="replace", null_replacement="\\N")


def insert_start(table: str, names: Sequence[str]) -> bytes:
    """Return an INSERT statement up to its rows."""
    return f"INSERT INTO {table} ({', '.join(map(quoted, names))}) VALUES ".encode()


def insert_rows(batch: pa.RecordBatch) -> pa.StringArray:
    """Return the literals of each row, in parentheses and with a comma behind."""
    texts = [_literal(array) for array in batch.columns]
    first = pc.binary_join_element_wise("(", texts[0], "", null_handling="replace", null_replacement="NULL")
    last = pc.binary_join_element_wise(
        texts[-1] if len(texts) > 1 else first, "),", "", null_handling="replace", null_replacement="NULL"
    )
    whole = [first, *texts[1:-1], last] if len(texts) > 1 else [last]
    return pc.binary_join_element_wise(*whole, ",", null_handling="replace", null_replacement="NULL")


def pieces(rows: pa.StringArray, most_bytes: int) -> Iterator[memoryview]:
    """Yield the texts of all rows joined, in pieces of whole rows.

    Args:
        rows: text of each row, none null.
        most_bytes: length that no piece exceeds, unless a single row does.
    """
    _, offsets, data = rows.buffers()
    ends = np.frombuffer(offsets, np.int32)[rows.offset : rows.offset + len(rows) + 1]
    start = 0
    while start < len(rows):
        fitting = int(np.searchsorted(ends, ends[start] + most_bytes, side="right")) - 1
        stop = max(fitting, start + 1)
        yield memoryview(data)[ends[start] : ends[stop]]
        start = stop


def _text(array: pa.Array) -> pa.StringArray:
    if pa.types.is_binary(array.type):
        return pa.array([None if value is None else value.hex() for value in array.to_pylist()], pa.string())
    return array if pa.types.is_string(array.type) else pc.cast(array, pa.string())


def _literal(array: pa.Array) -> pa.StringArray:
    if not (pa.types.is_string(array.type) or pa.types.is_binary(array.type)):
        return _text(array)
    opening = "x'" if pa.types.is_binary(array.type) else "'"
    return pc.binary_join_element_wise(opening, _escaped(_text(array), ("\\", "\\\\"), ("'", "\\'")), "'", "")


def _escaped(texts: pa.StringArray, *replaced: tuple[str, str]) -> pa.StringArray:
    for old, new in replaced:
        texts = pc.replace_substring(texts, old, new)
    return texts
