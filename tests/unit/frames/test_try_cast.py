import datetime as dt
import string
from decimal import Decimal

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gluepot.frames.cast import decimals, numbers, times, try_cast
from gluepot.frames.schema import arrow_type

UTC = dt.UTC
SCALARS = [
    "string",
    "int",
    "long",
    "double",
    "float",
    "short",
    "byte",
    "boolean",
    "date",
    "timestamp",
    "binary",
    "decimal(10,2)",
    "decimal(38,38)",
]
LOOKS_LIKE_DATA = st.one_of(
    st.text(string.digits + "+-.eE", max_size=50),
    st.text(string.digits + "-:TZ .+", max_size=30),
    st.from_regex(r"\A[+-]?[0-9]{1,45}(\.[0-9]{0,45})?([eE][+-]?[0-9]{1,4})?\Z"),
    st.from_regex(
        r"\A[0-9]{4}-[01][0-9]-[0-3][0-9]([T ][0-2][0-9]:[0-6][0-9](:[0-6][0-9](\.[0-9]{1,10})?)?)?(Z|[+-][0-9]{2}:?[0-9]{2})?\Z"
    ),
    st.text(max_size=5),
    st.sampled_from(["nan", "Infinity", "-inf", "true", "N", ""]),
)
NEARLY = """0x1F 0X1f 1e3 1.e2 -7 -0 007 +5 1e999 nan(x) NaN inf . .5 -.5 1. 1.505 12345678901 99999999.99 9223372036854775808
    2026-01-01T05 2026-01-01T05Z 2026-01-01T05:06 2026-01-01T05:06Z 2026-01-01T05:06:07+19:00 2026-01-01T05+05:00
    2026-01-01T05:06:07.1234567 2026-01-01T05:06:07.12Z 2026-01-01T05:06:07.1+01:00 0000-02-29 2026-02-30 2026-1-1
    2026-01-01T05:06:60 2026-01-01T24:00:00 2026-01-01Z ٣"""
# What Arrow reads by itself, or nearly does.
LOOKS_ALIKE = st.one_of(
    st.sampled_from(NEARLY.split()),
    st.datetimes(dt.datetime(1600, 1, 1)).map(lambda one: one.isoformat(" ")),
    st.datetimes(dt.datetime(1600, 1, 1)).map(lambda one: f"{one.isoformat()}Z"),
    st.integers(-(10**6), 10**6).map(str),
    st.floats(-1e6, 1e6).map(str),
    st.decimals(-(10**6), 10**6, places=2).map(str),
    st.just(""),
)


def _cast(values, source, target):
    return try_cast(pa.array(values, source), arrow_type(target)).to_pylist()


@given(st.lists(LOOKS_LIKE_DATA, min_size=1, max_size=5), st.sampled_from(SCALARS))
def test_no_text_makes_a_cast_raise(texts, target):
    result = try_cast(pa.array(texts), arrow_type(target))
    result.validate(full=True)
    assert len(result) == len(texts)


@given(
    st.sampled_from(["long", "short", "double", "float", "date", "timestamp", "decimal(10,2)", "decimal(38,38)"]),
    st.data(),
)
def test_columns_that_are_read_at_once_are_read_as_by_patterns(target, data):
    texts = data.draw(st.lists(st.one_of(LOOKS_ALIKE, LOOKS_LIKE_DATA, st.none()), max_size=5))
    at_once = _digits(texts, target)
    with pytest.MonkeyPatch.context() as patch:
        for module in (numbers, decimals, times):
            patch.setattr(module, "cast_at_once", lambda *_: None)
        by_patterns = _digits(texts, target)

    assert list(map(repr, at_once)) == list(map(repr, by_patterns))


def _digits(texts, target):
    """Cast texts, and return dates and time stamps as integers: Python has no year 0."""
    found = try_cast(pa.array(texts, pa.string()), arrow_type(target))
    whole = {"date": pa.int32(), "timestamp": pa.int64()}.get(target)
    return (found if whole is None else found.cast(whole)).to_pylist()


@given(
    st.lists(st.one_of(st.floats(), st.integers(-(2**63), 2**63 - 1).map(float)), min_size=1), st.sampled_from(SCALARS)
)
def test_no_double_makes_a_cast_raise(values, target):
    result = try_cast(pa.array(values, pa.float64()), arrow_type(target))
    result.validate(full=True)
    assert len(result) == len(values)


@given(st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1), st.sampled_from(SCALARS))
def test_no_integer_makes_a_cast_raise(values, target):
    result = try_cast(pa.array(values, pa.int64()), arrow_type(target))
    result.validate(full=True)
    assert len(result) == len(values)


@given(
    st.lists(
        st.decimals(allow_nan=False, allow_infinity=False, places=6, min_value=-(10**20), max_value=10**20), min_size=1
    ),
    st.sampled_from(SCALARS),
)
def test_no_decimal_makes_a_cast_raise(values, target):
    result = try_cast(pa.array(values, pa.decimal128(38, 6)), arrow_type(target))
    result.validate(full=True)
    assert len(result) == len(values)


@given(
    st.lists(st.datetimes(dt.datetime(1, 1, 2), dt.datetime(9999, 12, 30)), min_size=1),
    st.sampled_from(["string", "timestamp"]),
)
def test_a_time_written_as_text_reads_back_as_the_same_instant(values, through):
    stamps = pa.array(values, pa.timestamp("us", tz="UTC"))
    assert try_cast(try_cast(stamps, arrow_type(through)), stamps.type).equals(stamps)


@given(st.integers(-(2**63), 2**63 - 1))
def test_every_long_survives_its_text(value):
    assert _cast([str(value)], pa.string(), "long") == [value]


@given(st.integers(-(2**70), 2**70), st.sampled_from([("byte", 7), ("short", 15), ("int", 31), ("long", 63)]))
def test_integers_out_of_range_are_null(value, sized):
    name, bits = sized
    expected = value if -(2**bits) <= value < 2**bits else None
    assert _cast([str(value)], pa.string(), name) == [expected]


@pytest.mark.parametrize(
    ("text", "target", "expected"),
    [
        (" 42 ", "int", 42),
        ("007", "int", 7),
        ("00000000000000000000000000012", "int", 12),
        ("1.9", "long", 1),
        ("-1.9", "long", -1),
        ("12a", "long", None),
        ("", "long", None),
        ("1e3", "double", 1000.0),
        ("1e999", "double", float("inf")),
        (".5", "double", 0.5),
        ("1e39", "float", float("inf")),
        ("1.005", "decimal(10,2)", Decimal("1.01")),
        ("-1.005", "decimal(10,2)", Decimal("-1.01")),
        ("99999999.999", "decimal(10,2)", None),
        ("1e2", "decimal(10,2)", Decimal("100.00")),
        ("Yes", "boolean", True),
        ("0", "boolean", False),
        ("maybe", "boolean", None),
        ("2024-02-29", "date", dt.date(2024, 2, 29)),
        ("2023-02-29", "date", None),
        ("1900-02-29", "date", None),
        ("2026-11-21T04:00:00Z", "date", dt.date(2026, 11, 21)),
        ("2026-11-21", "timestamp", dt.datetime(2026, 11, 21, tzinfo=UTC)),
        ("2026-11-21 04:05", "timestamp", dt.datetime(2026, 11, 21, 4, 5, tzinfo=UTC)),
        ("2026-11-21T04:05:06.1234567", "timestamp", dt.datetime(2026, 11, 21, 4, 5, 6, 123456, UTC)),
        ("2026-11-21T04:05:06+02:00", "timestamp", dt.datetime(2026, 11, 21, 2, 5, 6, tzinfo=UTC)),
        ("2026-11-21T04:05:06.5-0130", "timestamp", dt.datetime(2026, 11, 21, 5, 35, 6, 500000, UTC)),
        ("2026-11-21T24:05:06", "timestamp", None),
        ("yesterday", "timestamp", None),
    ],
)
def test_text_becomes_the_value_it_names_or_null(text, target, expected):
    assert _cast([text, None], pa.string(), target) == [expected, None]


@pytest.mark.parametrize(
    ("value", "source", "target", "expected"),
    [
        (300, pa.int64(), "byte", None),
        (2.9, pa.float64(), "int", 2),
        (float("nan"), pa.float64(), "long", None),
        (2.0**63, pa.float64(), "long", None),
        (1e300, pa.float64(), "float", float("inf")),
        (1.5, pa.float64(), "string", "1.5"),
        (7, pa.int64(), "string", "7"),
        (True, pa.bool_(), "string", "true"),
        (True, pa.bool_(), "int", 1),
        (0, pa.int64(), "boolean", False),
        (1, pa.int64(), "timestamp", dt.datetime(1970, 1, 1, 0, 0, 1, tzinfo=UTC)),
        (Decimal("12.7"), pa.decimal128(5, 1), "double", 12.7),
        (Decimal("12.7"), pa.decimal128(5, 1), "long", 12),
        (Decimal("12.75"), pa.decimal128(5, 2), "decimal(4,1)", Decimal("12.8")),
        (dt.datetime(2026, 11, 21, 4, 5, 6), pa.timestamp("us"), "string", "2026-11-21 04:05:06"),
        (dt.datetime(2026, 11, 21, 4, 5, 6, 500000), pa.timestamp("us"), "string", "2026-11-21 04:05:06.5"),
        (dt.datetime(1969, 12, 31, 23, 59, 59, 500000), pa.timestamp("us", tz="UTC"), "long", -1),
        (dt.datetime(1969, 12, 31, 23), pa.timestamp("us"), "date", dt.date(1969, 12, 31)),
        (dt.date(2026, 11, 21), pa.date32(), "string", "2026-11-21"),
        ({"a": 1, "b": None}, pa.struct([("a", pa.int64()), ("b", pa.int64())]), "string", '{"a":1}'),
        ([1, 2], pa.list_(pa.int64()), "string", "[1,2]"),
        (b"ab", pa.binary(), "string", "ab"),
        (b"\xff", pa.binary(), "string", "\ufffd"),
        ([1], pa.list_(pa.int64()), "int", None),
    ],
)
def test_values_become_their_counterpart_or_null(value, source, target, expected):
    assert _cast([value, None], source, target) == [expected, None]


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        ("timestamp", [-1, -2, 1]),
        ("long", [-1, -1, 0]),
        ("date", [-1, -1, 0]),
        ("double", [-1e-6, -2e-6, 1e-6]),
        ("decimal(10,6)", [Decimal("-0.000001"), Decimal("-0.000002"), Decimal("0.000001")]),
    ],
)
def test_nanoseconds_are_rounded_down_before_a_cast(target, expected):
    found = try_cast(pa.array([-1, -1001, 1999], pa.timestamp("ns")), arrow_type(target))
    plain = {"timestamp": pa.int64(), "date": pa.int32()}.get(target)
    assert (found if plain is None else found.cast(plain)).to_pylist() == expected
