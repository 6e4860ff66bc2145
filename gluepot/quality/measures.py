"""What an evaluation measures in one pass: states over Arrow batches that can be merged in any order."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol, TypeAlias, runtime_checkable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from gluepot.frames.cast import try_cast
from gluepot.frames.chunk import is_choice
from gluepot.frames.schema.glue_types import glue_name
from gluepot.quality.numbers import Comparison, RuleError
from gluepot.quality.values import NUMBERS, castable, epoch_secs, fulfilled, lengths

State: TypeAlias = Any

# Groups in one state. Spark counts more than these: the driver gets the states of all tasks, a MB or two each.
MOST_GROUPS = 100_000
_COMPACT_AT = 50_000
TOP = 20
"""How many of the most frequent values a distribution lists (docs/glue 12.3)."""
LONGEST_VALUE = 200
"""The number of characters of a value that a distribution shows."""

OWN = "__gluepot_quality_"
"""How the names of columns begin that an evaluation adds for itself."""


class Measure(Protocol):
    """A figure of the rows of a data set. Measures are equal, and computed once, if they measure the same."""

    @property
    def where(self) -> str:
        """The column that says which rows count; empty for all."""

    def of(self, batch: pa.RecordBatch) -> State:
        """Return the state of some rows. A column that is missing is all NULL: other batches may have it.

        Raises:
            RuleError, pa.ArrowException: the values cannot be measured.
        """

    def merged(self, one: State, other: State) -> State:
        """Return the state of the rows of both."""


@runtime_checkable
class GroupingMeasure(Measure, Protocol):
    """A measure that groups values, and that need not go on after there were too many of them."""

    def of_more(self, batch: pa.RecordBatch, before: State) -> State:
        """Return the state of some rows, knowing that of the rows before, with which it will be merged."""


@dataclass(frozen=True, slots=True)
class Rows:
    """The number of rows.

    Args:
        where: the column that says which rows count; empty for all.
    """

    where: str = ""

    def of(self, batch: pa.RecordBatch) -> int:
        """Return the number."""
        rows: int = batch.num_rows
        return rows

    def merged(self, one: int, other: int) -> int:
        """Return the sum."""
        return one + other


@dataclass(frozen=True, slots=True)
class Counted:
    """Rows, and how many of them fulfil something."""

    rows: int
    found: int


class _Counts:
    """Counts rows that fulfil something."""

    __slots__ = ()

    def merged(self, one: Counted, other: Counted) -> Counted:
        return Counted(one.rows + other.rows, one.found + other.found)


def _counted(flags: pa.BooleanArray) -> Counted:
    return Counted(len(flags), flags.true_count)


@dataclass(frozen=True, slots=True)
class Complete(_Counts):
    """Rows whose value is not NULL."""

    column: str
    where: str = ""

    def of(self, batch: pa.RecordBatch) -> Counted:
        """See `Measure`."""
        values = column_of(batch, self.column)
        return Counted(batch.num_rows, batch.num_rows - values.null_count)


@dataclass(frozen=True, slots=True)
class Fulfilling(_Counts):
    """Rows whose value fulfils a condition."""

    column: str
    test: Comparison
    where: str = ""

    def of(self, batch: pa.RecordBatch) -> Counted:
        """See `Measure`."""
        return _counted(fulfilled(column_of(batch, self.column), self.test))


@dataclass(frozen=True, slots=True)
class LengthFulfilling(_Counts):
    """Rows whose text has a length that fulfils a condition; NULL has the length 0."""

    column: str
    test: Comparison
    where: str = ""

    def of(self, batch: pa.RecordBatch) -> Counted:
        """See `Measure`."""
        return _counted(fulfilled(lengths(column_of(batch, self.column)), self.test))


@dataclass(frozen=True, slots=True)
class Fresh(_Counts):
    """Rows whose date has an age that fulfils a condition.

    Args:
        column: the date.
        test: of the age in seconds.
        now_secs: the moment from which ages are counted, in seconds since 1970.
    """

    column: str
    test: Comparison
    now_secs: float
    where: str = ""

    def of(self, batch: pa.RecordBatch) -> Counted:
        """See `Measure`."""
        return _counted(fulfilled(ages(column_of(batch, self.column), self.now_secs), self.test))


def ages(array: pa.Array, now_secs: float) -> pa.Array:
    """Return how many seconds before a moment the dates are."""
    return pc.subtract(pa.scalar(now_secs), epoch_secs(array))


@dataclass(frozen=True, slots=True)
class Castable(_Counts):
    """Rows whose value Spark can cast to a type.

    Args:
        column: its name.
        data_type: a name that `ColumnDataType` knows.
        date_format: how texts show a date or time stamp; empty for the forms that Spark casts.
    """

    column: str
    data_type: str
    where: str = ""
    date_format: str = ""

    def of(self, batch: pa.RecordBatch) -> Counted:
        """See `Measure`."""
        return _counted(castable(column_of(batch, self.column), self.data_type, self.date_format))


@dataclass(frozen=True, slots=True)
class Spread:
    """Moments and extremes of numbers that are not NULL.

    Args:
        count: how many.
        total: their sum.
        squares: the sum of the squares of their distances from the mean.
        least: the smallest one. NaN is larger than every other number, as in Spark.
        most: the largest one.
    """

    count: int = 0
    total: float = 0.0
    squares: float = 0.0
    least: float = float("inf")
    most: float = float("-inf")

    @property
    def mean(self) -> float:
        """Their mean; there has to be a number."""
        return self.total / self.count


def _merged_spread(one: Spread, other: Spread) -> Spread:
    if not one.count or not other.count:
        return other if other.count else one
    count = one.count + other.count
    apart = other.mean - one.mean
    return Spread(
        count,
        one.total + other.total,
        one.squares + other.squares + apart * apart * (one.count * other.count / count),
        min(one.least, other.least, key=_as_in_spark),
        max(one.most, other.most, key=_as_in_spark),
    )


def _as_in_spark(value: float) -> tuple[bool, float]:
    return math.isnan(value), value


def _spread(values: np.ndarray[Any, np.dtype[np.float64]]) -> Spread:
    if not len(values):
        return Spread()
    # Infinities and sums that are too large give an infinity or NaN, as in Spark, without a warning.
    with np.errstate(all="ignore"):
        total = float(values.sum())
        away = values - total / len(values)
        squares = float(np.dot(away, away))
        return Spread(len(values), total, squares, float(np.fmin.reduce(values)), float(values.max()))


def doubles(array: pa.Array) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Return numbers or truth values as doubles, without NULL."""
    cast = pc.cast(array, pa.float64(), safe=False) if not pa.types.is_boolean(array.type) else array
    result: np.ndarray[Any, np.dtype[np.float64]] = cast.drop_null().to_numpy(zero_copy_only=False)
    return result


@dataclass(frozen=True, slots=True)
class Numbers:
    """Moments and extremes of a column of numbers."""

    column: str
    where: str = ""

    def of(self, batch: pa.RecordBatch) -> Spread:
        """See `Measure`."""
        return _spread(doubles(column_of(batch, self.column)))

    def merged(self, one: Spread, other: Spread) -> Spread:
        """See `Measure`."""
        return _merged_spread(one, other)


@dataclass(frozen=True, slots=True)
class Extent:
    """The smallest and the largest of some numbers.

    Args:
        rows: how many rows there are.
        count: how many of them have a number.
        least: the smallest one, which is never NaN if there is another number.
        most: the largest one. NaN is larger than every other number, as in Spark.
    """

    rows: int = 0
    count: int = 0
    least: float = float("inf")
    most: float = float("-inf")


def _extent(array: pa.Array) -> Extent:
    count = len(array) - array.null_count
    if not count:
        return Extent(len(array))
    if pa.types.is_boolean(array.type) or pa.types.is_decimal(array.type):
        array = pc.cast(array, pa.float64(), safe=False)
    found = pc.min_max(array)
    least, most = found["min"].as_py(), found["max"].as_py()
    if pa.types.is_floating(array.type) and pc.any(pc.is_nan(array)).as_py():
        most = float("nan")
        least = most if pc.all(pc.is_nan(array)).as_py() else least
    return Extent(len(array), count, least, most)


class _Extents:
    """Finds the smallest and the largest number."""

    __slots__ = ()

    def merged(self, one: Extent, other: Extent) -> Extent:
        if not one.count or not other.count:
            ends = other if other.count else one
            return Extent(one.rows + other.rows, ends.count, ends.least, ends.most)
        return Extent(
            one.rows + other.rows,
            one.count + other.count,
            min(one.least, other.least, key=_as_in_spark),
            max(one.most, other.most, key=_as_in_spark),
        )


@dataclass(frozen=True, slots=True)
class Extremes(_Extents):
    """The smallest and the largest number of a column."""

    column: str
    where: str = ""

    def of(self, batch: pa.RecordBatch) -> Extent:
        """See `Measure`."""
        return _extent(column_of(batch, self.column))


@dataclass(frozen=True, slots=True)
class Times(_Extents):
    """The earliest and the latest date or time stamp of a column, in seconds since 1970."""

    column: str
    where: str = ""

    def of(self, batch: pa.RecordBatch) -> Extent:
        """See `Measure`."""
        return _extent(epoch_secs(column_of(batch, self.column)))


@dataclass(frozen=True, slots=True)
class Lengths(_Extents):
    """The smallest and the largest length of the texts of a column; NULL has the length 0."""

    column: str
    where: str = ""

    def of(self, batch: pa.RecordBatch) -> Extent:
        """See `Measure`."""
        return _extent(lengths(column_of(batch, self.column)))


@dataclass(frozen=True, slots=True)
class Joint:
    """Moments of two columns over rows in which both have a number."""

    count: int = 0
    mean_a: float = 0.0
    mean_b: float = 0.0
    squares_a: float = 0.0
    squares_b: float = 0.0
    products: float = 0.0


@dataclass(frozen=True, slots=True)
class Together:
    """Joint moments of two columns of numbers."""

    first: str
    second: str
    where: str = ""

    def of(self, batch: pa.RecordBatch) -> Joint:
        """See `Measure`."""
        first, second = column_of(batch, self.first), column_of(batch, self.second)
        if first.null_count or second.null_count:
            both = pc.and_(first.is_valid(), second.is_valid())
            first, second = first.filter(both), second.filter(both)
        a, b = doubles(first), doubles(second)
        if not len(a):
            return Joint()
        with np.errstate(all="ignore"):
            mean_a, mean_b = float(a.mean()), float(b.mean())
            from_a, from_b = a - mean_a, b - mean_b
            return Joint(
                len(a),
                mean_a,
                mean_b,
                float(np.dot(from_a, from_a)),
                float(np.dot(from_b, from_b)),
                float(np.dot(from_a, from_b)),
            )

    def merged(self, one: Joint, other: Joint) -> Joint:
        """See `Measure`."""
        if not one.count or not other.count:
            return other if other.count else one
        count = one.count + other.count
        apart_a, apart_b = other.mean_a - one.mean_a, other.mean_b - one.mean_b
        share = one.count * other.count / count
        return Joint(
            count,
            one.mean_a + apart_a * other.count / count,
            one.mean_b + apart_b * other.count / count,
            one.squares_a + other.squares_a + apart_a * apart_a * share,
            one.squares_b + other.squares_b + apart_b * apart_b * share,
            one.products + other.products + apart_a * apart_b * share,
        )


@dataclass(frozen=True, slots=True)
class Grouped:
    """How often each value of some columns occurs.

    Args:
        rows: number of rows.
        tables: each has one column for each column and `n`, the number of rows. A value may be in several tables.
        too_many: whether counting stopped because there are more values than one process can hold.
        different: if counting stopped, the share of different values among the rows that were counted until then.
    """

    rows: int
    tables: tuple[pa.Table, ...] = ()
    too_many: bool = False
    different: float = 1.0

    def __reduce__(self) -> tuple[Any, ...]:
        # Pickled as they are, tables take all memory that was set aside for them, several times their size.
        return _grouped, (self.rows, [packed(table) for table in self.tables], self.too_many, self.different)


def any_valid(columns: Sequence[pa.Array | pa.ChunkedArray]) -> pa.BooleanArray | pa.ChunkedArray:
    """Return for each row of some columns whether it has a value in at least one of them."""
    found = columns[0].is_valid()
    for column in columns[1:]:
        found = pc.or_(found, column.is_valid())
    return found


def packed(table: pa.Table) -> bytes:
    """Return a table as compressed bytes."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema, options=pa.ipc.IpcWriteOptions(compression="lz4")) as writer:
        writer.write_table(table)
    found: bytes = sink.getvalue().to_pybytes()
    return found


def unpacked(table: bytes | pa.Buffer) -> pa.Table:
    """Return the table that was packed."""
    return pa.ipc.open_stream(table).read_all()


def _grouped(rows: int, tables: Sequence[bytes], too_many: bool, different: float) -> Grouped:
    return Grouped(rows, tuple(map(unpacked, tables)), too_many, different)


@dataclass(frozen=True, slots=True)
class Frequencies:
    """Summary of a `Grouped`.

    Args:
        rows: number of rows.
        filled: rows in which not all columns are NULL.
        distinct: different values, without that of NULL in all columns.
        once: values that occur once.
        entropy: of the values.
        top: the most frequent values as texts, and how often each occurs, the most frequent one first; empty unless the
            values of one column, which are no numbers, were counted for a distribution.
    """

    rows: int
    filled: int
    distinct: int
    once: int
    entropy: float
    top: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Groups:
    """How often each combination of values occurs."""

    columns: tuple[str, ...]
    where: str = ""

    def of(self, batch: pa.RecordBatch) -> Grouped:
        """See `Measure`."""
        names = [str(at) for at in range(len(self.columns))]
        table = pa.Table.from_arrays([*self.keys(batch), _ones(batch.num_rows)], names=[*names, "n"])
        return Grouped(batch.num_rows, (_summed(table, names),))

    def of_more(self, batch: pa.RecordBatch, before: Grouped) -> Grouped:
        """See `GroupingMeasure`."""
        return Grouped(batch.num_rows, too_many=True) if before.too_many else self.of(batch)

    def keys(self, batch: pa.RecordBatch) -> list[pa.Array]:
        """Return the values of the columns; those that Spark takes for equal are equal."""
        return [_grouping(column_of(batch, name)) for name in self.columns]

    def merged(self, one: Grouped, other: Grouped) -> Grouped:
        """See `Measure`."""
        rows = one.rows + other.rows
        if one.too_many or other.too_many:
            return Grouped(rows, too_many=True, different=min(one.different, other.different))
        tables = (*one.tables, *other.tables)
        loose = sum(table.num_rows for table in tables[1:])
        if loose <= max(_COMPACT_AT, tables[0].num_rows):
            return Grouped(rows, tables)
        compact = self.compact(Grouped(rows, tables))
        if compact.num_rows > MOST_GROUPS:
            return Grouped(rows, too_many=True, different=compact.num_rows / rows)
        return Grouped(rows, (compact,))

    def compact(self, given: Grouped) -> pa.Table:
        """Return one table in which each value is once.

        Raises:
            RuleError: the values have types that cannot be compared.
        """
        try:
            whole = pa.concat_tables(given.tables, promote_options="permissive")
        except pa.ArrowException:
            raise RuleError(f"The column {', '.join(self.columns)} holds values of several types.") from None
        return whole if len(given.tables) == 1 else _summed(whole, [str(at) for at in range(len(self.columns))])

    def chosen(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Return the rows that the mask of the measure chooses."""
        return _chosen(batch, self.where) if self.where else batch

    def filled(self, given: Grouped) -> pa.Table:
        """Return one table in which each value is once, without that of NULL in all columns."""
        table = self.compact(given)
        return table.filter(any_valid([table.column(str(at)) for at in range(len(self.columns))]))

    def frequencies(self, given: Grouped) -> Frequencies:
        """Return the summary."""
        counts = self.filled(given).column("n").to_numpy().astype(np.float64)
        filled = int(counts.sum())
        shares = counts / filled if filled else counts
        return Frequencies(
            given.rows, filled, len(counts), int((counts == 1).sum()), abs(float((shares * np.log(shares)).sum()))
        )

    def with_top(self, given: Grouped) -> Frequencies:
        """Return the summary of one column that has no numbers, with its most frequent values."""
        return replace(self.frequencies(given), top=top_values(self.filled(given)))


def top_values(table: pa.Table) -> tuple[tuple[str, int], ...]:
    """Return the most frequent values as texts, and how often each occurs, the most frequent one first.

    Args:
        table: has a column of values, each of them once, and `n`, how often each occurs.
    """
    if pa.types.is_boolean(table.column("0").type):  # Arrow selects no truth values
        table = table.set_column(table.column_names.index("0"), "0", pc.cast(table.column("0"), pa.string()))
    most = table.take(pc.select_k_unstable(table, TOP, [("n", "descending"), ("0", "ascending")]))
    texts = try_cast(most.column("0").combine_chunks(), pa.string())
    cut = pc.utf8_slice_codeunits(texts, 0, LONGEST_VALUE)
    return tuple(zip(map(str, cut.to_pylist()), most.column("n").to_pylist(), strict=True))


def _ones(rows: int) -> pa.Array:
    return pa.repeat(pa.scalar(1, pa.int64()), rows)


def _summed(table: pa.Table, names: Sequence[str]) -> pa.Table:
    summed = table.group_by(list(names), use_threads=False).aggregate([("n", "sum")])
    return summed.rename_columns([*names, "n"] if summed.column_names[-1] == "n_sum" else ["n", *names])


def _grouping(array: pa.Array) -> pa.Array:
    """Return values that group as Spark groups them: NaN equals itself, and -0.0 equals 0.0."""
    if not pa.types.is_floating(array.type):
        return array
    zero = pa.scalar(0.0, array.type)
    nan = pa.scalar(float("nan"), array.type)
    return pc.if_else(pc.is_nan(array), nan, pc.add(array, zero))


ALL_COLUMNS = "AllColumns"


@dataclass(frozen=True, slots=True)
class Statistics:
    """All that can be measured of one column or, with `AllColumns`, of each that is not nested.

    The state has the measures' states by measure and column.
    """

    column: str
    where: str = ""

    def of(self, batch: pa.RecordBatch) -> dict[str, dict[Measure, State]]:
        """See `Measure`."""
        return self.of_more(batch, {})

    def of_more(
        self, batch: pa.RecordBatch, before: Mapping[str, Mapping[Measure, State]]
    ) -> dict[str, dict[Measure, State]]:
        """See `GroupingMeasure`."""
        found: dict[str, dict[Measure, State]] = {}
        for field_ in batch.schema:
            is_wanted = self.column == ALL_COLUMNS or field_.name.lower() == self.column.lower()
            if not is_wanted or field_.name.startswith(OWN) or pa.types.is_nested(field_.type):
                continue
            known = before.get(field_.name, {})
            found[field_.name] = {one: state_of(one, batch, known.get(one)) for one in self._measures(field_)}
        return found

    def _measures(self, field_: pa.Field) -> list[Measure]:
        measures: list[Measure] = [Complete(field_.name), Groups((field_.name,))]
        if pa.types.is_string(field_.type):
            measures.append(Lengths(field_.name))
        elif glue_name(field_.type).partition("(")[0] in NUMBERS:
            measures.append(Numbers(field_.name))
        return measures

    def merged(self, one: dict[str, dict[Measure, State]], other: dict[str, dict[Measure, State]]) -> State:
        """See `Measure`."""
        found = {column: dict(states) for column, states in one.items()}
        for column, states in other.items():
            mine = found.setdefault(column, {})
            for measure, state in states.items():
                mine[measure] = _merged_states(measure, mine[measure], state) if measure in mine else state
        return found


@dataclass(frozen=True, slots=True)
class Columns:
    """The columns that were seen, with the types that each had, in the order of their first appearance.

    Args:
        types: names of Glue types by column. `choice` is among them if one chunk had several.
    """

    types: Mapping[str, frozenset[str]] = field(default_factory=dict)

    def merged(self, other: Columns) -> Columns:
        """Return the columns of both."""
        none: frozenset[str] = frozenset()
        names = dict.fromkeys([*self.types, *other.types])
        return Columns({name: self.types.get(name, none) | other.types.get(name, none) for name in names})


def columns_of(schema: pa.Schema) -> Columns:
    """Return the columns of a schema, without those that an evaluation adds for itself."""
    return Columns(
        {
            one.name: frozenset(["choice" if is_choice(one) else glue_name(one.type)])
            for one in schema
            if not one.name.startswith(OWN)
        }
    )


@dataclass(frozen=True, slots=True)
class Measured:
    """What was measured of some rows.

    Args:
        columns: their columns.
        states: by measure. A text takes the place of a state that could not be computed, and says why.
    """

    columns: Columns = field(default_factory=Columns)
    states: Mapping[Measure, State] = field(default_factory=dict)

    def merged(self, other: Measured) -> Measured:
        """Return what was measured of the rows of both."""
        states = dict(self.states)
        for measure, state in other.states.items():
            states[measure] = _merged_states(measure, states[measure], state) if measure in states else state
        return Measured(self.columns.merged(other.columns), states)


def _merged_states(measure: Measure, one: State, other: State) -> State:
    failed = next((state for state in (one, other) if isinstance(state, str)), None)
    if failed is not None:
        return failed
    try:
        return measure.merged(one, other)
    except RuleError as error:
        return str(error)


def measure(batch: pa.RecordBatch, measures: Iterable[Measure], before: Measured | None = None) -> Measured:
    """Measure a record batch.

    Args:
        batch: has the columns that say which rows count, too.
        measures: what to measure.
        before: what was measured of other rows, if the result will be merged with it.
    """
    known = {} if before is None else before.states
    masked: dict[str, pa.RecordBatch] = {"": batch}
    states: dict[Measure, State] = {}
    for one in measures:
        where = one.where
        if where not in masked:
            masked[where] = _chosen(batch, where)
        rows = masked[where]
        try:
            states[one] = state_of(one, rows, known.get(one))
        except (pa.ArrowException, RuleError) as error:
            states[one] = str(error).splitlines()[0]
    return Measured(columns_of(batch.schema), states)


def state_of(one: Measure, batch: pa.RecordBatch, before: State | None) -> State:
    """Return the state of some rows; what failed or ended before takes no further work."""
    if isinstance(before, str):
        return before
    return one.of(batch) if before is None or not isinstance(one, GroupingMeasure) else one.of_more(batch, before)


def _chosen(batch: pa.RecordBatch, where: str) -> pa.RecordBatch:
    """Return the rows that a mask chooses; a batch that stands for no rows may lack the mask."""
    if not batch.num_rows:
        return batch
    return batch.filter(pc.fill_null(batch.column(where), pa.scalar(False)))


def column_of(batch: pa.RecordBatch, name: str) -> pa.Array:
    """Return the values of a column; NULL in all rows if it is missing."""
    found = find_name(batch.schema.names, name)
    return pa.nulls(batch.num_rows) if found is None else batch.column(found)


def find_name(names: Iterable[str], wanted: str) -> str | None:
    """Return the name of a column that a rule names, in any letter case, as Spark finds it; None if there is none."""
    given = list(names)
    if wanted in given:
        return wanted
    lowered = wanted.lower()
    return next((name for name in given if name.lower() == lowered), None)
