"""Chooses partitions, as GetPartitions does: by an SQL expression on the partition keys, or by a segment. Pure.

Values and what they are compared with have the type of the key; what is none of the type is an error, as moto's tests
have it of AWS Glue.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal, InvalidOperation
from typing import Any

from gluepot.catalog.values import Partition, Table
from gluepot.connectors.files.partition_folders import DEFAULT_PARTITION
from gluepot.connectors.files.source.predicate import COMPARES, UNDECIDED, Operand, Predicate, Reader, Truth, Values
from gluepot.service.errors import ServiceError, invalid

# Of a digest of a partition: enough to spread partitions evenly.
_DIGITS = 8
_NANOS_DIGITS = 9
_INTEGER = re.compile(r"[+-]?[0-9]{1,40}")
_DATE = re.compile(r"\d{4}-\d\d-\d\d")
_TIMESTAMP = re.compile(r"(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)(?:\.(\d{1,9}))?")


@dataclass(frozen=True, slots=True)
class _Type:
    """A type of partition keys.

    Args:
        title: what AWS calls it.
        article: before its name in "is not a date".
        read: returns the value of a text; a ValueError says that it has none.
    """

    title: str
    article: str
    read: Callable[[str], Any]


def _integer(text: str) -> int:
    if _INTEGER.fullmatch(text) is None:
        raise ValueError(text)
    return int(text)


def _decimal(text: str) -> Decimal:
    try:
        found = Decimal(text)
    except InvalidOperation:
        raise ValueError(text) from None
    if not found.is_finite():
        raise ValueError(text)
    return found


def _date(text: str) -> date:
    if _DATE.fullmatch(text) is None:  # Python also takes 20240101, and weeks
        raise ValueError(text)
    return date.fromisoformat(text)


def _timestamp(text: str) -> tuple[datetime, int]:
    """Return the second, and the nanoseconds in it."""
    found = _TIMESTAMP.fullmatch(text)
    if found is None:
        raise ValueError(text)
    return datetime.fromisoformat(found[1]), int((found[2] or "0").ljust(_NANOS_DIGITS, "0"))


_STRING = _Type("String", "a string", str)
_TYPES: Mapping[str, _Type] = {
    **dict.fromkeys(("string", "char", "varchar"), _STRING),
    **dict.fromkeys(
        ("tinyint", "smallint", "int", "integer", "bigint", "long"), _Type("Integral", "an integer", _integer)
    ),
    "decimal": _Type("Decimal", "a decimal", _decimal),
    "date": _Type("Date", "a date", _date),
    "timestamp": _Type("Timestamp", "a timestamp", _timestamp),
}


def partition_filter(table: Table, expression: str) -> Callable[[Partition], bool]:
    """Return whether a partition fulfils an expression.

    Args:
        table: whose partition keys the expression names; their types say how values compare.
        expression: what AWS takes (docs/glue 11.4); an empty one is fulfilled by all.

    Raises:
        ServiceError: `InvalidInputException` for another column, a key of a type that expressions cannot compare, or a
            value that is none of the key's type. The function raises `InvalidStateException` for a partition whose
            value is none of the key's type.
        ConfigError: the expression is not understood.
    """
    if not expression.strip():
        return lambda _: True
    reader = _TypedReader(expression, table)
    decide = reader.whole()
    predicate = Predicate(expression, frozenset(reader.columns), decide)
    names = [key.name.lower() for key in table.partition_keys]

    def fulfils(partition: Partition) -> bool:
        known = dict(zip(names, partition.values, strict=False))
        return predicate.matches({name: None if one == DEFAULT_PARTITION else one for name, one in known.items()})

    return fulfils


class _TypedReader(Reader):
    """Reads an expression whose columns are partition keys with types."""

    def __init__(self, text: str, table: Table) -> None:
        super().__init__(text, {})
        self._table = table
        self._kinds = {key.name.lower(): key.type for key in table.partition_keys}

    def operand(self) -> Operand:
        found = super().operand()
        self._type(found)
        return found

    def one_of(self, left: Operand, options: Sequence[Operand]) -> None:
        for one in options:
            self.comparable(left, one)

    def like(self, left: Operand, pattern: Operand) -> None:
        super().like(left, pattern)
        kind = self._type(left)
        if kind not in {None, _STRING}:
            assert kind is not None
            raise invalid(f"{kind.title} data type doesn't support operation 'LIKE'; use comparisons.")

    def comparable(self, left: Operand, right: Operand) -> None:
        kind = self._type(left) or self._type(right)
        for one in (left, right):
            if kind is not None and one.column is None:
                _read(kind, str(one.literal), invalid)

    def compared(self, sign: str, left: Operand, right: Operand, known: Values) -> Truth:
        a, b = left.value(known), right.value(known)
        if a is UNDECIDED or b is UNDECIDED:
            return UNDECIDED
        if a is None or b is None:
            return None
        kind = self._type(left) or self._type(right)
        if kind in {None, _STRING}:
            # A number is compared with a text as a number, as Hive and Spark do.
            return super().compared(sign, left, right, known)
        assert kind is not None
        return COMPARES[sign](_read(kind, str(a), _wrong_state), _read(kind, str(b), _wrong_state))

    def _type(self, operand: Operand) -> _Type | None:
        """Return the type of a column; None for a literal.

        Raises:
            ServiceError: `InvalidInputException` for a column that is no partition key, or of another type.
        """
        if operand.column is None:
            return None
        declared = self._kinds.get(operand.column)
        if declared is None:
            keys = ", ".join(key.name for key in self._table.partition_keys)
            raise invalid(
                f"Invalid partition expression! {operand.column} is no partition key of {self._table.title}, which has"
                f" {keys or 'none'}."
            )
        found = _TYPES.get(_plain(declared))
        if found is None:
            raise invalid(
                f"Unknown type : '{declared}' of {operand.column}; expressions compare keys of {', '.join(_TYPES)}."
            )
        return found


def _read(kind: _Type, text: str, wrong: Callable[[str], ServiceError]) -> Any:
    try:
        return kind.read(text)
    except ValueError:
        raise wrong(f'"{text}" is not {kind.article}; correct it.') from None


def _wrong_state(message: str) -> ServiceError:
    return ServiceError("InvalidStateException", message)


def in_segment(digest: str, segment: Mapping[str, int] | None) -> bool:
    """Return whether a partition belongs to a segment of all partitions.

    Args:
        digest: of the partition's values.
        segment: `Segment` of GetPartitions; None for all partitions.

    Raises:
        ServiceError: `InvalidInputException`, because there is no segment of this number.
    """
    if segment is None:
        return True
    number, total = segment["SegmentNumber"], segment["TotalSegments"]
    if number >= total:
        raise invalid(f"SegmentNumber is {number}; with {total} segments, the last one is {total - 1}.")
    return int(digest[:_DIGITS], 16) % total == number


def _plain(kind: str) -> str:
    return re.sub(r"\(.*", "", kind.lower()).strip()
