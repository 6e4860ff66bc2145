"""Whether two frames hold the same rows, and if not, a text that shows where they part."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol, TypeAlias

from pyspark.sql import DataFrame

SHOWN_ROWS = 10
_ABSENT = object()


class _HasToDF(Protocol):
    def toDF(self) -> DataFrame: ...  # noqa: N802  Glue's name


Row: TypeAlias = Mapping[str, Any]
Frame: TypeAlias = "DataFrame | _HasToDF | Iterable[Row]"


def assert_frames_equal(
    actual: Frame,
    expected: Frame,
    *,
    keys: Sequence[str] = (),
    ignore_columns: Sequence[str] = (),
    tolerance: float = 0.0,
    ordered: bool = False,
) -> None:
    """Compare two frames row by row.

    Args:
        actual: a DynamicFrame, a DataFrame, or rows as dicts.
        expected: likewise.
        keys: columns that tell rows apart; with them a difference names the row and the column.
        ignore_columns: left out on both sides.
        tolerance: how far two floating-point numbers may be apart and count as equal.
        ordered: whether the order of the rows counts.

    Raises:
        AssertionError: they differ; the text has up to `SHOWN_ROWS` of the differences.
    """
    sides = [_rows(frame, frozenset(ignore_columns)) for frame in (actual, expected)]
    if found := difference(*sides, keys=keys, tolerance=tolerance, ordered=ordered):
        more = [f"... and {len(found) - SHOWN_ROWS} more"] if len(found) > SHOWN_ROWS else []
        raise AssertionError("\n".join(["the frames differ:", *found[:SHOWN_ROWS], *more]))


def difference(
    actual: Sequence[Row],
    expected: Sequence[Row],
    *,
    keys: Sequence[str] = (),
    tolerance: float = 0.0,
    ordered: bool = False,
) -> list[str]:
    """Return what is different, a line each; nothing if the rows are the same.

    Raises:
        ValueError: two rows of a side have the same keys.
    """
    if lines := _columns_apart(actual, expected):
        return lines
    if keys:
        return _by_keys(_keyed(actual, keys, "actual"), _keyed(expected, keys, "expected"), tolerance)
    if ordered:
        return _in_order(actual, expected, tolerance)
    return _as_sets(actual, expected, tolerance)


def _columns_apart(actual: Sequence[Row], expected: Sequence[Row]) -> list[str]:
    if not actual or not expected:
        return []
    ours, theirs = _columns(actual), _columns(expected)
    missing, extra = [one for one in theirs if one not in ours], [one for one in ours if one not in theirs]
    lines = [f"columns missing: {', '.join(missing)}"] if missing else []
    return [*lines, f"columns not expected: {', '.join(extra)}"] if extra else lines


def _by_keys(actual: Mapping[Any, Row], expected: Mapping[Any, Row], tolerance: float) -> list[str]:
    lines = []
    for key in sorted({*actual, *expected}, key=repr):
        ours, theirs = actual.get(key), expected.get(key)
        name = ", ".join(f"{column}={value!r}" for column, value in key)
        if ours is None or theirs is None:
            lines.append(f"{name}: {'missing' if ours is None else 'not expected'}: {dict(theirs or ours or {})!r}")
        else:
            lines += [f"{name}: {told}" for told in _values_apart(ours, theirs, tolerance)]
    return lines


def _in_order(actual: Sequence[Row], expected: Sequence[Row], tolerance: float) -> list[str]:
    lines = [
        f"row {at}: {told}"
        for at, (ours, theirs) in enumerate(zip(actual, expected, strict=False))
        for told in _values_apart(ours, theirs, tolerance)
    ]
    if len(actual) != len(expected):
        lines.append(f"{len(actual)} rows, expected {len(expected)}")
    return lines


def _as_sets(actual: Sequence[Row], expected: Sequence[Row], tolerance: float) -> list[str]:
    left = list(expected)
    extra = []
    for row in actual:
        at = next((at for at, other in enumerate(left) if not _values_apart(row, other, tolerance)), None)
        if at is None:
            extra.append(row)
        else:
            del left[at]
    return [f"missing: {dict(row)!r}" for row in left] + [f"not expected: {dict(row)!r}" for row in extra]


def _values_apart(actual: Row, expected: Row, tolerance: float) -> list[str]:
    return [
        f"{column} is {_shown(actual, column)}, expected {_shown(expected, column)}"
        for column in dict.fromkeys([*expected, *actual])
        if not _same(actual.get(column, _ABSENT), expected.get(column, _ABSENT), tolerance)
    ]


def _same(actual: Any, expected: Any, tolerance: float) -> bool:
    match actual, expected:
        case float() | int(), float() | int() if not isinstance(actual, bool) and not isinstance(expected, bool):
            if isinstance(actual, int) and isinstance(expected, int):
                return actual == expected
            both_nan = math.isnan(actual) and math.isnan(expected)
            return both_nan or math.isclose(actual, expected, rel_tol=0.0, abs_tol=tolerance)
        case dict(), dict():
            return actual.keys() == expected.keys() and all(_same(actual[k], expected[k], tolerance) for k in actual)
        case list() | tuple(), list() | tuple():
            return len(actual) == len(expected) and all(
                _same(one, other, tolerance) for one, other in zip(actual, expected, strict=True)
            )
        case _:
            return type(actual) is type(expected) and bool(actual == expected)


def _rows(frame: Frame, ignored: frozenset[str]) -> list[Row]:
    rows: Iterable[Row]
    if isinstance(frame, DataFrame):
        rows = [row.asDict(recursive=True) for row in frame.collect()]
    elif isinstance(frame, Iterable):
        rows = frame
    else:
        return _rows(frame.toDF(), ignored)
    return [{column: value for column, value in row.items() if column not in ignored} for row in rows]


def _keyed(rows: Sequence[Row], keys: Sequence[str], side: str) -> dict[Any, Row]:
    keyed = {tuple((key, row.get(key)) for key in keys): row for row in rows}
    if len(keyed) != len(rows):
        raise ValueError(f"{', '.join(keys)} do not tell the {side} rows apart; name more keys, or none.")
    return keyed


def _columns(rows: Sequence[Row]) -> dict[str, None]:
    return dict.fromkeys(column for row in rows for column in row)


def _shown(row: Row, column: str) -> str:
    return repr(row[column]) if column in row else "absent"
