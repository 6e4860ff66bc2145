"""How results of the sides are compared, and which tables a query reads."""

from __future__ import annotations

from decimal import Decimal

import pyarrow as pa
import pytest
from pyarrow import parquet

from benchmarks.page import SECTIONS
from benchmarks.tpc.__main__ import are_equal, rows_of
from benchmarks.tpc.suite import tables_in

RESULT = {
    "suite": "tpch",
    "scale": 1.0,
    "load": (1.0, 1.0, 1.0),
    "sides": {
        "gluepot": {"secs": [2.0, 2.0], "cpu_secs": [3.0, 3.0], "medians": {"q1": 2.0}},
        "stock": {"secs": [8.0, 8.0], "cpu_secs": [9.0, 9.0], "medians": {"q1": 8.0}},
    },
    "ratios": {"stock": {"secs": 4.0, "cpu_secs": 3.0, "geometric_mean": 4.0, "goal": 5.0}},
    "measured_with": {
        "at": "2026-11-26",
        "processor": "p",
        "cpus": 2,
        "memory_gb": 25,
        "packages": {},
        "python": "3.11",
        "java": "17",
        "commit": "c",
        "command": "python -m benchmarks.tpc",
    },
}


def test_rows_are_compared_without_their_order_and_types_of_numbers(tmp_path):
    for name, table in {
        "one": pa.table({"c1": [1, 2], "c0": ["a", "b"]}),
        "other": pa.table({"c0": ["b", "a"], "c1": [Decimal("2.00"), Decimal("1.00")]}),
    }.items():
        (tmp_path / name).mkdir()
        parquet.write_table(table, tmp_path / name / "1.parquet")

    assert rows_of(tmp_path / "one") == rows_of(tmp_path / "other") == [("a", 1.0), ("b", 2.0)]


@pytest.mark.parametrize(
    ("left", "right", "equal"),
    [
        ([(1.0, "a")], [(1.0 + 1e-9, "a")], True),
        ([(1.0,)], [(1.001,)], False),
        ([(float("nan"),)], [(float("nan"),)], True),
        ([(None,)], [(0.0,)], False),
        ([("a",)], [("b",)], False),
        ([(1.0,)], [], False),
        ([(1.0,)], [(1.0, 2.0)], False),
    ],
)
def test_last_digits_do_not_count(left, right, equal):
    assert are_equal(left, right) is equal


def test_a_query_reads_the_tables_that_it_names():
    assert tables_in("SELECT * FROM Lineitem, orders o WHERE o.part = 1", ["lineitem", "orders", "nation"]) == [
        "lineitem",
        "orders",
    ]


def test_a_missed_goal_is_said_on_the_page():
    lines = list(SECTIONS["tpc"](RESULT))

    assert "- gluepot: 2.0, 2.0 s" in lines
    assert any("stock takes 4.0 times as long" in line and line.endswith("goal 5.0, missed") for line in lines)
    assert "| 1 | 2.00 | 8.00 |" in lines
