"""The tables of the tests of native queries, and how their results are compared."""

from __future__ import annotations

import math
from contextlib import contextmanager
from datetime import UTC, date, datetime
from decimal import Decimal

import pyarrow as pa
from pyarrow import parquet

from gluepot.engine.native import run as native
from gluepot.engine.pipeline import FrameInput, Pipeline, SplitInput

SALES = pa.table(
    {
        "id": pa.array(range(1, 13), pa.int64()),
        "shop": pa.array([1, 1, 2, 2, 3, 3, None, 4, 1, 2, 9, 3], pa.int32()),
        "name": ["abba", " box ", "", None, "größe", "a_b%c", "ABBA", "b'ox", "x", "abc", "'", "-"],
        "code": ["7", "12", "003", None, "-4", "0", "99", "1", "2", "3", "4", "5"],
        "price": pa.array(
            [Decimal(one) if one else None for one in
             ("1.25", "-1.25", "99999999.99", None, "0.01", "0.00", "-0.05", "2.50", "1.25", "3.33", "7.77", "0.10")],
            pa.decimal128(10, 2),
        ),
        "tax": pa.array(
            [Decimal(one) for one in ("0.0725", "0.2", "1", "0.3333", "0.5", "3", "0.07", "9.9999", "1", "1", "2", "1")],
            pa.decimal128(5, 4),
        ),
        "large": pa.array([Decimal(one) for one in range(10**20, 10**20 + 12)], pa.decimal128(30, 4)),
        "ratio": [0.5, 1.005, -2.675, None, 1e10, 0.1, 3.14159, -0.0, 2.5, 100.125, 7.0, 1 / 3],
        "sold": pa.array(
            [date(2026, 1, 31), date(2024, 2, 29), date(1999, 12, 31), None, *(date(2026, 3, n) for n in range(1, 9))],
            pa.date32(),
        ),
        "made": pa.array(
            [datetime(2026, 1, n, 23, 59, 59, n, UTC) if n != 4 else None for n in range(1, 13)],
            pa.timestamp("us", "UTC"),
        ),
        "paid": [True, False, None, True, True, False, True, False, True, None, True, True],
    }
)  # fmt: skip
SHOPS = pa.table(
    {
        "shop": pa.array([1, 2, 3, 5, None], pa.int32()),
        "city": ["Köln", "Paris", "Oslo", "Rome", None],
        "tags": [["a"], None, [], ["b", "c"], ["d"]],
        "limit": pa.array([Decimal(one) for one in ("1.00", "2.00", "0.50", "9.00", "1.00")], pa.decimal128(6, 2)),
    }
)
MEASURES = pa.table({"id": list(range(8)), "x": [1.0, 2.0, math.nan, -1.0] * 2})
DEEP_MEASURES = MEASURES.append_column("s", pa.array([{"x": 1.0}, {"x": math.nan}] * 4))


def read_tables(glue_context, folder, tables):
    """Write tables as files of Parquet, two each, and read them through Glue's API as views."""
    for name, table in tables.items():
        (folder / name).mkdir()
        half = table.num_rows // 2
        for number, part in enumerate((table.slice(0, half), table.slice(half))):
            parquet.write_table(part, folder / name / f"{number}.parquet")
        frame = glue_context.create_dynamic_frame.from_options("s3", {"paths": [str(folder / name)]}, format="parquet")
        frame.toDF().createOrReplaceTempView(name)


@contextmanager
def with_settings(spark, settings):
    """Give a session other settings, and what it had before at the end."""
    before = {name: spark.conf.get(name, None) for name in settings}
    try:
        for name, value in settings.items():
            spark.conf.set(name, value)
        yield
    finally:
        for name, value in before.items():
            spark.conf.unset(name) if value is None else spark.conf.set(name, value)


def answer_of(spark, frame):
    """Return the rows that DuckDB gives for a DataFrame; None if it is left to Spark."""
    with native.computed(spark, Pipeline(FrameInput(frame))) as given:
        if not isinstance(given, SplitInput):
            return None
        assert given.schema.names == frame.columns
        chunks = [chunk for split in given.splits for chunk in given.source.read(split)]
    return [row for chunk in chunks for row in zip(*(one.to_pylist() for one in chunk.batch.columns), strict=True)]


def plain(row):
    """Return a row so that equal ones sort alike: the last digits of floating-point numbers are not compared."""
    return tuple(map(_plain, row))


def _plain(value):
    if isinstance(value, float) and math.isfinite(value):
        return f"{value + 0.0:.9e}"
    return value.astimezone(UTC).isoformat() if isinstance(value, datetime) else repr(value)
