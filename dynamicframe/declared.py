"""JSON records read into the schema a script declares for them, as Spark's `from_json` reads in its permissive mode.

What a record becomes depends on that record alone, never on its neighbours, so that every way of reading a range gives
equal rows. Fields are matched by their exact names; those not declared disappear, missing ones are null, and a value
that does not fit is null. The rules per type are those of Spark's `JacksonParser`, but for lists: there one element
that does not fit makes the whole list null, here only that element.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import pyarrow as pa

from dynamicframe.cast import try_cast
from dynamicframe.chunk import Chunk, Coordinates, ErrorRecord, is_choice
from dynamicframe.columns import (
    Column,
    batch_of,
    children_of,
    items_of,
    map_values_of,
    struct_column,
    validity,
    with_items,
    with_map_values,
)
from dynamicframe.json_decoder import JsonDecoder
from dynamicframe.json_record import Refusal, read_record
from etlcore.errors import ConfigError

# Where one record does not fit, its neighbours in a piece are read value by value too, some 10 us each.
_PIECE_RECORDS = 512

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_LONG_LIMIT = 2**63
# The texts Spark takes for a double while `allowNonNumericNumbers` is on, as it is unless told.
_SPECIAL = {name: float(name) for name in ("NaN", "INF", "+INF", "-INF", "Infinity", "+Infinity", "-Infinity")}


@dataclass(frozen=True, slots=True)
class _Fraction:
    """A JSON number with a fraction or an exponent, as it was written."""

    text: str


class DeclaredDecoder:
    """Decodes records into one fixed schema.

    A chunk whose records all have the declared types is read as columns; the odd ones are read value by value. Decimals
    and maps are always read the second way: the first has neither exact fractions nor keys that are data.

    Args:
        declared: the fields, of the types `refuse_unreadable` lets pass.

    Attributes:
        schema: of every chunk; `declared` with all fields nullable.
    """

    def __init__(self, declared: pa.Schema) -> None:
        self._declared = pa.struct(list(declared))
        self._as_read = _type_as_read(self._declared)
        self._in_columns = _has_columns(self._declared)
        self.schema: pa.Schema = self._batch([]).schema

    def decode(self, values: Sequence[bytes | None], positions: Sequence[int], stream: str, shard: str) -> Chunk:
        """Decode records of one shard.

        Args:
            values: payloads, each one JSON object.
            positions: each record's offset.
            stream: topic or stream.
            shard: partition or shard.

        Returns:
            The good records in order, in exactly `schema`; the others as errors, in order.
        """
        if self._in_columns:
            chunk = self._columns_of(values, positions, stream, shard)
            if chunk is not None:
                return chunk
            if len(values) > _PIECE_RECORDS:
                cuts = [slice(at, at + _PIECE_RECORDS) for at in range(0, len(values), _PIECE_RECORDS)]
                pieces = [self.decode(values[cut], positions[cut], stream, shard) for cut in cuts]
                errors = [error for piece in pieces for error in piece.errors]
                return Chunk(pa.concat_batches([piece.batch for piece in pieces]), errors)
        return self._one_by_one(values, positions, stream, shard)

    def _columns_of(
        self, values: Sequence[bytes | None], positions: Sequence[int], stream: str, shard: str
    ) -> Chunk | None:
        # A new one each time: the schema of a decoder remembers other records.
        chunk = JsonDecoder(pa.schema(list(self._as_read))).decode(values, positions, stream, shard)
        found = struct_column("", _columns(chunk.batch), chunk.batch.num_rows)
        if not _agrees(found.field, self._as_read):
            return None
        return Chunk(self._batch_of(found), chunk.errors)

    def _one_by_one(
        self, values: Sequence[bytes | None], positions: Sequence[int], stream: str, shard: str
    ) -> Chunk:
        documents, errors = [], []
        for value, position in zip(values, positions, strict=True):
            match read_record(value):
                case Refusal(reason, message):
                    errors.append(ErrorRecord(value, reason, message, Coordinates(stream, shard, str(position))))
                case _:
                    assert value is not None  # refused
                    documents.append(json.loads(value, parse_float=_Fraction))
        return Chunk(self._batch(documents), errors)

    def _batch(self, documents: Sequence[Mapping[str, Any]]) -> pa.RecordBatch:
        read = [_value(document, self._declared) for document in documents]
        return self._batch_of(Column(pa.field("", self._as_read), pa.array(read, self._as_read)))

    def _batch_of(self, found: Column) -> pa.RecordBatch:
        return batch_of(children_of(_taken(found, pa.field("", self._declared))), len(found.array))


def refuse_unreadable(declared: pa.Schema) -> None:
    """Make sure that every declared type is one that JSON can be read into.

    Raises:
        ConfigError: one is not, a map has keys other than text, or a name is given twice.
    """
    for field in declared:
        _refuse(field.name, field.type)
    _refuse_twice("schema", declared.names)


def _refuse(path: str, kind: pa.DataType) -> None:
    if pa.types.is_struct(kind):
        _refuse_twice(path, [child.name for child in kind])
        for child in kind:
            _refuse(f"{path}.{child.name}", child.type)
    elif pa.types.is_list(kind):
        _refuse(path, kind.value_type)
    elif pa.types.is_map(kind):
        if not pa.types.is_string(kind.key_type):
            raise ConfigError(f"Field {path} of the schema is a map with keys of {kind.key_type}; JSON has text keys.")
        _refuse(path, kind.item_type)
    elif not any(is_kind(kind) for is_kind in _READABLE):
        raise ConfigError(f"Field {path} of the schema is a {kind}, which JSON cannot be read into; declare a STRING.")


def _refuse_twice(path: str, names: Sequence[str]) -> None:
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise ConfigError(f"The schema has field {twice} twice in {path}; leave one of them out.")


_READABLE: Sequence[Callable[[pa.DataType], bool]] = (
    pa.types.is_string, pa.types.is_boolean, pa.types.is_signed_integer, pa.types.is_floating, pa.types.is_decimal,
    pa.types.is_date32, pa.types.is_timestamp, pa.types.is_binary,
)  # fmt: skip


def _type_as_read(kind: pa.DataType) -> pa.DataType:
    """Return the type in which values come out of JSON, before their cast to `kind`."""
    if pa.types.is_struct(kind):
        return pa.struct([pa.field(child.name, _type_as_read(child.type)) for child in kind])
    if pa.types.is_list(kind):
        return pa.list_(_type_as_read(kind.value_type))
    if pa.types.is_map(kind):
        return pa.map_(pa.string(), _type_as_read(kind.item_type))
    if pa.types.is_integer(kind):
        return pa.int64()
    if pa.types.is_floating(kind):
        return pa.float64()
    return kind if pa.types.is_boolean(kind) else pa.string()


def _has_columns(kind: pa.DataType) -> bool:
    """Tell whether the columns JsonDecoder gives can hold values of a type exactly."""
    if pa.types.is_struct(kind):
        return all(_has_columns(child.type) for child in kind)
    if pa.types.is_list(kind):
        return _has_columns(kind.value_type)
    return not pa.types.is_map(kind) and not pa.types.is_decimal(kind)


def _columns(batch: pa.RecordBatch) -> list[Column]:
    return [Column(field, array) for field, array in zip(batch.schema, batch.columns, strict=True)]


def _agrees(found: pa.Field, as_read: pa.DataType) -> bool:
    """Tell whether every declared field was found with the type it was to be read as."""
    kind = found.type
    if is_choice(found):
        return False
    if pa.types.is_struct(as_read):
        if not pa.types.is_struct(kind):
            return False
        children = {child.name: child for child in kind}
        return all(child.name in children and _agrees(children[child.name], child.type) for child in as_read)
    if pa.types.is_list(as_read):
        return bool(pa.types.is_list(kind)) and _agrees(kind.value_field, as_read.value_type)
    return bool(kind == as_read)


def _taken(found: Column, declared: pa.Field) -> Column:
    """Return the declared part of a column, in the declared type, under the declared name."""
    kind = declared.type
    if pa.types.is_struct(kind):
        by_name = {child.field.name: child for child in children_of(found)}
        children = [_taken(by_name[child.name], child) for child in kind]
        return struct_column(declared.name, children, len(found.array), validity(found.array))
    if pa.types.is_list(kind):
        return with_items(found, _taken(items_of(found), kind.value_field)).renamed(declared.name)
    if pa.types.is_map(kind):
        return with_map_values(found, _taken(map_values_of(found), kind.item_field)).renamed(declared.name)
    cast = _from_base64 if pa.types.is_binary(kind) else try_cast
    return Column(pa.field(declared.name, kind), cast(found.array, kind))


def _from_base64(texts: pa.StringArray, target: pa.DataType) -> pa.Array:
    return pa.array([None if text is None else _decoded(text) for text in texts.to_pylist()], target)


def _decoded(text: str) -> bytes | None:
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return None


def _value(value: Any, kind: pa.DataType) -> Any:
    """Return a JSON value as what pyarrow takes for `_type_as_read(kind)`; None where it does not fit."""
    if pa.types.is_struct(kind):
        return {child.name: _value(value.get(child.name), child.type) for child in kind} if _is(dict, value) else None
    if pa.types.is_list(kind):
        return [_value(item, kind.value_type) for item in value] if _is(list, value) else None
    if pa.types.is_map(kind):
        return [(key, _value(item, kind.item_type)) for key, item in value.items()] if _is(dict, value) else None
    if pa.types.is_string(kind):
        return _text(value)
    if pa.types.is_boolean(kind):
        return value if _is(bool, value) else None
    if pa.types.is_integer(kind):
        return value if _is(int, value) and -_LONG_LIMIT <= value < _LONG_LIMIT else None
    if pa.types.is_floating(kind):
        return _double(value)
    if pa.types.is_decimal(kind):
        return _text(value) if _is(int, value) or _is(_Fraction, value) or _is(str, value) else None
    if pa.types.is_timestamp(kind) and kind.tz and _is(int, value):
        return _instant(value)
    return value if _is(str, value) else None


def _is(kind: type, value: Any) -> bool:
    """Tell a value's JSON type; a Python bool is also an int, a JSON one is not."""
    return type(value) is kind


def _text(value: Any) -> str | None:
    """Return text as it is, a number as it was written, anything else as compact JSON."""
    match value:
        case None | str():
            return value
        case _Fraction(text):
            return text
        case _:
            return json.dumps(value, default=lambda number: float(number.text), ensure_ascii=False, separators=(",", ":"))


def _double(value: Any) -> float | None:
    match value:
        case _Fraction(text):
            return float(text)
        case str():
            return _SPECIAL.get(value)
        case int() if _is(int, value):
            return float(value)
        case _:
            return None


def _instant(epoch_secs: int) -> str | None:
    """Return whole seconds from 1970, as Spark takes a number for a time stamp, as ISO 8601 text."""
    try:
        return (_EPOCH + timedelta(seconds=epoch_secs)).isoformat()
    except OverflowError:
        return None
