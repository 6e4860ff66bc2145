"""How the values of a column are distributed: the analyzer Distribution (docs/glue 12.3).

Numbers are counted on a grid whose cells widen until there are few enough of them. The width of the cells is a power
of two, so cells nest, and the state of some rows does not depend on the order in which their parts are merged. The
edges of bins lie between cells, so the counts of bins are exact.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from gluepot.frames.schema.glue_types import glue_name
from gluepot.quality.measures import ALL_COLUMNS, OWN, Frequencies, Grouped, Groups, doubles, state_of
from gluepot.quality.numbers import RuleError
from gluepot.quality.values import NUMBERS

INFORMATIVE_SHARE = 0.02
"""The share of numbers outside of the frozen bins above which there is an observation."""
STRONG_SHARE = 0.05
"""The share above which that says that the bins no longer fit."""
RUNS_TO_REBIN = 3
"""After how many evaluations in a row with so many numbers outside of the bins these are replaced."""
_MOST_CELLS = 4_096
_LARGEST_EXPONENT = 1_023
_SMALLEST_EXPONENT = -1_074
_LARGE = 2.0**1_020

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Cells:
    """How many numbers lie in each cell of a grid, NaN and infinities left out.

    Args:
        starts: where the cells begin, in order.
        counts: how many numbers lie in each.
        exponent: the cells are as wide as this power of two; None if each cell is one number.
        least: the smallest number; infinity if there is none.
        most: the largest number.
    """

    starts: Floats
    counts: npt.NDArray[np.int64]
    exponent: int | None = None
    least: float = math.inf
    most: float = -math.inf

    def merged(self, other: Cells) -> Cells:
        """Return the cells of the numbers of both."""
        starts, counts = np.concatenate([self.starts, other.starts]), np.concatenate([self.counts, other.counts])
        exponents = [one for one in (self.exponent, other.exponent) if one is not None]
        least, most = min(self.least, other.least), max(self.most, other.most)
        return _few(starts, counts, max(exponents, default=None), least, most)

    def edges(self, bins: int) -> Floats:
        """Return the edges of bins of equal width that hold all numbers; there has to be one."""
        low, high = self.least, self.most
        if low == high:
            # Wide enough for large numbers, too, whose neighbours are far away.
            margin = max(0.5, abs(low) * 2.0**-40)
            low, high = max(low - margin, -sys.float_info.max), min(high + margin, sys.float_info.max)
        elif self.exponent is not None:
            cell = 2.0**self.exponent
            low = float(_floored(np.array([low]), self.exponent)[0])
            wide = math.ceil((high / 2 - low / 2) / bins / cell * 2) * cell
            # One more cell if rounding has made the bins a little too narrow.
            wide += cell * (low + wide * bins < high)
            high = min(low + wide * bins, sys.float_info.max)
        # The distance of two large doubles may be no double, nor a multiple of a rounded step.
        scale = 4.0 if max(-low, high) > _LARGE else 1.0
        # Steps between the smallest doubles are rounded much, and must neither begin nor end elsewhere.
        edges: Floats = np.clip(np.linspace(low / scale, high / scale, bins + 1) * scale, low, high)
        edges[0], edges[-1] = low, high
        return edges

    def binned(self, edges: Floats) -> tuple[int, ...]:
        """Return how many numbers lie in each bin; all of them have to lie in one."""
        places = np.clip(np.searchsorted(edges, self.starts, side="right") - 1, 0, len(edges) - 2)
        return tuple(np.bincount(places, weights=self.counts, minlength=len(edges) - 1).astype(int).tolist())


def cells_of(numbers: Floats) -> Cells:
    """Return the cells of some numbers."""
    finite = numbers[np.isfinite(numbers)] + 0.0  # -0.0 becomes 0.0
    if not len(finite):
        return Cells(finite, np.zeros(0, np.int64))
    return _few(finite, np.ones(len(finite), np.int64), None, float(finite.min()), float(finite.max()))


def _few(starts: Floats, counts: npt.NDArray[np.int64], exponent: int | None, least: float, most: float) -> Cells:
    """Return the same on the finest grid that has no more cells than there may be."""
    starts, counts = _summed(starts if exponent is None else _floored(starts, exponent), counts)
    if len(starts) > _MOST_CELLS:
        exponent = _finest(starts, _SMALLEST_EXPONENT if exponent is None else exponent)
        starts, counts = _summed(_floored(starts, exponent), counts)
    return Cells(starts, counts, exponent, least, most)


def _summed(starts: Floats, counts: npt.NDArray[np.int64]) -> tuple[Floats, npt.NDArray[np.int64]]:
    if not len(starts):
        return starts, counts
    order = np.argsort(starts, kind="stable")
    ordered = starts[order]
    begins = np.flatnonzero(np.concatenate(([True], ordered[1:] != ordered[:-1])))
    return ordered[begins], np.add.reduceat(counts[order], begins)


def _finest(starts: Floats, least: int) -> int:
    """Return the smallest exponent with which the cells are few enough, searched from above."""
    half = starts[-1] / 2 - starts[0] / 2
    found = min(max(math.frexp(half / (_MOST_CELLS - 2))[1] + 1, least), _LARGEST_EXPONENT)
    while found > least:
        finer = _floored(starts, found - 1)
        if 1 + np.count_nonzero(finer[1:] != finer[:-1]) > _MOST_CELLS:
            break
        found -= 1
    return found


def _floored(values: Floats, exponent: int) -> Floats:
    """Return the multiples of a power of two at or below the values."""
    with np.errstate(over="ignore", under="ignore"):
        cells = np.ldexp(np.floor(np.ldexp(values, -exponent)), exponent)
    # Numbers from here on are multiples already, and may be too large to be scaled.
    is_multiple = np.abs(values) >= math.ldexp(1.0, min(exponent + 52, _LARGEST_EXPONENT))
    floored: Floats = np.where(is_multiple, values, cells)
    return floored


@dataclass(frozen=True, slots=True, eq=False)
class Binned:
    """Numbers of a column.

    Args:
        cells: all of them.
        counts: how many lie in each of the frozen bins; empty without such bins.
        below: how many lie below all of these.
        above: how many lie above.
    """

    cells: Cells
    counts: tuple[int, ...] = ()
    below: int = 0
    above: int = 0

    def merged(self, other: Binned) -> Binned:
        """Return the numbers of both."""
        counts = tuple(a + b for a, b in zip(self.counts, other.counts, strict=True))
        return Binned(self.cells.merged(other.cells), counts, self.below + other.below, self.above + other.above)


def binned(numbers: Floats, edges: Sequence[float]) -> Binned:
    """Return some numbers, counted in bins.

    Args:
        numbers: the numbers. NaN and infinities are left out.
        edges: of the bins. A bin holds its lower edge, and the last one its upper edge as well. Empty for no bins.
    """
    finite = numbers[np.isfinite(numbers)]
    if not edges:
        return Binned(cells_of(finite))
    below, above = int((finite < edges[0]).sum()), int((finite > edges[-1]).sum())
    counts, _ = np.histogram(finite[(finite >= edges[0]) & (finite <= edges[-1])], np.asarray(edges))
    return Binned(cells_of(finite), tuple(counts.tolist()), below, above)


@dataclass(frozen=True, slots=True)
class Distribution:
    """The values of one column or, with `AllColumns`, of each that is not nested.

    The state has for each column a `Binned` for numbers, a `Grouped` for other values, or a text that says why there is
    neither. Columns without any value have none.

    Args:
        column: its name.
        frozen: edges of bins by column.
    """

    column: str
    frozen: tuple[tuple[str, tuple[float, ...]], ...] = ()
    where: str = ""

    def of(self, batch: pa.RecordBatch) -> dict[str, Binned | Grouped | str]:
        """See `Measure`."""
        return self.of_more(batch, {})

    def of_more(self, batch: pa.RecordBatch, before: Mapping[str, Any]) -> dict[str, Binned | Grouped | str]:
        """See `GroupingMeasure`."""
        edges = dict(self.frozen)
        found: dict[str, Binned | Grouped | str] = {}
        for field_ in batch.schema:
            is_wanted = self.column == ALL_COLUMNS or field_.name.lower() == self.column.lower()
            if not is_wanted or field_.name.startswith(OWN) or pa.types.is_nested(field_.type):
                continue
            if pa.types.is_null(field_.type):
                continue
            if glue_name(field_.type).partition("(")[0] in NUMBERS:
                found[field_.name] = binned(doubles(batch.column(field_.name)), edges.get(field_.name, ()))
            else:
                found[field_.name] = _groups_of(field_.name, batch, before.get(field_.name))
        return found

    def merged(self, one: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, Any]:
        """See `Measure`."""
        found = dict(one)
        for column, state in other.items():
            found[column] = _merged(column, found[column], state) if column in found else state
        return found


def _groups_of(column: str, batch: pa.RecordBatch, before: Binned | Grouped | str | None) -> Grouped | str:
    if isinstance(before, Binned):  # merging them says that the column has values of both kinds
        before = None
    found: Grouped | str = state_of(Groups((column,)), batch, before)
    return found


def _merged(column: str, one: Binned | Grouped | str, other: Binned | Grouped | str) -> Binned | Grouped | str:
    match one, other:
        case Binned(), Binned():
            return one.merged(other)
        case Grouped(), Grouped():
            groups = Groups((column,))
            try:
                return groups.merged(one, other)
            except RuleError as error:
                return str(error)
        case str(), _:
            return one
        case _, str():
            return other
        case _:
            return f"Column {column} has numbers and other values."


def distribution_name(column: str) -> str:
    """Return Glue's name of the distribution of a column."""
    return f"Column.{column}.Distribution"


def column_of_distribution(name: str) -> str:
    """Return the column of a distribution that has Glue's name."""
    return name.removeprefix("Column.").removesuffix(".Distribution")


@dataclass(frozen=True, slots=True)
class ValueCounts:
    """The distribution of a column, as it is reported and kept.

    Args:
        data_type: Glue's name of the column's type.
        counts: of the bins, or of the most frequent values.
        edges: of the bins, one more than there are bins; empty if values are counted.
        values: the most frequent values, the first is the most frequent one; empty if there are bins.
        below: numbers below all bins.
        above: numbers above all bins.
        others: rows whose value is none of the most frequent ones; NULL does not count.
        overflows: evaluations in a row, this one included, with many numbers outside of the bins.
        replaced_share: the share of the numbers outside of the bins that were replaced by these; 0 if none were.
    """

    data_type: str
    counts: tuple[int, ...]
    edges: tuple[float, ...] = ()
    values: tuple[str, ...] = ()
    below: int = 0
    above: int = 0
    others: int = 0
    overflows: int = 0
    replaced_share: float = 0.0

    @property
    def outside_share(self) -> float:
        """The share of the numbers that lie outside of the bins."""
        outside = self.below + self.above
        return outside / (outside + sum(self.counts)) if outside else 0.0

    def plain(self) -> dict[str, Any]:
        """Return the values of a JSON object: Glue's three keys, and what it lacks."""
        found: dict[str, Any] = {
            "BinEdges": list(self.values) if self.values else [repr(edge) for edge in self.edges],
            "Count": list(self.counts),
            "DataType": self.data_type,
        }
        if self.edges:
            more: dict[str, float] = {"Below": self.below, "Above": self.above, "Overflows": self.overflows}
            more["ReplacedShare"] = self.replaced_share
        else:
            more = {"Others": self.others}
        return found | more

    @classmethod
    def of_plain(cls, given: Mapping[str, Any]) -> ValueCounts:
        """Return what `plain` has made a JSON object of."""
        counts, edges = tuple(given["Count"]), given["BinEdges"]
        if "Others" in given:
            return cls(given["DataType"], counts, values=tuple(edges), others=given["Others"])
        return cls(
            given["DataType"],
            counts,
            tuple(map(float, edges)),
            below=given["Below"],
            above=given["Above"],
            overflows=given["Overflows"],
            replaced_share=given["ReplacedShare"],
        )


def counted(
    data_type: str, state: Binned | Frequencies, bins: int, *, rebin: bool, before: ValueCounts | None
) -> ValueCounts | None:
    """Return the distribution of a column; None if it has no value.

    Args:
        data_type: Glue's name of the column's type.
        state: what was measured.
        bins: how many bins numbers get.
        rebin: whether bins that no longer fit are replaced.
        before: the distribution in the newest earlier evaluation; None if there is none.
    """
    if isinstance(state, Frequencies):
        if not state.filled:
            return None
        values, counts = zip(*state.top, strict=True)
        return ValueCounts(data_type, counts, values=values, others=state.filled - sum(counts))
    if not len(state.cells.starts):
        return None
    replaced_share = 0.0
    if state.counts and before is not None:
        found = ValueCounts(data_type, state.counts, before.edges, below=state.below, above=state.above)
        overflows = before.overflows + 1 if found.outside_share > STRONG_SHARE else 0
        if not rebin or overflows < RUNS_TO_REBIN:
            return replace(found, overflows=overflows)
        replaced_share = found.outside_share
    edges = state.cells.edges(bins)
    return ValueCounts(data_type, state.cells.binned(edges), tuple(edges.tolist()), replaced_share=replaced_share)
