"""SplitRows: records that fulfil comparisons, or those that do not (docs/glue 6.2)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import reduce
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from gluepot.core.errors import ConfigError
from gluepot.frames.cast import try_cast
from gluepot.frames.chunk import Chunk, is_choice
from gluepot.frames.columns import Column, children_of, columns_of
from gluepot.frames.schema.merge import family
from gluepot.frames.time_zone import UTC, TimeZone
from gluepot.frames.transforms.paths import find, parse_path

_COMPARE: dict[str, Callable[[pa.Array, pa.Scalar], pa.BooleanArray]] = {
    "=": pc.equal,
    "!=": pc.not_equal,
    "<": pc.less,
    "<=": pc.less_equal,
    ">": pc.greater,
    ">=": pc.greater_equal,
}
_ORDERED_BY_NUMBER = frozenset({"number", "decimal"})
_READ_FROM_TEXT = frozenset({"date", "timestamp"})


@dataclass(frozen=True, slots=True)
class CompareRows:
    """Keeps the rows that fulfil all comparisons, or all others.

    A missing value fulfils no comparison, nor does a value of another type than the operand. Texts are read as dates
    and times if the operand is one. A choice is compared by its value.

    Args:
        comparisons: by path, what to compare with by operator: `=`, `!=`, `<`, `<=`, `>`, `>=`.
        fulfilled: whether to keep the rows that do, or the others.
        zone: the zone of times without one.

    Raises:
        ConfigError: an operator is another one, or there is no type for what is compared with.
        ValueError: a path cannot be read.
    """

    comparisons: Mapping[str, Mapping[str, Any]]
    fulfilled: bool = True
    zone: TimeZone = UTC

    def __post_init__(self) -> None:
        for path, wanted in self.comparisons.items():
            parse_path(path)
            for name, value in wanted.items():
                if name not in _COMPARE:
                    raise ConfigError(f"'{name}' of '{path}' is not a comparison; use one of {', '.join(_COMPARE)}.")
                _scalar(value)

    def __call__(self, chunk: Chunk) -> Chunk:
        """Return the kept rows; the errors stay."""
        columns, none = columns_of(chunk.batch), pa.repeat(pa.scalar(value=False), chunk.batch.num_rows)
        verdicts = [
            none if (column := find(columns, parse_path(path))) is None else _fulfils(column, name, value, self.zone)
            for path, wanted in self.comparisons.items()
            for name, value in wanted.items()
        ]
        kept = reduce(pc.and_, verdicts, pc.invert(none))
        return chunk.filtered(kept if self.fulfilled else pc.invert(kept))


def _fulfils(column: Column, name: str, value: Any, zone: TimeZone) -> pa.BooleanArray:
    sides = children_of(column) if is_choice(column.field) else [column]
    verdicts = [pc.fill_null(_compared(side.array, name, _scalar(value), zone), fill_value=False) for side in sides]
    return reduce(pc.or_, verdicts)


def _compared(array: pa.Array, name: str, value: pa.Scalar, zone: TimeZone) -> pa.BooleanArray:
    held, given = family(array.type), family(value.type)
    if (held in _READ_FROM_TEXT and given == "string") or held == given == "timestamp":
        value = try_cast(pa.array([value.as_py()], value.type), array.type, zone)[0]
    elif held != given and not {held, given} <= _ORDERED_BY_NUMBER:
        return pa.nulls(len(array), pa.bool_())
    return _COMPARE[name](array, value)


def _scalar(value: Any) -> pa.Scalar:
    try:
        scalar = pa.scalar(value)
        family(scalar.type)
    except (pa.ArrowException, ConfigError) as wrong:
        raise ConfigError(f"{value!r} cannot be compared with a field; use a number, text, date or boolean.") from wrong
    return scalar
