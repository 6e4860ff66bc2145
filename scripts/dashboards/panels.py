"""What a board is made of, as plain values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

ROWS_PER_SEC = "suffix: rows/s"
SECS, BYTES, COUNT, SHARE, CORES = "s", "bytes", "short", "percentunit", "suffix: cores"


@dataclass(frozen=True, slots=True)
class Line:
    """One query of a panel.

    Args:
        expr: PromQL; may use the board's variables.
        legend: name of its series, with labels in double braces.
    """

    expr: str
    legend: str


@dataclass(frozen=True, slots=True)
class Panel:
    """One panel.

    Args:
        title: short.
        says: what it shows and what to make of it.
        lines: its queries.
        unit: of the values, as Grafana names it.
        kind: a graph over time, one number, or a table of one row per series.
        width: in columns, of 24.
        warn_at: from where on a value is yellow.
        bad_at: from where on a value is red.
    """

    title: str
    says: str
    lines: Sequence[Line]
    unit: str
    kind: Literal["graph", "number", "table"] = "graph"
    width: int = 12
    warn_at: float | None = None
    bad_at: float | None = None


@dataclass(frozen=True, slots=True)
class Row:
    """Panels under a heading."""

    title: str
    panels: Sequence[Panel]


@dataclass(frozen=True, slots=True)
class Variable:
    """A choice at the top of a board.

    Args:
        name: as queries write it after `$`.
        label: label whose values can be chosen.
        of: metric, with a selector perhaps, that has the label.
        several: whether several values, or all, can be chosen.
    """

    name: str
    label: str
    of: str
    several: bool = True


@dataclass(frozen=True, slots=True)
class Number:
    """A number that the reader types in.

    Args:
        name: as queries write it after `$`.
        title: what it is.
        value: at first.
    """

    name: str
    title: str
    value: int


@dataclass(frozen=True, slots=True)
class Event:
    """A mark on every graph of a board.

    Args:
        title: what happened.
        expr: PromQL that has a value when it did.
        color: of the mark.
    """

    title: str
    expr: str
    color: str


@dataclass(frozen=True, slots=True)
class Board:
    """A board.

    Args:
        uid: never changes: links and bookmarks of readers hold it.
        title: as Grafana lists it.
        says: what it is for.
        variables: choices, each of which may use those before it.
        rows: from top to bottom.
        events: marks on its graphs.
    """

    uid: str
    title: str
    says: str
    variables: Sequence[Variable | Number]
    rows: Sequence[Row]
    events: Sequence[Event]
