"""python -m benchmarks.wide [columns]: thousands of keys in another order, and a further column in each batch.

One process, no Spark, so that it measures nothing but the work of a task and what the driver does before a write. The
first part decodes the same values with their keys in the order of the schema and in random order. The second part
writes batches of ten small records, in turns: one to a table whose columns came one a batch, with a further column, and
one to a table whose columns came at once, with no new one. Exits with 1 where a ratio misses its goal.
"""

from __future__ import annotations

import random
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from statistics import median

import orjson
import pyarrow as pa

from gluepot.connectors.files.formats.parquet.write import ParquetOutputFormat
from gluepot.connectors.files.sink import new_file_sink
from gluepot.connectors.files.sink.drift import DriftPolicy, Layout
from gluepot.connectors.files.sink.drift.layout import TableColumn
from gluepot.connectors.ports import CommitKey
from gluepot.frames.json_decoder import JsonDecoder

COLUMNS = 5_000
RECORDS = 20
ROUNDS = 7
# Keys in random order touch each column's memory in random order, too.
MOST_FOR_ORDER = 4.0
MOST_FOR_A_COLUMN = 1.5


def named(number: int) -> str:
    """Return the name of a column."""
    return f"column_{number:05d}"


def schema_of(columns: int) -> pa.Schema:
    """Return a schema of whole numbers."""
    return pa.schema([(named(number), pa.int64()) for number in range(columns)])


def fastest_secs(act: Callable[[], object]) -> float:
    """Return the processor time of the fastest of several runs."""
    found = []
    for _ in range(ROUNDS):
        began = time.process_time()
        act()
        found.append(time.process_time() - began)
    return min(found)


def micros_a_value(columns: int, *, shuffled: bool) -> float:
    """Return how long a value takes to decode."""
    chance = random.Random(1)  # the same records in each run
    names = list(map(named, range(columns)))
    values = []
    for number in range(RECORDS):
        order = chance.sample(names, columns) if shuffled else names
        values.append(orjson.dumps(dict.fromkeys(order, number)))
    decoder = JsonDecoder(schema_of(columns))
    secs = fastest_secs(lambda: decoder.decode(values, range(RECORDS), "clicks", "0"))
    return secs / (columns * RECORDS) * 1e6


@dataclass
class WideTable:
    """A table of thousands of columns.

    Args:
        folder: where its files are staged.
        history: what its batches have recorded.
        schema: schema of the stream so far.
    """

    folder: str
    history: list[bytes]
    schema: pa.Schema
    batches: int = field(default=0)

    @classmethod
    def one_by_one(cls, folder: str, columns: int) -> WideTable:
        """Return a table each of whose columns came with a batch of its own; it holds no file yet."""
        schema = schema_of(columns)
        return cls(folder, [Layout((TableColumn(one, one.name),)).to_bytes() for one in schema], schema)

    @classmethod
    def at_once(cls, folder: str, columns: int) -> WideTable:
        """Return a table all of whose columns came with one batch; it holds no file yet."""
        schema = schema_of(columns)
        return cls(folder, [Layout(tuple(TableColumn(one, one.name) for one in schema)).to_bytes()], schema)

    def write(self, *names: str) -> float:
        """Decode and stage a batch of ten records with these fields; return the seconds of processor time."""
        self.batches += 1
        values = [orjson.dumps(dict.fromkeys(names, self.batches))] * 10
        began = time.process_time()
        key = CommitKey("query", self.batches, "sink")
        new = new_file_sink(self.folder, key, ParquetOutputFormat(), ctx="sink", drift=DriftPolicy())
        sink = new.knowing(self.history)
        decoder = JsonDecoder(self.schema)
        chunk = decoder.decode(values, range(10), "clicks", "0")
        part = sink.write(iter([chunk]), 0, f"attempt/{self.batches}")
        self.history += part.columns or ()
        self.schema = decoder.schema
        return time.process_time() - began


def main() -> int:
    """Measure and print; return 1 where a goal is missed."""
    columns = int(sys.argv[1]) if len(sys.argv) > 1 else COLUMNS
    in_order, shuffled = (micros_a_value(columns, shuffled=one) for one in (False, True))
    print(f"{columns} keys in order {in_order:.3f} us a value, in random order {shuffled:.3f} us")
    with tempfile.TemporaryDirectory() as first, tempfile.TemporaryDirectory() as second:
        growing, steady = WideTable.one_by_one(first, columns), WideTable.at_once(second, columns)
        began = time.process_time()
        Layout.folded(growing.history)
        print(f"columns of {columns} batches read back after a start: {(time.process_time() - began) * 1e3:.0f} ms")
        for table in (growing, steady):
            table.write(named(0))
        rounds = [
            (growing.write(named(0), named(columns + number)), steady.write(named(0), named(1)))
            for number in range(ROUNDS)
        ]
    adding, same = (median(side) for side in zip(*rounds, strict=True))
    print(f"a batch that adds a column {adding * 1e3:.0f} ms, one that adds none {same * 1e3:.0f} ms")
    ratios = {"order": (shuffled / in_order, MOST_FOR_ORDER), "a column": (adding / same, MOST_FOR_A_COLUMN)}
    for name, (found, most) in ratios.items():
        print(f"ratio for {name}: {found:.2f}, at most {most}")
    return int(any(found > most for found, most in ratios.values()))


if __name__ == "__main__":
    sys.exit(main())
