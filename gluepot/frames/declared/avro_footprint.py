"""How much memory an Avro datum takes once it is read, known before it is read.

A few bytes can describe a billion values: an array of nulls holds nothing but their number. Most datums are cleared by
their length alone, since each type has a largest growth for a byte. The others are walked through without building
anything, up to where their estimate goes beyond the bound.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

# The largest estimate for one datum. It is what the datum takes as Python objects; the columns come on top of it.
MOST_DATUM_BYTES: Final = 128 << 20
# The largest array whose elements take no bytes, such as nulls or records of nulls.
MOST_ITEMS_WITHOUT_BYTES: Final = 100
MOST_LEVELS: Final = 64

# What CPython 3.11 takes for objects, measured with sys.getsizeof and rounded up.
_NUMBER_BYTES = 32
_TEXT_BYTES = 60
_LOGICAL_BYTES = 110  # a Decimal
_RECORD_BYTES = 184
_FIELD_BYTES = 40
_ARRAY_BYTES = 60
_ITEM_BYTES = 9
_ENTRY_BYTES = 100 + _TEXT_BYTES

_PLAIN_WIDTHS = {"null": 0, "boolean": 1, "int": 1, "long": 1, "float": 4, "double": 8, "bytes": 1, "string": 1}
_FIXED_WIDTHS = {"null": 0, "boolean": 1, "float": 4, "double": 8}


class TooLarge(Exception):
    """A datum takes more memory than it may."""


@dataclass(frozen=True, slots=True)
class _Growth:
    """What is known of a type without a datum of it.

    Args:
        least_bytes: the length of its shortest datum.
        own_bytes: memory of a datum whose texts and arrays are empty.
        rate: memory that one further byte of a datum may add.
    """

    least_bytes: int
    own_bytes: float
    rate: float


@dataclass(frozen=True, slots=True)
class AvroFootprint:
    """Estimates the memory of datums of one schema.

    Args:
        schema: as `fastavro.parse_schema` returns it.
        named: the types that it names.
    """

    schema: Any
    named: Mapping[str, Any]
    _growth: _Growth = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_growth", _growth(self.schema, self.named, {}))

    def most(self, length_bytes: int, datums: int = 1) -> float:
        """Return the memory that some datums take at most, by the length of all of them; it may be infinite."""
        return datums * self._growth.own_bytes + length_bytes * self._growth.rate

    def check(self, datum: bytes) -> None:
        """Let a datum pass that takes no more memory than it may.

        Raises:
            TooLarge: it takes more.
            EOFError: it ends before it is complete.
            LookupError: it names a branch of a union that there is not.
        """
        if not self.most(len(datum)) <= MOST_DATUM_BYTES:  # not a number, if the datum is empty and its growth infinite
            self.walk(datum, 0)

    def walk(self, data: bytes, at: int) -> tuple[int, int]:
        """Return where a datum ends that begins at a byte, and its estimate; raises what `check` does."""
        walk = _Walk(data, at, self.named)
        walk.value(self.schema, 0)
        return walk.at, walk.taken_bytes


def _growth(schema: Any, named: Mapping[str, Any], known: dict[str, _Growth]) -> _Growth:
    kind, schema = _resolved(schema, named)
    if kind == "union":
        branches = [_growth(one, named, known) for one in schema]
        return _Growth(
            1 + min((one.least_bytes for one in branches), default=0),
            max((one.own_bytes for one in branches), default=0),
            max((one.rate for one in branches), default=0),
        )
    if kind in {"record", "error"}:
        name = schema["name"]
        if name not in known:
            # A type that holds itself has no bound by length: any datum of it is walked through.
            known[name] = _Growth(0, math.inf, math.inf)
            fields = [_growth(one["type"], named, known) for one in schema["fields"]]
            known[name] = _Growth(
                sum(one.least_bytes for one in fields),
                _RECORD_BYTES + sum(_FIELD_BYTES + one.own_bytes for one in fields),
                max((one.rate for one in fields), default=0),
            )
        return known[name]
    if kind in {"array", "map"}:
        item = _growth(schema["items" if kind == "array" else "values"], named, known)
        slot, key_bytes = (_ITEM_BYTES, 0) if kind == "array" else (_ENTRY_BYTES, 1)
        width = item.least_bytes + key_bytes
        rate = max(item.rate, (slot + item.own_bytes) / width) if width else math.inf
        return _Growth(1, _ARRAY_BYTES if kind == "array" else _RECORD_BYTES, rate)
    if kind == "fixed":
        return _Growth(schema["size"], _TEXT_BYTES + schema["size"], 0)
    if kind == "enum":
        return _Growth(1, 0, 0)
    return _Growth(_PLAIN_WIDTHS[kind], _own_bytes(kind, schema), 1 if kind in {"bytes", "string"} else 0)


def _own_bytes(kind: str, schema: Any) -> int:
    if isinstance(schema, dict) and "logicalType" in schema:
        return _LOGICAL_BYTES
    if kind in {"null", "boolean"}:
        return 0
    return _TEXT_BYTES if kind in {"bytes", "string"} else _NUMBER_BYTES


def _resolved(schema: Any, named: Mapping[str, Any]) -> tuple[str, Any]:
    """Return the kind of a type, and the type itself where it was called by its name."""
    while True:
        if isinstance(schema, list):
            return "union", schema
        if isinstance(schema, str):
            if schema in _PLAIN_WIDTHS:
                return schema, schema
            schema = named[schema]
        elif isinstance(schema["type"], str) and schema["type"] not in named:
            return schema["type"], schema
        else:
            schema = schema["type"]


class _Walk:
    """Goes through one datum.

    Args:
        data: holds the datum.
        at: the byte that it begins at.
        named: types by name.
    """

    def __init__(self, data: bytes, at: int, named: Mapping[str, Any]) -> None:
        self.at = at
        self.taken_bytes = 0
        self._data = data
        self._named = named

    def value(self, schema: Any, level: int) -> None:
        kind, schema = _resolved(schema, self._named)
        if level > MOST_LEVELS:
            raise TooLarge(f"it is nested more than {MOST_LEVELS} levels deep")
        match kind:
            case "union":
                branch = self._long()
                if not 0 <= branch < len(schema):
                    raise LookupError(f"the union has no branch {branch}")
                self.value(schema[branch], level + 1)
            case "record" | "error":
                self._take(_RECORD_BYTES + _FIELD_BYTES * len(schema["fields"]))
                for one in schema["fields"]:
                    self.value(one["type"], level + 1)
            case "array":
                self._take(_ARRAY_BYTES)
                self._items(schema["items"], level, _ITEM_BYTES, keyed=False)
            case "map":
                self._take(_RECORD_BYTES)
                self._items(schema["values"], level, _ENTRY_BYTES, keyed=True)
            case "bytes" | "string":
                self._take(_own_bytes(kind, schema))
                self._skip(self._long(), 1)
            case "fixed":
                self._take(_TEXT_BYTES)
                self._skip(schema["size"], 1)
            case _:
                self._take(0 if kind == "enum" else _own_bytes(kind, schema))
                if kind in _FIXED_WIDTHS:
                    self._skip(_FIXED_WIDTHS[kind], 0)
                else:
                    self._long()

    def _items(self, schema: Any, level: int, slot_bytes: int, *, keyed: bool) -> None:
        while items := self._long():
            if items < 0:
                items = -items
                self._long()
            self._take(slot_bytes * items)
            before = self.at
            for done in range(items):
                if done == MOST_ITEMS_WITHOUT_BYTES and self.at == before:
                    raise TooLarge(f"it has an array of {items} elements that take no bytes")
                if keyed:
                    self._skip(self._long(), 1)
                self.value(schema, level + 1)

    def _take(self, memory_bytes: int) -> None:
        self.taken_bytes += memory_bytes
        if self.taken_bytes > MOST_DATUM_BYTES:
            raise TooLarge(f"it takes more than {MOST_DATUM_BYTES >> 20} MiB of memory")

    def _skip(self, length_bytes: int, memory_per_byte: int) -> None:
        if not 0 <= length_bytes <= len(self._data) - self.at:
            raise EOFError("it ends within a value")
        self._take(length_bytes * memory_per_byte)
        self.at += length_bytes

    def _long(self) -> int:
        value = shift = 0
        while True:
            if self.at >= len(self._data):
                raise EOFError("it ends within a number")
            byte = self._data[self.at]
            self.at += 1
            value |= (byte & 0x7F) << shift
            if byte < 0x80:  # the last byte of a number
                return (value >> 1) ^ -(value & 1)
            shift += 7
            if shift > 63:  # a long has 64 bits
                raise ValueError("a number has more than 64 bits")
