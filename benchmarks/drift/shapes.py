"""Clicks whose shape changes as they go on, and clicks of as many bytes whose shape stays.

Changing: every so many records there is a further column, and the ones before stay; `reading` is a whole number, then
one with a fraction, then text; `device` gets a further field every quarter. Staying: as many columns and fields as the
others have in the middle.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from random import Random
from typing import Any

import orjson

from benchmarks.drain.shapes import SHAPES

EVERY = 50_000
"""Records between two new columns."""
QUARTERS = 4


@dataclass(frozen=True, slots=True)
class Drifting:
    """Clicks of a number known beforehand.

    Args:
        records: how many; an odd number of `EVERY` makes both kinds equally long.
        changes: whether their shape does.
    """

    records: int
    changes: bool

    @property
    def extras(self) -> int:
        """Columns that come one after the other."""
        return -(-self.records // EVERY)

    def payloads(self) -> Iterator[bytes]:
        """Yield the documents."""
        chance = Random(1)
        for number in range(self.records):
            event: dict[str, Any] = SHAPES["e500"].make(number, chance)
            quarter = QUARTERS * number // self.records
            columns, fields = (number // EVERY + 1, quarter) if self.changes else ((self.extras + 1) // 2, 1)
            event["device"] |= {f"field_{n}": number % 1000 for n in range(fields)}
            event["reading"] = self._reading(number)
            event |= {f"extra_{n:02}": number % 10_000 for n in range(columns)}
            yield orjson.dumps(event)

    def _reading(self, number: int) -> object:
        third = 3 * number // self.records if self.changes else 0
        return (100_000 + number % 900_000, 1_000 + number % 9_000 + 0.5, f"{1_000 + number % 9_000}")[third]

    def checked(self) -> dict[str, tuple[str, str]]:
        """Return what must be equal: by name, SQL of it over the documents and over the table."""
        fields = range(QUARTERS - 1 if self.changes else 1)
        columns = ("reading::VARCHAR", "reading_double::VARCHAR", "reading_string") if self.changes else ("reading",)
        return {
            **{one: (one, one) for one in ("event_id", "ts", "user_id", "country", "price", "device.os")},
            **{f"extra_{n:02}": (f"extra_{n:02}",) * 2 for n in range(self._columns())},
            **{f"device.field_{n}": (f"device.field_{n}",) * 2 for n in fields},
            # 7 and 7.0 are one number: which of the two is written depends on its neighbours.
            "reading": ("reading::DOUBLE", f"coalesce({', '.join(columns)})::DOUBLE"),
        }

    def documents(self, file: str) -> str:
        """Return SQL that reads the documents from a file of lines, each value with the type that keeps it whole."""
        fields = ", ".join(f"field_{n} BIGINT" for n in range(QUARTERS - 1 if self.changes else 1))
        kinds = {
            "event_id": "BIGINT",
            "ts": "VARCHAR",
            "user_id": "BIGINT",
            "country": "VARCHAR",
            "price": "DOUBLE",
            "device": f"STRUCT(os VARCHAR, {fields})",
            "reading": "VARCHAR",
            **{f"extra_{n:02}": "BIGINT" for n in range(self._columns())},
        }
        return f"read_json('{file}', format = 'newline_delimited', columns = {json.dumps(kinds)})"

    def _columns(self) -> int:
        return self.extras if self.changes else (self.extras + 1) // 2
