"""Casts: `try_cast` next to Spark's cast without ANSI mode, of the same values in a Parquet file, in UTC."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from decimal import ROUND_HALF_UP, Context, Decimal
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from gluepot.frames.cast import try_cast
from gluepot.frames.schema.glue_types import TIMESTAMP, arrow_type
from tests.differential import cast_values as values
from tests.differential.kind import Difference, Round, World

ROWS = 2_000
# More differences of one pair of types have one cause.
MOST_OF_A_PAIR = 3

_EXACT = Context(prec=400)
_INTEGERS = {"byte": 8, "short": 16, "int": 32, "long": 64}
_DECIMALS = [f"decimal({precision},{scale})" for precision, scale in values.DECIMALS]
_NUMBERS = [*_INTEGERS, "float", "double"]
_SCALARS = ["string", "boolean", *_NUMBERS, *_DECIMALS, "date", "timestamp", "binary"]
_SPARK_NAMES = {"byte": "tinyint", "short": "smallint", "long": "bigint"}
_TIME_ONLY = re.compile(r"[\0- \x7f]*(?:\d\d?:|T\d)", re.ASCII)
# Releases of the time zone database since 2024b make these names links, and change what they meant before 1970.
_OLD_REGION = re.compile(r"(?:EST5EDT|CST6CDT|MST7MDT|PST8PDT|WET|CET|MET|EET)[\0- \x7f]*$")

_MAKERS: dict[str, Callable[[Random], Any]] = {
    "string": values.text,
    "boolean": lambda random: random.random() < 0.5,
    **{name: values.integer(bits) for name, bits in _INTEGERS.items()},
    "float": values.float32,
    "double": values.double,
    **dict(zip(_DECIMALS, (values.decimal(*each) for each in values.DECIMALS), strict=True)),
    "date": values.date,
    "timestamp": values.timestamp,
    "binary": values.binary,
}


def castable(source: str, target: str) -> bool:
    """Return whether Spark accepts a cast of these types; otherwise ours gives nulls, and there is nothing to compare."""
    numeric = {*_NUMBERS, *_DECIMALS}
    if source == "null" or target in (source, "string"):
        return True
    if target == "binary":
        return source in ("string", *_INTEGERS)
    if target == "date":
        return source in ("string", "timestamp")
    if source == "binary":
        return False
    return target in {"boolean", "timestamp", *numeric}


class Kind:
    """See `tests.differential.kind.Kind`."""

    name = "casts"
    unit = "values"

    def __init__(self, rows: int = ROWS, most_pairs: int | None = None) -> None:
        """Make the kind.

        Args:
            rows: how many values of each type a round casts.
            most_pairs: how many pairs of types a round compares; None for all. Those to strings are always among them.
        """
        self._rows, self._most_pairs = rows, most_pairs

    def round(self, random: Random, world: World) -> Round:
        """Cast random values of each type to each other type."""
        table = _table(random, self._rows)
        path = world.folder / "values.parquet"
        pq.write_table(table, path)
        pairs = [(source, target) for source in table.column_names for target in _SCALARS if castable(source, target)]
        if self._most_pairs is not None:
            pairs = random.sample(pairs, self._most_pairs)
            pairs += [pair for source in table.column_names if (pair := (source, "string")) not in pairs]
        spark = world.spark()
        java = int(spark.sparkContext._jvm.System.getProperty("java.specification.version"))
        expected = world.answer([path.read_bytes(), pairs], lambda: _cast_by_spark(spark, path, pairs))
        result = Round()
        for (source, target), theirs in zip(pairs, expected, strict=True):
            column = table.column(source).combine_chunks()
            ours = try_cast(column, arrow_type(target))
            ours.validate(full=True)
            result.cases += len(column)
            result.taken += len(column)
            texts = expected[pairs.index((source, "string"))]
            explain = Explanation(source, target, java)
            result.differences += list(_compared(column, ours, theirs, texts, explain))
        return result


def _table(random: Random, rows: int) -> pa.Table:
    columns: dict[str, pa.Array] = {"null": pa.nulls(rows)}
    for name, make in _MAKERS.items():
        made = [values.maybe(make, random) for _ in range(rows)]
        kind = arrow_type(name)
        # Python has no dates before year 1 and after 9999.
        plain = {"date": pa.int32(), "timestamp": pa.int64()}.get(name, kind)
        if name == "float":
            made = [None if each is None else np.float32(each) for each in made]
        columns[name] = pa.array(made, plain).cast(kind)
    return pa.table(columns)


def _cast_by_spark(spark: Any, path: Path, pairs: list[tuple[str, str]]) -> list[pa.Array]:
    changed = {"spark.sql.ansi.enabled": "false", "spark.sql.session.timeZone": "UTC"}
    before = {name: spark.conf.get(name) for name in changed}
    for name, value in changed.items():
        spark.conf.set(name, value)
    try:
        frame = spark.read.parquet(str(path))
        columns = [_spark_cast(source, target) + f" as c{number}" for number, (source, target) in enumerate(pairs)]
        result = frame.coalesce(1).selectExpr(*columns).toArrow()
    finally:
        for name, value in before.items():
            spark.conf.set(name, value)
    arrays = []
    for (_, target), column in zip(pairs, result.columns, strict=True):
        array = pa.concat_arrays(column.chunks)
        arrays.append(array if target == "string" else array.cast(arrow_type(target)))
    return arrays


def _spark_cast(source: str, target: str) -> str:
    value = "null" if source == "null" else f"`{source}`"  # Spark reads a null column of Parquet as another type
    made = f"cast({value} as {_SPARK_NAMES.get(target, target)})"
    # Spark keeps bytes that are not UTF-8 in a string; Arrow does not.
    return f"cast({made} as binary)" if (source, target) == ("binary", "string") else made


def _compared(
    column: pa.Array, ours: pa.Array, theirs: pa.Array, texts: pa.Array, explain: Explanation
) -> Iterator[Difference]:
    if len(ours) == len(theirs) and _bits(ours).equals(_bits(theirs)):
        return
    seen: dict[str, int] = {}
    for index, (mine, other) in enumerate(zip(_plain(ours), _plain(theirs), strict=True)):
        if _same(mine, other):
            continue
        value = _plain(column.slice(index, 1))[0]
        why = explain.why(value, mine, other, _plain(texts.slice(index, 1))[0])
        seen[why] = seen.get(why, 0) + 1
        if seen[why] <= MOST_OF_A_PAIR:
            yield Difference(f"{explain.source} {value!r} to {explain.target}", repr(mine), repr(other), why)


def _bits(array: pa.Array) -> pa.Array:
    """Return doubles and floats as integers, because NaN equals nothing and -0.0 equals 0.0."""
    if not pa.types.is_floating(array.type):
        return array
    wide = array.cast(pa.float64())
    return pa.array(wide.to_numpy(zero_copy_only=False).view(np.int64), mask=wide.is_null().to_numpy(False))


def _plain(array: pa.Array) -> list[Any]:
    if pa.types.is_date32(array.type):
        array = array.cast(pa.int32())
    if array.type == TIMESTAMP:
        array = array.cast(pa.int64())
    return list(array.to_pylist())


def _same(mine: Any, other: Any) -> bool:
    if isinstance(mine, float) and isinstance(other, float):
        return (math.isnan(mine) and math.isnan(other)) or (
            mine == other and math.copysign(1, mine) == math.copysign(1, other)
        )
    if isinstance(mine, str) and isinstance(other, bytes):
        return mine.encode() == other
    return type(mine) is type(other) and bool(mine == other)


class Explanation:
    """Finds the documented reason of a difference.

    Args:
        source: the name of the type of the value.
        target: the name of the type to which it is cast.
        java: the feature release that runs Spark.
    """

    def __init__(self, source: str, target: str, java: int) -> None:
        self.source, self.target, self.java = source, target, java

    def why(self, value: Any, ours: Any, theirs: Any, theirs_as_text: Any) -> str:
        """Return the reason, or nothing if the difference is a fault."""
        if ours is None and self.target in _INTEGERS and self._is_out_of_range(value):
            return "an integer that does not fit is null"
        if (
            self.source in ("float", "double")
            and self.java < 19
            and self._has_more_digits(value, ours, theirs, theirs_as_text)
        ):
            return "digits of Java 17"
        if ours is None and self.source == "string" and self.target == "timestamp" and _TIME_ONLY.match(value):
            return "a time without a date"
        if ours is not None and theirs is not None and self.target == "timestamp" and _OLD_REGION.search(str(value)):
            return "rules of time zones"
        if self.source == "binary" and isinstance(ours, str) and ours == theirs.decode("utf-8", "replace"):
            return "bytes that are not UTF-8"
        return ""

    def _is_out_of_range(self, value: Any) -> bool:
        if not isinstance(value, int | float | Decimal):
            return False
        if isinstance(value, float) and not math.isfinite(value):
            return True
        whole = value // 10**6 if self.source == "timestamp" else int(value)
        limit = 2 ** (_INTEGERS[self.target] - 1)
        return not -limit <= whole < limit

    def _has_more_digits(self, value: float, ours: Any, theirs: Any, text: str) -> bool:
        """Return whether Java wrote the same double or float with other digits than the shortest ones."""
        if self.target == "string":
            read = np.float32 if self.source == "float" else float
            same_form = ("E" in text) == ("E" in ours) and text.startswith("-") == ours.startswith("-")
            return bool(same_form and read(text) == value and read(ours) == value)
        if not isinstance(theirs, Decimal) or ours != self._of_shortest_digits(value):
            return False
        # Java's digits lie within half a unit of the last bit; rounding to the scale adds half a digit.
        scale = int(self.target.partition(",")[2][:-1])
        most = _EXACT.add(Decimal(math.ulp(value)) / 2, Decimal(5).scaleb(-scale - 1))
        return abs(_EXACT.subtract(theirs, Decimal(value))) <= most

    def _of_shortest_digits(self, value: float) -> Decimal | None:
        """Return the decimal of the shortest digits that identify a double, rounded half up; None if it does not fit."""
        precision, scale = map(int, self.target.removeprefix("decimal(")[:-1].split(","))
        result = Decimal(repr(value)).quantize(Decimal(1).scaleb(-scale, _EXACT), ROUND_HALF_UP, _EXACT)
        return result if result.is_zero() or result.adjusted() + scale < precision else None
