"""Bookmark keys: columns with an order, and conditions for the rows after or up to a given row. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal, InvalidOperation
from enum import Enum

from gluepot.connectors.jdbc.sql import Bound, Sql, all_of, any_of, sql
from gluepot.core.errors import ConfigError

# The key of one row, each value as the database prints it.
Row = tuple[str, ...]


class Family(Enum):
    """Families of types that allow the same arithmetic."""

    NUMBER = "number"
    DATE = "date"
    TIMESTAMP = "timestamp"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class KeyColumn:
    """One column of a key.

    Args:
        name: name of the column in the database.
        type: the database's name of its type.
        family: family of the type.
    """

    name: str
    type: str
    family: Family


@dataclass(frozen=True, slots=True)
class Key:
    """The columns by which new rows are recognised, compared one after the other.

    Args:
        columns: the columns, the most significant first.
        descending: whether new rows have lower values.
    """

    columns: tuple[KeyColumn, ...]
    descending: bool = False

    @property
    def names(self) -> list[str]:
        """Names of the columns."""
        return [column.name for column in self.columns]

    def after(self, row: Row, quoted: Sequence[str]) -> Sql:
        """Return the condition for rows after a row; a row with a null in its key is never after.

        Args:
            row: the row at which the last run ended.
            quoted: the columns as the database quotes them.
        """
        return self._compared(row, quoted, "<" if self.descending else ">", "")

    def upto(self, row: Row, quoted: Sequence[str]) -> Sql:
        """Return the condition for rows up to and including a row."""
        return self._compared(row, quoted, ">" if self.descending else "<", "=")

    def equal(self, row: Row, quoted: Sequence[str]) -> Sql:
        """Return the condition for rows with exactly this key."""
        bound = self._bound(row)
        return all_of(sql(name, " = ", value) for name, value in zip(quoted, bound, strict=True))

    def from_first(self, first: str, quoted: Sequence[str]) -> Sql:
        """Return the condition for rows whose first column has a value or one after it."""
        bound = Bound(first, self.columns[0].type)
        return sql(quoted[0], " <= " if self.descending else " >= ", bound)

    def window_start(self, row: Row, overlap: str) -> str:
        """Return the value of the first column at which the overlap window before a row begins.

        Args:
            row: the end of the window.
            overlap: the length of the window: `1000` in the column's own unit (seconds, days), or `15 minutes`.

        Raises:
            ConfigError: the length cannot be read, or values of the column's type have no distance.
        """
        column = self.columns[0]
        try:
            return _moved(row[0], column.family, overlap, back=not self.descending)
        except (ValueError, OverflowError, InvalidOperation) as error:
            raise ConfigError(
                f"An overlap of {overlap!r} before {column.name} = {row[0]} cannot be reckoned; use a number for a"
                " number column, '15 minutes' or '2 days' for a time stamp or date, or leave jobBookmarkOverlap out."
            ) from error

    def _bound(self, row: Row) -> list[Bound]:
        return [Bound(text, column.type) for text, column in zip(row, self.columns, strict=True)]

    def _compared(self, row: Row, quoted: Sequence[str], beyond: str, last: str) -> Sql:
        """Return `a > x OR (a = x AND b > y)`, preceded by `a >= x`, for which the database can use an index on `a`."""
        bound = self._bound(row)
        steps = []
        for depth, (name, value) in enumerate(zip(quoted, bound, strict=True)):
            equal = [sql(quoted[at], " = ", bound[at]) for at in range(depth)]
            operator = beyond + (last if depth == len(bound) - 1 else "")
            steps.append(all_of([*equal, sql(name, f" {operator} ", value)]))
        if len(steps) == 1:
            return steps[0]
        whole = [sql(name, " IS NOT NULL") for name in quoted[1:]]
        return all_of([sql(quoted[0], f" {beyond}= ", bound[0]), *whole, any_of(steps)])


_UNITS = {"second": "seconds", "minute": "minutes", "hour": "hours", "day": "days", "week": "weeks"}
_SPAN = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([a-z]+?)s?\s*", re.IGNORECASE)


def _moved(text: str, family: Family, distance: str, *, back: bool) -> str:
    sign = -1 if back else 1
    match family:
        case Family.NUMBER:
            return str(Decimal(text) + sign * Decimal(distance))
        case Family.DATE:
            return (date.fromisoformat(text) + sign * _span(distance, "day")).isoformat()
        case Family.TIMESTAMP:
            return (datetime.fromisoformat(text) + sign * _span(distance, "second")).isoformat(" ")
        case Family.OTHER:
            raise ValueError(distance)


def _span(distance: str, own_unit: str) -> timedelta:
    number = _SPAN.fullmatch(distance) or _SPAN.fullmatch(f"{distance} {own_unit}")
    if number is None or number[2].lower() not in _UNITS:
        raise ValueError(distance)
    return timedelta(**{_UNITS[number[2].lower()]: float(number[1])})
