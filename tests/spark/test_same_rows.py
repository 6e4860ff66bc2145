from __future__ import annotations

from decimal import Decimal

import pytest

from gluepot.connectors.lake.commits import Rows
from gluepot.connectors.lake.same_rows import compare

TABLE = """n bigint, x double, text string, raw binary, amount decimal(9, 2), day date, at timestamp,
    inner struct<a: int, list: array<float>>, tags map<string, struct<v: double>>"""
FIRST = (1, 0.0, "a", b"\x00", Decimal("1.50"), None, None, (1, [0.5, None]), {"k": (1.0,), "l": None})
SECOND = (None, float("nan"), None, None, None, None, None, None, None)


@pytest.fixture
def frame(glue_context):
    return lambda rows, schema=TABLE: glue_context.spark_session.createDataFrame(rows, schema)


def changed(at, value):
    return (*FIRST[:at], value, *FIRST[at + 1 :])


@pytest.mark.parametrize(
    ("there", "now", "found"),
    [
        ([FIRST, SECOND], [SECOND, FIRST], Rows.EQUAL),
        ([FIRST, FIRST, SECOND], [FIRST, SECOND, SECOND], Rows.DIFFERENT),
        ([FIRST], [FIRST, FIRST], Rows.DIFFERENT),
        ([FIRST], [], Rows.DIFFERENT),
        ([], [], Rows.EQUAL),
        ([FIRST], [changed(1, -0.0)], Rows.DIFFERENT),
        ([FIRST], [changed(2, "A")], Rows.DIFFERENT),
        ([FIRST], [changed(7, (1, [0.5, 0.5]))], Rows.DIFFERENT),
        ([FIRST], [changed(8, {"l": None, "k": (1.0,)})], Rows.EQUAL),
        ([FIRST], [changed(8, {"k": (-1.0,), "l": None})], Rows.DIFFERENT),
    ],
)
def test_rows_are_compared_as_multisets_and_bit_by_bit(frame, there, now, found):
    assert compare(frame(there), frame(now), by_case=False) is found


def test_columns_are_matched_by_name_and_those_that_are_missing_are_null(frame):
    there = frame([(1, None, (2, None))], "n bigint, text string, inner struct<a: bigint, b: string>")
    now = frame([((2,), 1)], "inner struct<A: int>, N int")

    assert compare(there, now, by_case=False) is Rows.EQUAL
    assert compare(there, now, by_case=True) is Rows.DIFFERENT


def test_columns_that_the_table_lacks_are_other_rows(frame):
    assert compare(frame([(1,)], "n int"), frame([(1, None)], "n int, more int"), by_case=False) is Rows.DIFFERENT


def test_types_that_cannot_be_compared_are_other_rows(glue_context):
    variant = glue_context.spark_session.sql("SELECT parse_json('1') v")

    assert compare(variant, variant, by_case=False) is Rows.DIFFERENT


def test_rows_that_cannot_be_read_are_unknown(frame, tmp_path):
    frame([(1,)], "n int").write.parquet(str(tmp_path / "t"))
    there = frame([(1,)], "n int").sparkSession.read.parquet(str(tmp_path / "t"))
    for file in (tmp_path / "t").glob("*.parquet"):
        file.unlink()

    assert compare(there, frame([(1,)], "n int"), by_case=False) is Rows.UNKNOWN
