"""Random tables and rows for databases: how a frame has a value, and how the database's own client writes it."""

from __future__ import annotations

import json
import string
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from itertools import islice
from random import Random
from typing import Any

import pyarrow as pa

from gluepot.connectors.jdbc.settings import RangePartitions
from tests.differential import cast_values

Make = Callable[[Random], Any]
US, UTC_US = pa.timestamp("us"), pa.timestamp("us", "UTC")

# A null in a record stays a null, also where the column has a default.
_DEFAULTS = {
    **dict.fromkeys(("smallint", "int", "integer", "bigint", "double", "double precision"), " DEFAULT 5"),
    **dict.fromkeys(("varchar(3)", "varchar(9)", "varchar(30)", "char(3)", "text"), " DEFAULT 'df'"),
}


@dataclass(frozen=True)
class Form:
    """A form that values of a column have in a frame.

    Args:
        arrow: the type in the frame.
        sent: the database's name of the type as which its own client sends the value; empty for a literal.
        make: makes a value.
        plain: makes the value that the client sends of the value in the frame.
    """

    arrow: pa.DataType
    sent: str
    make: Make
    plain: Callable[[Any], Any] = lambda value: value


@dataclass(frozen=True)
class Column:
    """A column of a random table."""

    name: str
    declared: str
    form: Form
    is_key: bool = False


@dataclass
class Table:
    """A random table and the rows that are written to it.

    Args:
        columns: the columns that the rows have.
        more: definitions of other columns.
        mode: `append`, `overwrite` or `upsert`.
        rows: the rows, with None for null.
        cuts: the rows as they are cut into writes, tasks and batches.
        has_nullable_keys: whether the key is a unique index that takes nulls, instead of the primary key.
    """

    columns: Sequence[Column]
    more: Sequence[str]
    mode: str
    rows: list[dict[str, Any]]
    cuts: list[list[list[pa.RecordBatch]]] = field(default_factory=list)
    has_nullable_keys: bool = False

    @property
    def has_null_key(self) -> bool:
        """Whether a row has a null in its key."""
        return any(row[key] is None for row in self.rows for key in self.keys)

    @property
    def keys(self) -> list[str]:
        return [column.name for column in self.columns if column.is_key]

    def definition(self, quoted: Callable[[str], str]) -> str:
        """The columns in a CREATE TABLE statement."""
        parts = [
            f"{quoted(one.name)} {one.declared}{self._needs_value if one.is_key else _DEFAULTS.get(one.declared.lower(), '')}"
            for one in self.columns
        ]
        if self.keys:
            index = "UNIQUE" if self.has_nullable_keys else "PRIMARY KEY"
            parts.append(f"{index} ({', '.join(map(quoted, self.keys))})")
        return ", ".join([*parts, *self.more])

    @property
    def _needs_value(self) -> str:
        return "" if self.has_nullable_keys else " NOT NULL"

    def __str__(self) -> str:
        columns = ", ".join(f"{one.name} {one.declared} from {one.form.arrow}" for one in self.columns)
        sizes = [[[one.num_rows for one in task] for task in write] for write in self.cuts]
        rows = [tuple(row.values()) for row in self.rows]
        return f"{self.mode} into ({columns}; {'; '.join(self.more)}) by {self.keys} in cuts {sizes}: {rows}"


def random_table(
    random: Random,
    types: Mapping[str, Sequence[Form]],
    keys: Sequence[str],
    more: Sequence[str],
    *,
    has_loose_keys: bool = False,
) -> Table:
    """Return a table with random columns and rows, the rows not cut yet.

    Args:
        random: the source of chance.
        types: types of columns, with the forms of their values; the first one fits the type.
        keys: types of keys.
        more: definitions of other columns.
        has_loose_keys: whether keys have values of any form, and sometimes nulls, in an upsert.
    """
    mode = random.choice(["append", "overwrite", "upsert"])
    key_count = random.choice([1, 1, 2]) if mode == "upsert" else random.choice([0, 1])
    names = _names(random)
    is_loose = has_loose_keys and mode == "upsert"
    columns = [
        Column(name, declared := random.choice(keys), random.choice(types[declared][: None if is_loose else 1]), True)
        for name in islice(names, key_count)
    ]
    pairs = [(declared, form) for declared, forms in types.items() for form in forms]
    columns += [Column(name, *random.choice(pairs)) for name in islice(names, random.randint(1, 4))]
    has_nullable_keys = is_loose and random.random() < 0.25
    rows: list[dict[str, Any]] = []
    for _ in range(random.choice([1, 2, 3, 6])):
        row = {one.name: None if random.random() < 0.3 else one.form.make(random) for one in columns}
        lacks_key = has_nullable_keys and random.random() < 0.2
        rows.append(
            {**row, **{one.name: None if lacks_key else one.form.make(random) for one in columns if one.is_key}}
        )
    for _ in range(random.randrange(4) if mode == "upsert" else 0):
        source = random.choice(rows)
        rows.append({**random.choice(rows), **{one.name: source[one.name] for one in columns if one.is_key}})
    # A type that does not fit is refused only where a value shows it.
    columns = [
        one if any(row[one.name] is not None for row in rows) else replace(one, form=types[one.declared][0])
        for one in columns
    ]
    chosen = random.sample(more, random.randrange(len(more) + 1))
    return Table(columns, chosen, mode, rows, has_nullable_keys=has_nullable_keys)


def new_table(random: Random, declared: Mapping[Form, str], text: str) -> tuple[Table, Table | None]:
    """Return a table that is not there before the write, and perhaps rows of the same columns with other types.

    Args:
        random: the source of chance.
        declared: the type that a new column gets for each form.
        text: the type of a column with values of several types.
    """
    names = list(islice(_names(random), random.randint(1, 3)))
    tables = [_with_values(random, names, declared, random.choice(["append", "overwrite"]))]
    if random.random() < 0.5:
        return tables[0], None
    other = _with_values(random, names, declared, "append")
    types = [
        one.declared if one.declared == another.declared else text
        for one, another in zip(tables[0].columns, other.columns, strict=True)
    ]
    both = [
        replace(
            table, columns=[replace(one, declared=type_of) for one, type_of in zip(table.columns, types, strict=True)]
        )
        for table in (tables[0], other)
    ]
    return both[0], both[1]


def _with_values(random: Random, names: Sequence[str], declared: Mapping[Form, str], mode: str) -> Table:
    forms = [random.choice([*declared]) for _ in names]
    columns = [Column(name, declared[form], form) for name, form in zip(names, forms, strict=True)]
    rows = [{one.name: one.form.make(random) for one in columns} for _ in range(random.choice([1, 2, 4]))]
    for row in rows[1:]:
        row.update({name: None for name in names if random.random() < 0.3})
    return Table(columns, [], mode, rows)


def cut_of_both(random: Random, first: Table, second: Table | None) -> list[list[pa.RecordBatch]]:
    """Return the rows of a new table as one write, those of the other types in tasks of their own."""
    return [task for table in (first, second) if table for task in cut(random, table, most_writes=1)[0]]


def range_of(random: Random, column: str) -> RangePartitions:
    """Return a division of numbers between -6 and 6, or about as many."""
    lower = random.randint(-6, 3)
    return RangePartitions(column, lower, lower + random.randint(1, 9), random.choice([2, 3, 5]))


def cut(random: Random, table: Table, *, most_writes: int = 3) -> list[list[list[pa.RecordBatch]]]:
    """Return the rows cut at random into writes, tasks and batches.

    A column that is null in all rows of a batch often has no type, as after JSON. An overwrite is one write.
    """
    writes = 1 if table.mode == "overwrite" else random.randint(1, most_writes)
    return [
        [[_batch(random, table, rows) for rows in _cut(random, of_task, 2)] for of_task in _cut(random, of_write, 2)]
        for of_write in _cut(random, table.rows, writes)
    ]


def _cut(random: Random, rows: Sequence[Any], most: int) -> list[Sequence[Any]]:
    ends = sorted({len(rows), *(random.randint(1, len(rows)) for _ in range(most - 1))})
    return [rows[start:end] for start, end in zip([0, *ends], ends, strict=False)]


def _batch(random: Random, table: Table, rows: Sequence[dict[str, Any]]) -> pa.RecordBatch:
    arrays = []
    for column in table.columns:
        values = [row[column.name] for row in rows]
        without_type = all(value is None for value in values) and random.random() < 0.7
        arrays.append(pa.array(values, _bare(values, column.form.arrow) if not without_type else pa.null()))
    return pa.RecordBatch.from_arrays(arrays, [column.name for column in table.columns])


def _bare(values: Sequence[Any], kind: pa.DataType) -> pa.DataType:
    """A list whose elements are all null has elements without a type."""
    is_bare = pa.types.is_list(kind) and not any(one is not None for value in values for one in value or ())
    return pa.list_(pa.null()) if is_bare else kind


def _names(random: Random) -> Iterator[str]:
    given = ["id", "Name", "order", "a b", 'q"q', "ünï", "CODE", "x1", "select", "k-1"]
    random.shuffle(given)
    yield from given


def texts(*values: str, wrong: str = "") -> Form:
    """Texts that the server reads, and rarely one that it refuses."""
    return Form(pa.string(), "", lambda random: wrong if wrong and random.random() < 0.04 else random.choice(values))


def word(most: int) -> Make:
    """Make a text that is rarely longer than a column takes."""
    letters = string.ascii_letters + " é漢'\"\\,{}"

    def make(random: Random) -> str:
        length = most + random.randint(1, 3) if random.random() < 0.03 else random.randint(0, most)
        return "".join(random.choice(letters) for _ in range(length))

    return make


def long_word(random: Random) -> str:
    """Make a text, sometimes one of thousands of letters."""
    return word(9)(random) * (1 if random.random() < 0.7 else 700)


def one_of(*values: Any) -> Make:
    """Make one of these values."""
    return lambda random: random.choice(values)


def whole(bits: int) -> Make:
    """Make an integer of some bits, often at their ends."""
    return cast_values.integer(bits)


def day(random: Random) -> date:
    """Make a date that Python has."""
    return date.fromordinal(random.choice([1, date.max.toordinal(), random.randint(1, date.max.toordinal())]))


def moment(random: Random) -> datetime:
    """Make a timestamp that Python has."""
    micros = random.choice([0, 1, 999_999, 500_000, random.randrange(10**6)])
    return datetime(1, 1, 2) + timedelta(
        days=random.randrange(3_652_000), seconds=random.randrange(86_400), microseconds=micros
    )


def zoned(random: Random) -> datetime:
    """Make a timestamp in UTC."""
    return moment(random).replace(tzinfo=UTC)


def of_list(make: Make) -> Make:
    """Make a list with some nulls."""
    return lambda random: [None if random.random() < 0.3 else make(random) for _ in range(random.choice([0, 1, 2, 4]))]


def number(random: Random) -> float:
    """Make a double."""
    return cast_values.double(random)


def small(random: Random) -> float:
    """Make a double that an integer holds after rounding, and often a single precision number, too."""
    return random.choice([0.5, 1.5, -2.5, 7.0, 0.1, random.randrange(-9999, 9999) / 10, random.uniform(-1000, 1000)])


def amount(precision: int, scale: int) -> Make:
    """Make a decimal."""
    return lambda random: Decimal(cast_values.decimal(precision, scale)(random))


def document(random: Random) -> dict[str, Any]:
    """Make a struct."""
    return {"n": random.choice([None, 1, 2]), "t": random.choice([None, "a", "q\"'"])}


DOCUMENT = pa.struct([("n", pa.int64()), ("t", pa.string())])


def json_text(value: Any) -> str | None:
    """The JSON of a struct, whose null fields are left out."""
    if value is None:
        return None
    kept = {name: one for name, one in value.items() if one is not None} if isinstance(value, dict) else value
    return json.dumps(kept, ensure_ascii=False, separators=(",", ":"))
