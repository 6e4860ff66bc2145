from datetime import UTC, date, datetime
from decimal import Decimal

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gluepot.core.errors import ConfigError
from gluepot.frames.chunk import Coordinates
from gluepot.frames.declared import DeclaredCsv

THREE = [("a", pa.int32()), ("b", pa.string()), ("c", pa.float64())]


def _decode(schema, *values, delimiter=","):
    decoder = DeclaredCsv.of(pa.schema(schema), delimiter).decoder()
    return decoder.decode(values, range(100, 100 + len(values)), "clicks", "3")


def _rows(*lines, schema=THREE, delimiter=","):
    chunk = _decode(schema, *(line.encode() for line in lines), delimiter=delimiter)
    assert not chunk.errors
    return [tuple(row.values()) for row in chunk.batch.to_pylist()]


def test_values_that_do_not_fit_are_counted_by_column():
    chunk = _decode(THREE, b"one,x,two", b",,", b"1,x", b"2,y,z", b"")
    assert chunk.misfits == {"a": 1, "c": 2}


def test_values_without_a_column_are_counted():
    chunk = _decode(THREE, b"1,x,2,3,,4", b"1,x,2", b"1", b"1,x,2,3")
    assert chunk.misfits == {"(beyond the last column)": 4}


@pytest.mark.parametrize(
    ("line", "row"),
    [
        ("1,x,2.5", (1, "x", 2.5)),
        ("1,x,2.5\r\n", (1, "x", 2.5)),
        ('1,"x,y",2', (1, "x,y", 2.0)),
        ('1,"say ""hi""",2', (1, 'say "hi"', 2.0)),
        ('1,"two\nlines",2', (1, "two\nlines", 2.0)),
        ('1,"",2', (1, None, 2.0)),
        (",,", (None, None, None)),
        ("1,x", (1, "x", None)),
        ("1,x,2,3", (1, "x", 2.0)),
        ("one,x,two", (None, "x", None)),
        (" 1, x , 2.5 ", (None, " x ", 2.5)),
        ("1.0,C:\\x,1e3", (None, "C:\\x", 1000.0)),
    ],
)
def test_a_line_is_a_row(line, row):
    assert _rows(line) == [row]


def test_every_flat_type_is_read():
    schema = [
        ("a", pa.bool_()),
        ("b", pa.decimal128(5, 2)),
        ("c", pa.date32()),
        ("d", pa.timestamp("us", tz="UTC")),
        ("e", pa.binary()),
        ("f", pa.int8()),
    ]
    good = (True, Decimal("1.01"), date(2026, 11, 21), datetime(2026, 11, 21, 4, tzinfo=UTC), b"abc", 127)
    lines = ["TRUE,1.005,2026-11-21,2026-11-21T04:00:00Z,abc,127", "yes,1000,soon,1,,128"]
    assert _rows(*lines, schema=schema) == [good, (None,) * 6]


def test_the_delimiter_is_the_one_declared():
    assert _rows("1|x,y|2", delimiter="|") == [(1, "x,y", 2.0)]
    assert _rows('1\t"x\ty"\t2', delimiter="\t") == [(1, "x\ty", 2.0)]


def test_a_value_may_be_longer_than_the_csv_module_allows_unless_told():
    long = "x" * 200_000
    assert _rows(f'1,"{long}",2') == [(1, long, 2.0)]


def test_what_is_not_one_line_becomes_an_error_and_its_neighbours_stay():
    broken = [b"", b'1,"open,2', b"1,x,2\n3,y,4", b'1,"x"y,2', b"1,\xff,2", None]
    chunk = _decode(THREE, b"1,x,2", *broken, b"2,y,3")
    assert [row["a"] for row in chunk.batch.to_pylist()] == [1, 2]
    assert [(e.raw, e.reason) for e in chunk.errors] == [
        *((raw, "malformed_csv") for raw in broken[:4]),
        (b"1,\xff,2", "invalid_utf8"),
        (None, "null_value"),
    ]
    assert chunk.errors[0].at == Coordinates("clicks", "3", "101")


@given(st.lists(st.text('1x,"\n\\ ', max_size=6).map(str.encode), max_size=5))
def test_a_record_gives_the_same_row_alone_and_among_others(values):
    together = _decode(THREE, *values)
    alone = [_decode(THREE, value) for value in values]
    assert together.batch.to_pylist() == [row for chunk in alone for row in chunk.batch.to_pylist()]
    assert len(together.errors) == sum(len(chunk.errors) for chunk in alone)


def test_nested_types_are_refused():
    with pytest.raises(ConfigError, match="Field a of the schema is a list"):
        DeclaredCsv.of(pa.schema([("a", pa.list_(pa.int32()))]), ",")
