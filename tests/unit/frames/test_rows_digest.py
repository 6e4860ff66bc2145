"""A digest of rows: equal for equal rows in any order and any cut, and different for other rows."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from random import Random

import pyarrow as pa
import pytest

from gluepot.frames.rows_digest import MODULUS, rows_digest

ROWS = {
    "n": pa.array([1, 2, None, -4]),
    "short": pa.array([1, 2, 3, None], pa.int8()),
    "large": pa.array([2**64 - 1, 0, None, 1], pa.uint64()),
    "ratio": pa.array([0.5, float("nan"), None, -0.0]),
    "price": pa.array([Decimal("1.25"), None, Decimal("-1.25"), Decimal("0.00")], pa.decimal128(10, 2)),
    "name": ["a", "", None, "größe" * 200],
    "raw": pa.array([b"a", b"\xff", None, b""], pa.binary()),
    "paid": [True, False, None, True],
    "day": [date(2026, 1, 31), None, date(1, 1, 1), date(9999, 12, 31)],
    "at": pa.array([datetime(2026, 1, 1, tzinfo=UTC), None, None, None], pa.timestamp("us", "UTC")),
    "clock": [time(1, 2, 3), None, time(0), time(23, 59)],
    "span": [timedelta(1), None, timedelta(0), timedelta(-1)],
    "nothing": pa.nulls(4),
    "list": [[1, None], [], None, [3]],
    "struct": [{"a": 1, "b": None}, {"a": None, "b": "x"}, None, {"a": 2, "b": "y"}],
    "map": pa.array([[("a", 1)], [], None, [("b", None)]], pa.map_(pa.string(), pa.int64())),
    "word": pa.array(["x", "y", None, "x"]).dictionary_encode(),
}


def batch(**columns) -> pa.RecordBatch:
    return pa.record_batch(columns)


@pytest.mark.parametrize("name", ROWS)
def test_neither_order_nor_cuts_matter_and_each_value_does(name):
    rows = batch(id=[1, 2, 3, 4], value=ROWS[name])
    order = [2, 0, 3, 1]
    pieces = [rows.slice(0, 1), rows.slice(1, 3)]

    digest = rows_digest(rows)

    assert rows_digest(rows.take(pa.array(order))) == digest
    assert sum(map(rows_digest, pieces)) % MODULUS == digest
    assert (
        name == "nothing" or rows_digest(batch(id=[1, 2, 3, 4], value=rows.column(1).take(pa.array(order)))) != digest
    )


def test_a_column_of_nulls_counts_as_much_as_none():
    assert rows_digest(batch(n=[1, 2], x=pa.nulls(2))) == rows_digest(batch(n=[1, 2]))
    assert rows_digest(batch(n=[1, 2], x=pa.nulls(2, pa.string()))) == rows_digest(batch(n=[1, 2]))


def test_the_width_of_integers_and_strings_does_not_matter():
    narrow = batch(n=pa.array([1, 2], pa.int16()), s=["a", "b"])
    wide = batch(n=[1, 2], s=pa.array(["a", "b"], pa.large_string()))

    assert rows_digest(narrow) == rows_digest(wide)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ({"a": [1], "b": [2]}, {"a": [2], "b": [1]}),
        ({"a": [1]}, {"b": [1]}),
        ({"a": [1]}, {"a": [1, 1]}),
        ({"a": [1, 1]}, {"a": [2, 2]}),
        ({"a": ["ab", "c"]}, {"a": ["a", "bc"]}),
        ({"a": [""]}, {"a": pa.array([None], pa.string())}),
        ({"a": ["\0"]}, {"a": ["\0\0"]}),
        ({"a": [0.0]}, {"a": [-0.0]}),
        ({"a": [None, 1], "b": [1, None]}, {"a": [None, None], "b": [1, 1]}),
        ({"a": [2**53 + 1]}, {"a": [2**53]}),
        ({"a": [[1, None]]}, {"a": [[None, 1]]}),
    ],
)
def test_other_rows_have_another_digest(first, second):
    assert rows_digest(batch(**first)) != rows_digest(batch(**second))


def test_many_short_strings_do_not_collide():
    random = Random(1)
    words = {"".join(random.choices("ab", k=random.randrange(12))) for _ in range(20_000)}

    assert len({rows_digest(batch(s=[word])) for word in words}) == len(words) > 2_000


def test_a_string_counts_equally_wherever_it_is_in_a_block():
    long = ["x" * 50_000, "y" * 50_000, "z"]
    rows = [batch(s=["p" * n, *long]) for n in range(3)]

    alone = sum(rows_digest(batch(s=[word])) for word in long) % MODULUS
    assert {(rows_digest(row) - rows_digest(row.slice(0, 1))) % MODULUS for row in rows} == {alone}


def test_only_the_columns_that_are_named_count():
    rows = batch(id=[1, 2], name=["a", "b"])

    assert rows_digest(rows, {"id"}) == rows_digest(batch(id=[1, 2]))


def test_the_digest_is_that_of_the_first_version():
    """Databases keep digests, so a new version has to compute the same ones."""
    rows = batch(id=[1, None], name=["größe", ""], price=pa.array([Decimal("1.25"), None], pa.decimal128(10, 2)))

    assert rows_digest(rows) == 4284450395848658018
