"""Numbers whose type drifts from record to record, compared with the plain Python values of the records.

Each case is one way through the product for all values of one column: the merged type, the rows of a DynamicFrame,
casts of `resolveChoice`, the files behind `toDF`, and written Parquet tables. The records come as JSON, Parquet or
Avro, in random cuts into batches, tasks and files.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import reduce
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from gluepot.connectors.streams.rejects import NOWHERE
from gluepot.engine.row_files import RowFolders, rewritten, write_rows
from gluepot.frames.chunk import Chunk
from gluepot.frames.columns import columns_of
from gluepot.frames.json_decoder import JsonDecoder
from gluepot.frames.rows import plain_values
from gluepot.frames.schema import align, merge_schemas, observed, unmarked, without_nulls
from gluepot.frames.transforms.resolve_choice import ResolveChoice
from tests.differential.kind import Difference, Round, World
from tests.differential.typed_numbers import EDGES, Check, names_of, typed_case
from tests.unit.files.sink.drifting import Table

LONG = range(-(2**63), 2**63)
_DIGITS = 38
_BEYOND = [2**63, 2**64 - 1, 2**64, 10**20, 10**38 - 1, 10**38, 10**39 + 7]
_FRACTIONS = ["0.5", "-0.5", "5.0", "1e3", "1.5e300", "0.1234567890123456789", "9007199254740993.0", "-0.0", "1E-7"]


@dataclass(frozen=True, slots=True)
class Number:
    """A JSON number as it is written."""

    text: str

    @property
    def is_integer(self) -> bool:
        """Whether it has neither a fraction nor an exponent."""
        return self.text.lstrip("-").isdigit()


Value = Number | str | None


@dataclass(frozen=True, slots=True)
class Column:
    """One column of the records, and how deep its values are."""

    values: Sequence[Value]
    nesting: str  # "", "struct" or "list"


class Kind:
    """See the module."""

    name = "numbers"
    unit = "columns read in one way"

    def round(self, random: Random, world: World) -> Round:
        """Compare the columns of some random records."""
        result = Round()
        for at in range(12):
            rows = random.choice([1, 3, 8, 40])
            columns = {name: _column(random, rows) for name in "abc"}
            for check in _json_case(random, columns, world.folder / f"json-{at}"):
                _count(result, check)
        for at in range(6):
            for check in typed_case(random, world.folder / f"typed-{at}"):
                _count(result, check)
        if random.random() < self.share_of_spark:
            for check in _spark_case(random, world):
                _count(result, check)
        return result

    share_of_spark = 0.05
    """How many rounds also run through Spark, which takes longer than all other cases of the round."""


def _count(result: Round, check: Check) -> None:
    result.cases += 1
    result.taken += 1
    if not check.is_right:
        result.differences.append(Difference(f"{check.way}: {check.case}", repr(check.ours), check.expected))


# Records


def _column(random: Random, rows: int) -> Column:
    flavours: dict[str, Callable[[], Value]] = {
        "small": lambda: Number(str(random.randint(-9, 9))),
        "long": lambda: Number(str(random.choice([-1, 1]) * random.choice(EDGES))),
        "any": lambda: Number(str(random.randint(-(2**63), 2**63 - 1))),
        "beyond": lambda: Number(str(random.choice([-1, 1]) * random.choice(_BEYOND))),
        "fraction": lambda: Number(random.choice(_FRACTIONS)),
        "float": lambda: Number(repr(random.uniform(-1e6, 1e6))),
        "text": lambda: random.choice(["x", "12", ""]),
        "null": lambda: None,
    }
    weights = [random.choice([0, 0, 1, 8]) for _ in flavours]
    if not any(weights):
        weights[0] = 1
    makes = random.choices(list(flavours.values()), weights, k=rows)
    return Column([make() for make in makes], random.choice(["", "", "", "struct", "list"]))


def _written(value: Value) -> str:
    return value.text if isinstance(value, Number) else json.dumps(value)


def _field(column: Column, at: int) -> str:
    text = _written(column.values[at])
    return {"": text, "struct": f'{{"n":{text}}}', "list": f"[{text},{text}]"}[column.nesting]


def _records(columns: dict[str, Column]) -> list[bytes]:
    rows = len(next(iter(columns.values())).values)
    return [
        f'{{"id":{at},{",".join(f"{json.dumps(name)}:{_field(column, at)}" for name, column in columns.items())}}}'.encode()
        for at in range(rows)
    ]


def _cuts(random: Random, rows: int) -> list[range]:
    ends = sorted({*random.choices(range(rows + 1), k=random.choice([0, 1, 2, 4])), rows} - {0})
    return [range(first, last) for first, last in zip([0, *ends], ends, strict=False)]


# What must come out


def _simple_kinds(values: Iterable[Value]) -> set[str]:
    """Return the names of the types that a column has: one, or those of a choice."""
    kinds: dict[str, list[int]] = {}
    for value in values:
        if value is None:
            continue
        if isinstance(value, str):
            kinds.setdefault("string", [])
        elif not value.is_integer:
            kinds.setdefault("double", [])
        else:
            number = int(value.text)
            kind = "long" if number in LONG else "decimal" if len(value.text.lstrip("-")) <= _DIGITS else "string"
            kinds.setdefault(kind, []).append(number)
    if "double" in kinds and all(abs(one) <= 2**53 for one in kinds.get("long", [])):
        kinds.pop("long", None)
    return set(kinds)


def _is(got: Any, value: Value) -> bool:
    """Whether what came out is exactly the value."""
    if value is None or got is None:
        return value is None and got is None
    if isinstance(value, str):
        return bool(got == value)
    if isinstance(got, float):
        return Decimal(repr(got)) == int(value.text) if value.is_integer else _same_double(got, float(value.text))
    if value.is_integer:
        return not isinstance(got, bool) and Decimal(str(got)) == int(value.text)
    return _same_double(float(got), float(value.text))


def _same_double(left: float, right: float) -> bool:
    return left == right and math.copysign(1, left) == math.copysign(1, right)


def _cast_long(got: Any, value: Value) -> bool:
    if isinstance(value, str):
        return bool(got == (12 if value == "12" else None))
    if value is None:
        return got is None
    number = int(value.text) if value.is_integer else int(float(value.text))
    return bool(got == (number if number in LONG else None))


def _cast_double(got: Any, value: Value) -> bool:
    if isinstance(value, str):
        return bool(got == (12.0 if value == "12" else None))
    return got is None if value is None else got is not None and _same_double(got, float(value.text))


def _projected(got: Any, value: Value) -> bool:
    """Integers must be there; a fraction is not, and an integer with a fraction of zero may be."""
    if isinstance(value, Number) and value.is_integer and int(value.text) in LONG:
        return bool(got == int(value.text))
    return got is None or (isinstance(value, Number) and not value.is_integer and got == float(value.text))


def _one_of(names: Sequence[str]) -> Callable[[dict[str, Any], Value], bool]:
    def check(row: dict[str, Any], value: Value) -> bool:
        there = [row[name] for name in names if row.get(name) is not None]
        return len(there) <= 1 and _is(there[0] if there else None, value)

    return check


# JSON


def _json_case(random: Random, columns: dict[str, Column], folder: Path) -> Iterator[Check]:
    records = _records(columns)
    tasks: list[list[Chunk]] = []
    for task in _cuts(random, len(records)):
        decoder = JsonDecoder()
        tasks.append([
            decoder.decode([records[task[at]] for at in cut], [task[at] for at in cut], "s", "0")
            for cut in _cuts(random, len(task))
        ])  # fmt: skip
    case = f"tasks of {[[chunk.batch.num_rows for chunk in chunks] for chunks in tasks]} {[one.decode() for one in records]}"
    yield from _ways(columns, tasks, case, folder)
    yield from _stream_case(random, columns, records, folder)


def _ways(columns: dict[str, Column], tasks: Sequence[Sequence[Chunk]], case: str, folder: Path) -> Iterator[Check]:
    merged = [reduce(merge_schemas, (observed(chunk.batch) for chunk in chunks), pa.schema([])) for chunks in tasks]
    schema = unmarked(reduce(merge_schemas, merged, pa.schema([])))
    chunks = [chunk for some in tasks for chunk in some]
    aligned = pa.concat_batches([align(chunk.batch, schema) for chunk in chunks])
    kinds = {name: names_of(schema.field(name)) for name in columns}
    for name, column in columns.items():
        expected = _simple_kinds(column.values) or {"null"}
        yield Check(f"type of {name}", case, kinds[name], str(sorted(expected)), set(kinds[name]) == expected)
    yield from _values("rows", columns, case, aligned, _is)
    for action, check in [("cast:string", _is), ("cast:long", _cast_long), ("cast:double", _cast_double)]:
        yield from _values(action, columns, case, _resolved(chunks, schema, kinds, columns, action), check)
        loose = pa.concat_batches(
            [align(one, schema_of_casts) for one, schema_of_casts in _cast_apart(chunks, columns, action)]
        )
        yield from _values(f"{action} without a schema", columns, case, loose, check)
    choices = {name: column for name, column in columns.items() if len(kinds[name]) > 1}
    if choices:
        resolved = _resolved(chunks, schema, kinds, choices, "project:long")
        yield from _values("project:long", choices, case, resolved, _projected)
    flat = {name: column for name, column in choices.items() if not column.nesting}
    if flat:
        resolved = _resolved(chunks, schema, kinds, flat, "make_cols")
        for name, column in flat.items():
            names = [f"{name}_{kind}" for kind in kinds[name]]
            rows = resolved.select(names).to_pylist()
            yield _check("make_cols", name, column, case, rows, _one_of(names))
    yield from _row_files(columns, tasks, merged, schema, kinds, case, folder)


def _path(name: str, column: Column) -> str:
    return {"": name, "struct": f"{name}.n", "list": f"{name}[]"}[column.nesting]


def _resolved(
    chunks: Sequence[Chunk], schema: pa.Schema, kinds: dict[str, list[str]], columns: dict[str, Column], action: str
) -> pa.RecordBatch:
    specs = [(_path(name, column), action) for name, column in columns.items()]
    specs = [(path, one) for (path, one), name in zip(specs, columns, strict=True) if kinds[name] != ["null"]]
    step = ResolveChoice(specs).bound(schema)
    return pa.concat_batches([step(chunk).batch for chunk in chunks])


def _cast_apart(
    chunks: Sequence[Chunk], columns: dict[str, Column], action: str
) -> Iterator[tuple[pa.RecordBatch, pa.Schema]]:
    step = ResolveChoice([(_path(name, column), action) for name, column in columns.items()]).bound(None)
    batches = [step(chunk).batch for chunk in chunks]
    schema = reduce(merge_schemas, (batch.schema for batch in batches))
    return ((batch, schema) for batch in batches)


def _values(
    way: str,
    columns: dict[str, Column],
    case: str,
    batch: pa.RecordBatch,
    check: Callable[[Any, Value], bool],
) -> Iterator[Check]:
    by_name = {column.field.name: column for column in columns_of(batch)}
    for name, column in columns.items():
        yield _check(way, name, column, case, _inner(plain_values(by_name[name]), column), check)


def _inner(values: Sequence[Any], column: Column) -> list[Any]:
    if column.nesting == "struct":
        return [None if value is None else value.get("n") for value in values]
    if column.nesting == "list":  # a list of nulls alone is null where a task has no other
        return [None if value is None else value[1] for value in values]
    return list(values)


def _check(
    way: str, name: str, column: Column, case: str, got: Sequence[Any], check: Callable[[Any, Value], bool]
) -> Check:
    is_right = len(got) == len(column.values) and all(map(check, got, column.values))
    wrong = [(one, value) for one, value in zip(got, column.values, strict=False) if not check(one, value)]
    return Check(f"{way} of {name}", case, wrong or got, str(list(column.values)), is_right)


def _row_files(
    columns: dict[str, Column],
    tasks: Sequence[Sequence[Chunk]],
    merged: Sequence[pa.Schema],
    schema: pa.Schema,
    kinds: dict[str, list[str]],
    case: str,
    folder: Path,
) -> Iterator[Check]:
    """Yield what the files hold that Spark reads after `toDF`."""
    disk = folder / "rows"
    disk.mkdir(parents=True)
    folders = RowFolders(str(disk))
    written = [write_rows(iter(chunks), folders, NOWHERE.of_task(0)) for chunks in tasks]
    same = all(one.schema.equals(other, check_metadata=True) for one, other in zip(written, merged, strict=True))
    yield Check("schemas of row files", case, [one.schema for one in written], str(merged), same)
    stored = without_nulls(pa.RecordBatch.from_pylist([], schema=schema)).schema
    files = [new for one in written for file in one.files or () for new in rewritten(file, stored, folders)]
    tables = [pq.read_table(file.path) for file in files]
    rows = [row for table in tables for row in table.to_pylist()]
    for name, column in columns.items():
        if kinds[name] == ["null"]:
            continue
        got = _inner([row[name] for row in rows], column)
        if len(kinds[name]) > 1:
            yield _check("toDF", name, column, case, [one or {} for one in got], _one_of(kinds[name]))
        else:
            yield _check("toDF", name, column, case, got, _is)


def _stream_case(random: Random, columns: dict[str, Column], records: Sequence[bytes], folder: Path) -> Iterator[Check]:
    """Write batches of several tasks to one table, as a stream does, and look for each value in all columns."""
    table = Table.of(folder / "table", random.choice(["widen", "columns", "string"]))
    known: pa.Schema | None = None
    for batch in _cuts(random, len(records)):
        tasks = []
        for cut in _cuts(random, len(batch)):
            decoder = JsonDecoder(known)
            rows = [batch[at] for at in cut]
            tasks.append(decoder.decode([records[at] for at in rows], rows, "s", "0").batch)
            known = decoder.schema if random.random() < 0.5 else known
        table.write(*tasks)
    written = {row["id"]: row for row in table.rows()}
    case = f"batches {table.batches} policy {table.policy.default.value} {[one.decode() for one in records]}"
    mergeable = table.spark_can_merge()
    yield Check("files that Spark merges", case, mergeable, "True", mergeable)
    for name, column in columns.items():
        if column.nesting:
            continue
        got = [
            {key: value for key, value in written.get(at, {}).items() if key.partition("_")[0] == name}
            for at in range(len(records))
        ]
        there = [next(iter(row.values()), None) if len(row) <= 1 else row for row in got]
        yield _check("table", name, column, case, there, _is)


# Spark


def _spark_case(random: Random, world: World) -> Iterator[Check]:
    """Read JSON files through a GlueContext."""
    from awsglue.context import GlueContext  # most rounds do not need Java

    glue = GlueContext(world.spark().sparkContext)
    columns = {name: _column(random, 40) for name in "abcdefgh"}
    columns = {name: Column(column.values, "") for name, column in columns.items()}
    records = _records(columns)
    folder = world.folder / "spark"
    folder.mkdir()
    for cut in _cuts(random, len(records)):
        (folder / f"{cut.start:03d}.json").write_bytes(b"\n".join(records[at] for at in cut) + b"\n")
    case = f"files through Spark {[one.decode() for one in records]}"
    frame = glue.create_dynamic_frame.from_options("s3", {"paths": [str(folder)]}, format="json")
    rows = sorted(frame.toDF().collect(), key=lambda row: row["id"])
    texts = frame.resolveChoice(choice="cast:string").toDF().collect()
    by_id = {row["id"]: row for row in texts}
    for name, column in columns.items():
        kinds = _simple_kinds(column.values)
        if not kinds:
            continue
        got = [row[name] for row in rows]
        if len(kinds) > 1:
            unwrapped = [{} if one is None else one.asDict() for one in got]
            yield _check("toDF in Spark", name, column, case, unwrapped, _one_of(sorted(kinds)))
            resolved = [by_id[at][name] for at in range(len(records))]
            yield _check("cast:string in Spark", name, column, case, resolved, _is)
        else:
            yield _check("toDF in Spark", name, column, case, got, _is)
