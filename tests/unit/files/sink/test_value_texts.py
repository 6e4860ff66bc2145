from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gluepot.connectors.value_texts import text, texts


@pytest.mark.parametrize(
    ("value", "written"),
    [
        ("007", "007"),
        (7, "7"),
        (True, "true"),
        (1.0, "1.0"),
        (100.5, "100.5"),
        (0.001, "0.001"),
        (9999999.0, "9999999.0"),
        (1e7, "1.0E7"),
        (1.25e-5, "1.25E-5"),
        (-123456789.0, "-1.23456789E8"),
        (-0.0, "-0.0"),
        (float("nan"), "NaN"),
        (float("-inf"), "-Infinity"),
        (Decimal("1E+3"), "1000"),
        (Decimal("0.10"), "0.10"),
        (date(2026, 1, 5), "2026-01-05"),
        (datetime(2026, 1, 5, 12, 0, 0), "2026-01-05 12:00:00"),
        (datetime(2026, 1, 5, 12, 0, 0, 120000), "2026-01-05 12:00:00.12"),
        (datetime(2026, 1, 5, 12, tzinfo=timezone(timedelta(hours=2))), "2026-01-05 10:00:00"),
        (b"a\xff", "a\\xff"),
    ],
)
def test_values_are_written_as_spark_casts_them(value, written):
    assert text(value) == written


def test_nulls_stay_null():
    assert texts(pa.array([1, None])) == ["1", None]


def test_single_precision_has_only_the_digits_it_holds():
    assert texts(pa.array([0.1, 1e10, None], pa.float32())) == ["0.1", "1.0E10", None]


def test_nanoseconds_are_cut_to_microseconds():
    stamps = pa.array([1_700_000_000_123_456_789], pa.timestamp("ns", "UTC"))
    assert texts(stamps) == [datetime.fromtimestamp(1_700_000_000, UTC).strftime("%Y-%m-%d %H:%M:%S") + ".123456"]


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_float_keeps_its_value(number):
    assert float(text(number)) == number
