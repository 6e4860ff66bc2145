"""The same records in ten random cuts: writes, and tasks of a write, that each see only some of them.

Each case is one table, written through the sink of Parquet files and read by DuckDB. Some cuts are published as a job
does it, with restarts between writes that leave only the manifests, and read by `gluepot.table`, too. Others are also
read by pyarrow, and a few by Spark. Whatever the cut, a record has its values, in a column of the field that they come
from. Only a value without a type, such as `[]`, is null in a write before which, and in which, no record has given it a
type.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import count
from pathlib import Path
from random import Random
from typing import Any

import duckdb
import pyarrow as pa
from pyarrow import parquet

from gluepot.commit import open_target, publish
from gluepot.commit.compaction import emptied_files
from gluepot.commit.history import live
from gluepot.connectors.files.formats.parquet.write import ParquetOutputFormat
from gluepot.connectors.files.sink import new_file_sink
from gluepot.connectors.files.sink.drift import Drift, Layout
from gluepot.connectors.values import CommitKey, Manifest, ManifestPart
from gluepot.core.clock import FakeClock
from gluepot.core.errors import EtlError
from gluepot.frames.chunk import Chunk
from gluepot.frames.objects import batch_from_objects
from gluepot.tables import open_table
from tests.differential.kind import Difference, Round, World, shrink
from tests.duck import duck
from tests.unit.files.sink.drifting import Table
from tests.unit.files.sink.test_type_drift import canonical

_TABLES = 10
_CUTS = 10
# The cuts of each table that are published and those that pyarrow reads; Spark reads one cut of one table in a round.
_PUBLISHED, _READ_BY_PYARROW = 2, 2
_TRIES = 60
_SCALARS = ("integer", "text", "boolean")
# A value by its name: lists have their element, structs their fields. "mixed" changes its type from record to record.
SHAPES: Mapping[str, Any] = {
    "tags": ["text"],
    "codes": ["integer"],
    "deep": [["integer"]],
    "rows": [{"a": "integer", "b": ["text"], "c": {"d": ["boolean"]}}],
    "s": {"n": "integer", "l": ["integer"], "t": {"x": "text", "e": [{"k": "integer"}]}},
    "wrap": {"inner": {"list": [["text"]]}},
    "Tags": ["text"],
    "cases": {"v": "integer", "V": "text", "w": [{"k": "integer", "K": "boolean"}], "W": {"v": "text"}},
    "mixed": "mixed",
    "number": "number",
}
Record = Mapping[str, Any]
Write = Sequence[Sequence[Record]]
"""The records of each task."""
Reader = Callable[[Table], Iterable[Mapping[str, Any]]]
"""Returns the rows of a table with the names of its files' columns."""


class Kind:
    """See the module."""

    name = "cuts"
    unit = "tables"

    def __init__(self, tables: int = _TABLES, *, with_spark: bool = True) -> None:
        """Make the kind.

        Args:
            tables: how many tables a round writes, in ten cuts each.
            with_spark: whether Spark reads one of them.
        """
        self._tables, self._with_spark = tables, with_spark

    def round(self, random: Random, world: World) -> Round:
        """Write and read some tables."""
        result = Round()
        for at in range(self._tables):
            policy = random.choice([one.value for one in Drift if one != Drift.REJECT])
            records = _records(random)
            result.cases += 1
            result.taken += 1
            for number in range(_CUTS):
                writes = random_cut(random, records)
                by_spark = self._with_spark and at == number == 0
                case = _Case(world.folder / f"{at}-{number}", policy, _readers(number, world if by_spark else None))
                if _faults(case, writes):
                    result.differences.append(_difference(case, writes))
                    break
        return result


@dataclass(frozen=True)
class _Case:
    """How a table is written and read.

    Args:
        folder: of the table.
        policy: for types that change.
        readers: by name.
    """

    folder: Path
    policy: str
    readers: Mapping[str, Reader]

    def within(self, name: str) -> _Case:
        """Return the same with another folder."""
        return replace(self, folder=self.folder / name)


def _difference(case: _Case, writes: Sequence[Write]) -> Difference:
    numbers = iter(range(_TRIES + 1))
    small = shrink(
        writes, _smaller, lambda other: bool(_faults(case.within(f"smaller-{next(numbers)}"), other)), _TRIES
    )
    ours, original = zip(*_faults(case.within("smallest"), small), strict=True)
    return Difference(f"{case.policy} {[*case.readers]}: {json.dumps(small)}", "\n".join(ours), "\n".join(original))


def _readers(number: int, world: World | None) -> Mapping[str, Reader]:
    """Return the readers of a cut, by name.

    Args:
        number: of the cut.
        world: has the Spark that is one of the readers; None for none.
    """
    readers: dict[str, Reader] = {"duckdb": _by_duckdb}
    if number < _PUBLISHED:
        readers["gluepot.table"] = _by_gluepot
    elif number < _PUBLISHED + _READ_BY_PYARROW:
        readers["pyarrow"] = _by_pyarrow
    if world is not None:
        readers["spark"] = partial(_by_spark, world.spark())
    return readers


@dataclass
class _Published(Table):
    """A table that is published as a job does it; after each write only its manifests are known."""

    def write(self, *tasks: pa.RecordBatch | Sequence[dict[str, Any]]) -> Sequence[ManifestPart]:
        """Publish one batch, an argument per task."""
        key = CommitKey("query-1", self.batches, "sink")
        sink = new_file_sink(str(self.folder), key, ParquetOutputFormat(), ctx="sink", drift=self.policy)
        target = open_target(sink)
        sink = sink.knowing(live(target.table).recorded_columns(key, emptied_files(target.table)))
        chunks = [Chunk(task if isinstance(task, pa.RecordBatch) else batch_from_objects(task)) for task in tasks]
        for run in count():
            parts = [sink.write(iter([chunk]), n, f"0/{run}") for n, chunk in enumerate(chunks)]
            agreed = sink.again(parts)
            if agreed is None:
                break
            sink = agreed
        read = [replace(part, rows_in=chunk.batch.num_rows) for part, chunk in zip(parts, chunks, strict=True)]
        publish(target, Manifest(key, read, offsets_digest=str(self.batches)), FakeClock(1_700_000_000.0))
        self.history = list(live(target.table).recorded_columns(replace(key, batch_id=key.batch_id + 1), frozenset()))
        self.batches += 1
        return parts


def _records(random: Random) -> list[Record]:
    names = random.sample(sorted(SHAPES), random.randint(1, 4))
    made = []
    for number in range(random.choice([2, 4, 8, 20])):
        fields = [name for name in names if random.random() < 0.8]
        made.append({"id": number} | {name: random_value(random, SHAPES[name]) for name in fields})
    return made


def random_value(random: Random, shape: Any) -> Any:
    if random.random() < 0.1:
        return None
    match shape:
        case [element]:
            return [random_value(random, element) for _ in range(random.choice([0, 0, 1, 1, 2]))]
        case {}:
            return {name: random_value(random, one) for name, one in shape.items() if random.random() < 0.6}
        case "mixed":
            return random_value(random, random.choice([*_SCALARS, "number", ["text"], ["integer"], {"m": "integer"}]))
        case "integer":
            return random.choice([0, 7, -(2**31), 2**53 + 1])
        case "number":
            return random.choice([1, 2.5, -3, 0.25, 2**53 + 1])
        case "boolean":
            return random.random() < 0.5
    return random.choice(["a", "bc", "x y"])


def random_cut(random: Random, records: Sequence[Record]) -> list[Write]:
    """Return the records as writes of tasks; neither is empty."""
    return [_pieces(random, write) for write in _pieces(random, records)]


def _pieces(random: Random, of: Sequence[Any]) -> list[list[Any]]:
    ends = sorted({len(of), *(random.randint(1, len(of)) for _ in range(random.choice([0, 1, 1, 3])))})
    return [list(of[first:end]) for first, end in zip([0, *ends], ends, strict=False)]


def _smaller(writes: Sequence[Write]) -> Iterator[list[Write]]:
    """Yield the writes without one record, or without one field of a record."""
    for at, write in enumerate(writes):
        for task, records in enumerate(write):
            for number, record in enumerate(records):

                def changed(
                    new: list[Record], at: int = at, write: Write = write, task: int = task, number: int = number
                ) -> list[Write]:
                    tasks = [
                        [*part[:number], *new, *part[number + 1 :]] if n == task else part
                        for n, part in enumerate(write)
                    ]
                    tasks = [part for part in tasks if part]
                    return [one for one in [*writes[:at], tasks, *writes[at + 1 :]] if one]

                yield changed([])
                for name in record:
                    if name != "id":
                        yield changed([{key: value for key, value in record.items() if key != name}])


def _faults(case: _Case, writes: Sequence[Write]) -> list[tuple[str, str]]:
    """Return each field whose value is another than it was: what the table has, and what it should have."""
    table = (_Published if "gluepot.table" in case.readers else Table).of(case.folder, case.policy)
    expected: dict[int, dict[str, Any]] = {}
    known: set[str] = set()
    for write in writes:
        for record in (record for task in write for record in task):
            for name, value in record.items():
                known |= set(_typed(value, name))
        table.write(*write)
        for record in (record for task in write for record in task):
            expected[record["id"]] = {name: _stored(value, name, known) for name, value in record.items()}
    faults = [] if table.spark_can_merge() else [("files that Spark does not merge", "one table")]
    faults += _misnamed(table, writes)
    for name, reader in case.readers.items():
        try:
            actual = _rows(table, reader)
        except (duckdb.Error, pa.ArrowException, EtlError) as error:
            faults.append((f"{name}: {error}", "files that are read as one table"))
            continue
        faults += [(f"{name}: {ours}", wanted) for ours, wanted in _differences(actual, expected)]
    return faults


def _differences(
    actual: Mapping[int, Mapping[str, list[Any]]], expected: Mapping[int, Mapping[str, Any]]
) -> Iterator[tuple[str, str]]:
    if sorted(actual) != sorted(expected):
        yield f"ids {sorted(actual)}", f"ids {sorted(expected)}"
        return
    for number, fields in expected.items():
        for name, value in fields.items():
            values = [canonical(one) for one in actual[number].get(name, [])]
            wanted = [] if value is None else [canonical(value)]
            if values != wanted and not (name == "mixed" and _is_untyped(value) and not values):
                yield f"{number}.{name} {values}", f"{number}.{name} {wanted}"


def _misnamed(table: Table, writes: Sequence[Write]) -> Iterator[tuple[str, str]]:
    """Yield fields in lower case that have lost their name to one that came with them and differs by case."""
    together: dict[str, set[str]] = {}  # the fields that came with each field, in one task
    for write in writes:
        typed = {
            path.rstrip("=")
            for task in write
            for record in task
            for name in record
            for path in _typed(record[name], name)
        }
        named = {path for task in write for record in task for name in record for path in _named(record[name], name)}
        new = named - set(together)
        together |= {path: typed & new if len(write) == 1 else set() for path in new}
    for path, stored in _stored_names(table):
        others = {one for one in together.get(path, ()) if one.lower() == path.lower()}
        name = path.rpartition(".")[2]
        if len(others) > 1 and path in others and name == name.lower() and stored != name:
            yield f"{path} is called {stored}", f"{path} keeps its name"


def _named(value: Any, path: str) -> Iterator[str]:
    """Yield the paths of all fields, with values or without."""
    yield path
    for one in value if isinstance(value, list) else ():
        yield from _named(one, f"{path}[]")
    for name, field in value.items() if isinstance(value, dict) else ():
        yield from _named(field, f"{path}.{name}")


def _stored_names(table: Table) -> Iterator[tuple[str, str]]:
    """Yield the path of each field and its name in the files."""
    layout = Layout.folded(table.history)
    for origin in {column.origin for column in layout.columns}:
        if (column := layout.plain(origin)) is not None:
            yield origin, column.name
            for path, stored in column.names:
                yield origin + "".join(one if one == "[]" else f".{one}" for one in path), stored


def _by_duckdb(table: Table) -> Iterable[Mapping[str, Any]]:
    result = duck().execute("SELECT * FROM read_parquet(?, union_by_name = true)", [table.files])
    names = [column[0] for column in result.description]
    return [dict(zip(names, row, strict=True)) for row in result.fetchall()]


def _by_pyarrow(table: Table) -> Iterable[Mapping[str, Any]]:
    return [row for file in table.files for row in parquet.read_table(file).to_pylist()]


def _by_gluepot(table: Table) -> Iterable[Mapping[str, Any]]:
    rows: list[dict[str, Any]] = open_table(str(table.folder)).to_arrow().to_pylist()
    return rows


def _by_spark(spark: Any, table: Table) -> Iterable[Mapping[str, Any]]:
    rows: list[dict[str, Any]] = spark.read.option("mergeSchema", "true").parquet(*table.files).toArrow().to_pylist()
    return rows


def _rows(table: Table, reader: Reader) -> dict[int, dict[str, list[Any]]]:
    """Return the values of each record by the field that they come from."""
    if not table.files:
        return {}
    columns = {one.name: one for one in Layout.folded(table.history).columns}
    rows: dict[int, dict[str, list[Any]]] = {}
    for row in reader(table):
        fields: dict[str, list[Any]] = {}
        for name, value in row.items():
            if value is None:
                continue
            column = columns[name]
            named = _renamed(value, {(*path[:-1], stored): path[-1] for path, stored in column.names})
            of_field = {column.origin: named} if column.origin else json.loads(value)
            for origin, one in of_field.items():
                fields.setdefault(origin, []).append(one)
        rows[fields["id"][0]] = fields
    return rows


def _renamed(value: Any, names: Mapping[tuple[str, ...], str], path: tuple[str, ...] = ()) -> Any:
    """Return a value of a file with the names of the records; the names of files are the last ones of paths."""
    if isinstance(value, list):
        return [_renamed(one, names, (*path, "[]")) for one in value]
    if not isinstance(value, dict):
        return value
    originals = {name: names.get((*path, name), name) for name in value}
    return {originals[name]: _renamed(one, names, (*path, originals[name])) for name, one in value.items()}


def _typed(value: Any, path: str) -> Iterator[str]:
    """Yield the paths at which a value has a type, those around it first."""
    if isinstance(value, list):
        inner = [one for element in value for one in _typed(element, f"{path}[]")]
    elif isinstance(value, dict):
        inner = [one for name, field in value.items() for one in _typed(field, f"{path}.{name}")]
    else:
        inner = [] if value is None else [f"{path}="]
    if inner:
        yield path
        yield from inner


def _stored(value: Any, path: str, known: set[str]) -> Any:
    """Return a value without the parts that have no type."""
    if value is None or path not in known:
        return None
    if isinstance(value, list):
        return [_stored(element, f"{path}[]", known) for element in value]
    if isinstance(value, dict):
        return {name: _stored(field, f"{path}.{name}", known) for name, field in value.items()}
    return value


def _is_untyped(value: Any) -> bool:
    """Tell whether a value has no type of its own, so that a column of another type has no place for it."""
    return isinstance(value, list | dict) and not list(_typed(value, ""))
