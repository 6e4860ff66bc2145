"""Proposes rules from what a data set looks like (docs/glue 12.6)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from gluepot.quality.dqdl.ruleset import numeral, quoted
from gluepot.quality.measures import Complete, Extent, Groups, Measure, Numbers, Spread

_MOST_VALUES = 10
"""The largest number of different texts of which a rule lists all."""
_LEAST_ROWS_EACH = 5
"""How often a text occurs on average, at least, if a rule lists all texts."""
_NEARLY_UNIQUE = 0.95
_COMPLETENESS_MARGIN = 0.05
_DEVIATION_MARGIN = 0.05


def recommended(rows: int, columns: Mapping[str, Mapping[Measure, Any]]) -> str:
    """Return a ruleset that the data set fulfils.

    Args:
        rows: number of rows.
        columns: the state of `Statistics` of all columns.
    """
    rules = [f"RowCount between {math.floor(rows / 2)} and {max(2 * rows, 1)}"] if rows > 1 else ["RowCount > 0"]
    rules += [f"ColumnExists {quoted(name)}" for name in columns]
    for name, states in columns.items():
        rules += _of_column(quoted(name), rows, states)
    return "Rules = [\n    " + ",\n    ".join(rules) + "\n]\n"


def _of_column(name: str, rows: int, states: Mapping[Measure, Any]) -> Iterator[str]:
    found = {type(measure): (measure, state) for measure, state in states.items()}
    _, counted = found[Complete]
    complete = counted.found / rows if rows else 0.0
    if complete == 1.0:
        yield f"IsComplete {name}"
    elif complete > _COMPLETENESS_MARGIN:
        yield f"Completeness {name} >= {_text(complete - _COMPLETENESS_MARGIN)}"
    groups, state = found[Groups]
    assert isinstance(groups, Groups)
    is_text = not any(isinstance(measure, Numbers) for measure in states)
    if not state.too_many and rows > 1:
        yield from _of_groups(name, rows, groups, state, is_text=is_text, complete=complete == 1.0)
    for measure, spread in states.items():
        if not isinstance(spread, Extent | Spread) or not spread.count or not math.isfinite(spread.most):
            continue
        if isinstance(measure, Numbers) and isinstance(spread, Spread):
            yield (
                f"ColumnValues {name} between {_text(_below(spread.least))} and {_text(_above(spread.most))}"
                if (complete == 1.0)
                else f"ColumnValues {name} <= {_text(spread.most)} where {quoted(_is_filled(measure.column))}"
            )
            deviation = math.sqrt(spread.squares / spread.count)
            if deviation:
                low, high = deviation * (1 - _DEVIATION_MARGIN), deviation * (1 + _DEVIATION_MARGIN)
                yield f"StandardDeviation {name} between {_text(low)} and {_text(high)}"
        else:
            yield f"ColumnLength {name} between {round(spread.least) - 1} and {round(spread.most) + 1}"


def _of_groups(name: str, rows: int, groups: Groups, state: Any, *, is_text: bool, complete: bool) -> Iterator[str]:
    frequencies = groups.frequencies(state)
    if not frequencies.filled:
        return
    uniqueness = frequencies.once / frequencies.filled
    if uniqueness == 1.0:
        yield f"IsUnique {name}"
    elif uniqueness > _NEARLY_UNIQUE:
        yield f"Uniqueness {name} > {_text(_NEARLY_UNIQUE)}"
    few = frequencies.distinct <= _MOST_VALUES and rows >= _LEAST_ROWS_EACH * frequencies.distinct
    if few and is_text and uniqueness < 1.0:
        values = [one for one in groups.compact(state).column("0").to_pylist() if isinstance(one, str)]
        if values:
            listed = [*map(quoted, sorted(values)), *([] if complete else ["NULL"])]
            yield f"ColumnValues {name} in [{', '.join(listed)}]"


def _is_filled(column: str) -> str:
    return f"`{column.replace('`', '``')}` is not null"


def _below(value: float) -> float:
    return math.floor(value) - 1.0


def _above(value: float) -> float:
    return math.ceil(value) + 1.0


def _text(value: float) -> str:
    return numeral(round(value, 6))
