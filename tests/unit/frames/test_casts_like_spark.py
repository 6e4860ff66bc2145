"""Answers that Spark 4.1 gave without ANSI mode on Java 21."""

import datetime as dt
import math
from decimal import Decimal

import pyarrow as pa
import pytest

from gluepot.frames.cast import try_cast
from gluepot.frames.schema import arrow_type

UTC = dt.UTC


def _cast(values, source, target):
    return try_cast(pa.array(values, source), arrow_type(target)).to_pylist()


def _micros(texts):
    return try_cast(pa.array(texts, pa.string()), arrow_type("timestamp")).cast(pa.int64()).to_pylist()


def _days(texts):
    return try_cast(pa.array(texts, pa.string()), arrow_type("date")).cast(pa.int32()).to_pylist()


@pytest.mark.parametrize("value", [2.675, 1.005, 0.285, 1.115, -2.675, 1234567.125])
def test_a_double_becomes_a_decimal_by_its_shortest_digits(value):
    exact = Decimal(repr(value))
    half_up = exact.quantize(Decimal("0.01"), rounding="ROUND_HALF_UP")

    assert _cast([value, 1.0, None], pa.float64(), "decimal(10,2)") == [half_up, Decimal("1.00"), None]


def test_doubles_that_a_decimal_cannot_hold_are_null():
    values = [99999999.99, 99999999.995, 1e38, -1e300, math.nan, math.inf, 5e-324, -0.0]
    expected = [Decimal("99999999.99"), *[None] * 5, Decimal("0.00"), Decimal("0.00")]

    assert _cast(values, pa.float64(), "decimal(10,2)") == expected


def test_a_double_with_many_digits_becomes_a_decimal_without_more_of_them():
    values = [0.1, 1e-7, 123456789.123, 1e15]
    expected = [Decimal("0.1"), Decimal("1E-7"), Decimal("123456789.123"), Decimal(10**15)]

    assert _cast(values, pa.float64(), "decimal(38,18)") == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (100.0, "100.0"),
        (0.001, "0.001"),
        (0.00099, "9.9E-4"),
        (9999999.0, "9999999.0"),
        (1e7, "1.0E7"),
        (1e10, "1.0E10"),
        (-1.25e-7, "-1.25E-7"),
        (123456789.5, "1.234567895E8"),
        (-0.0, "-0.0"),
        (math.nan, "NaN"),
        (-math.inf, "-Infinity"),
        (5e-324, "4.9E-324"),
        (1e-323, "9.9E-324"),
        (1e23, "1.0E23"),
        (1.7976931348623157e308, "1.7976931348623157E308"),
    ],
)
def test_a_double_is_written_as_in_java(value, expected):
    assert _cast([value, 1.5, None], pa.float64(), "string") == [expected, "1.5", None]


@pytest.mark.parametrize(
    ("value", "expected"),
    [(0.1, "0.1"), (1e10, "1.0E10"), (1e-45, "1.4E-45"), (16777216.0, "1.6777216E7"), (3.0, "3.0")],
)
def test_a_float_is_written_with_its_own_digits(value, expected):
    assert _cast([value], pa.float32(), "string") == [expected]


@pytest.mark.parametrize(
    ("text", "target", "expected"),
    [
        ("1" * 39, "decimal(10,2)", None),
        ("1" * 39, "decimal(38,0)", None),
        ("9" * 38, "decimal(38,0)", Decimal("9" * 38)),
        ("9" * 38 + ".5", "decimal(38,0)", None),
        ("0." + "9" * 45, "decimal(38,38)", None),
        ("1234567890123456789.5e1", "decimal(20,0)", Decimal(12345678901234567895)),
        ("1e2147483648", "decimal(10,2)", None),
        ("1e-2147483647", "decimal(10,2)", Decimal("0.00")),
        ("0e5000", "decimal(10,2)", Decimal("0.00")),
        ("\u0661\u0662", "decimal(10,2)", Decimal("12.00")),
        ("\u0661\u0662", "int", None),
        (".5", "int", 0),
        (".", "long", 0),
        ("-.9", "long", 0),
        ("+", "int", None),
        ("\x007\x7f", "int", 7),
        ("7\x7f", "double", None),
        ("\xa07", "int", None),
        ("\u20037", "double", None),
        ("7\xa0", "decimal(10,2)", None),
        ("\u3000true", "boolean", None),
        ("\ttrue\x1f", "boolean", True),
        ("1d", "double", 1.0),
        ("0x1p3", "double", 8.0),
        ("-1e400", "double", -math.inf),
        ("+iNf", "double", math.inf),
        ("1.00000017881393432617187501", "float", 1.0000002384185791),
        ("1.00000017881393432617187499", "float", 1.0000001192092896),
    ],
)
def test_texts_are_read_as_spark_reads_them(text, target, expected):
    assert _cast([text, "1", None], pa.string(), target)[0] == expected


@pytest.mark.parametrize(
    "zone", ["+01:00", "+1", "+01", "+0100", "+1:00", "UTC+1", "GMT+01:00", " Etc/GMT-1", "Africa/Lagos"]
)
def test_a_time_has_any_zone_that_spark_knows(zone):
    assert _micros([f"2024-02-05 04:05:06.5{zone}"]) == [1707102306500000]


def test_a_region_has_the_offset_of_the_time():
    summer, winter = _micros(["2024-07-01 12:00:00 Europe/Berlin", "2024-01-01 12:00:00 Europe/Berlin"])
    skipped, twice = _micros(["2024-03-31 02:30:00 Europe/Berlin", "2024-10-27 02:30:00 Europe/Berlin"])
    expected = [
        dt.datetime(*parts, tzinfo=UTC)
        for parts in ((2024, 7, 1, 10), (2024, 1, 1, 11), (2024, 3, 31, 1, 30), (2024, 10, 27, 0, 30))
    ]

    assert [summer, winter, skipped, twice] == [int(each.timestamp()) * 10**6 for each in expected]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2024-1-5", dt.date(2024, 1, 5)),
        ("2024-02", dt.date(2024, 2, 1)),
        ("2024", dt.date(2024, 1, 1)),
        (" +2024-1-5 ", dt.date(2024, 1, 5)),
        ("2024-01-05T anything", dt.date(2024, 1, 5)),
        ("2024-01-05x", None),
        ("202-01-05", None),
        ("2024-02-30", None),
        ("2024-", None),
        ("\xa02024-01-05", None),
    ],
)
def test_dates_may_lack_parts(text, expected):
    assert _cast([text], pa.string(), "date") == [expected]


def test_dates_have_years_that_python_does_not_have():
    texts = ["0000-01-01", "-0001-12-31", "10000-01-01", "+123456-7-8", "9999999-01-01"]
    days = _days(texts)

    assert days == [-719528, -719529, 2932897, 44372039, None]
    written = try_cast(pa.array(days, pa.int32()).cast(pa.date32()), pa.string()).to_pylist()
    assert written == ["0000-01-01", "-0001-12-31", "+10000-01-01", "+123456-07-08", None]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2024-1-5 4", dt.datetime(2024, 1, 5, 4, tzinfo=UTC)),
        ("2024-1-5T4:5", dt.datetime(2024, 1, 5, 4, 5, tzinfo=UTC)),
        ("2024-1-5 4:5:6.", dt.datetime(2024, 1, 5, 4, 5, 6, tzinfo=UTC)),
        ("2024-01-05 04:05:06.1234569999Z", dt.datetime(2024, 1, 5, 4, 5, 6, 123456, tzinfo=UTC)),
        ("2024-01-05 04:05Z", None),
        ("2024-01-05T", None),
        ("2024-01-05 04:05:06+18:01", None),
        ("2024-01-05 04:05:06 Nowhere/City", None),
        ("2024-01-05 04:60:00", None),
        ("12:30:00", None),
    ],
)
def test_timestamps_may_lack_parts(text, expected):
    assert _cast([text, "2024-01-01 00:00:00"], pa.string(), "timestamp")[0] == expected


@pytest.mark.parametrize(
    ("value", "kind", "target", "expected"),
    [
        (Decimal("4294967295.999999999999999999"), pa.decimal128(38, 18), "long", 4294967295),
        (Decimal("4294967295.999999999999999999"), pa.decimal128(38, 18), "decimal(18,4)", Decimal("4294967296.0000")),
        (Decimal("9" * 38), pa.decimal128(38, 0), "decimal(38,1)", None),
        (Decimal("99999999999999.999999"), pa.decimal128(20, 6), "decimal(38,0)", Decimal(10**14)),
        (Decimal("9" * 20 + "." + "9" * 18), pa.decimal128(38, 18), "decimal(38,0)", Decimal(10**20)),
        (Decimal("0.99999"), pa.decimal128(5, 5), "decimal(5,0)", Decimal(1)),
        (Decimal("0.99999"), pa.decimal128(5, 5), "decimal(4,4)", None),
        (Decimal("-0.005"), pa.decimal128(5, 5), "decimal(10,2)", Decimal("-0.01")),
        (Decimal("0.99999"), pa.decimal128(5, 5), "int", 0),
        (Decimal(0), pa.decimal128(38, 18), "string", "0E-18"),
        (10**18, pa.int64(), "decimal(38,0)", Decimal(10**18)),
        (10**18, pa.int64(), "decimal(18,0)", None),
        (258, pa.int16(), "binary", b"\x01\x02"),
        (True, pa.bool_(), "timestamp", dt.datetime(1970, 1, 1, 0, 0, 0, 1, tzinfo=UTC)),
        (-1.5, pa.float64(), "timestamp", dt.datetime(1969, 12, 31, 23, 59, 58, 500000, tzinfo=UTC)),
        (Decimal("1.0000019"), pa.decimal128(10, 7), "timestamp", dt.datetime(1970, 1, 1, 0, 0, 1, 1, tzinfo=UTC)),
        (1_000_001, pa.timestamp("us", "UTC"), "decimal(10,6)", Decimal("1.000001")),
        (-1, pa.timestamp("us", "UTC"), "long", -1),
        (0, pa.timestamp("us", "UTC"), "boolean", False),
    ],
)
def test_values_are_cast_as_spark_casts_them(value, kind, target, expected):
    assert _cast([value, None], kind, target) == [expected, None]


def test_seconds_beyond_the_last_timestamp_are_the_last_one():
    stamps = try_cast(pa.array([2**62, -(2**62)]), arrow_type("timestamp")).cast(pa.int64())

    assert stamps.to_pylist() == [2**63 - 1, -(2**63)]


def test_odd_values_among_many_ordinary_ones_keep_their_places():
    texts = [*["1.5"] * 100, "1e2", None, " 2 ", *["x", "3"] * 50]
    expected = [*[Decimal("1.50")] * 100, Decimal("100.00"), None, Decimal("2.00"), *[None, Decimal("3.00")] * 50]

    assert try_cast(pa.array(["0", *texts]).slice(1), arrow_type("decimal(10,2)")).to_pylist() == expected
