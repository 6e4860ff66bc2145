from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal

import pytest
from amazon.ion import simpleion

from gluepot.core.errors import PermanentError
from tests.unit.files.reading import errors, records

TEXT = b"""{id: 1, price: 2.50, at: 2024-01-02T03:04:05+01:00, day: 2024-01-02, tags: [a, "b"], inner: {x: null.int, y: 1e0}}
unit::{id: 2, raw: {{aGk=}}}
"""


def test_structs_are_records_with_the_types_they_have(tmp_path):
    (tmp_path / "a.ion").write_bytes(TEXT)
    first, second = records(tmp_path, "ion")
    assert first == {
        "id": 1,
        "price": Decimal("2.50"),
        "at": datetime(2024, 1, 2, 2, 4, 5, tzinfo=UTC),
        "day": datetime(2024, 1, 2, tzinfo=UTC),
        "tags": ["a", "b"],
        "inner": {"x": None, "y": 1.0},
    }
    assert second == {"id": 2, "raw": b"hi"}


def test_binary_ion_is_read(tmp_path):
    (tmp_path / "a").write_bytes(simpleion.dumps([{"id": 1}, {"id": 2}], binary=True, sequence_as_stream=True))
    assert records(tmp_path, "ion") == [{"id": 1}, {"id": 2}]


def test_a_value_that_is_no_struct_is_set_aside(tmp_path):
    (tmp_path / "a").write_bytes(b"{id: 1} 5 {id: 2}")
    assert records(tmp_path, "ion") == [{"id": 1}, {"id": 2}]
    assert [(one.raw, one.reason) for one in errors(tmp_path, "ion")] == [(b"5", "no_record")]


def test_annotations_do_not_change_values(tmp_path):
    text = b"{a: x::1, b: x::true, c: x::s, d: x::null, e: x::2.5, f: x::1e0, g: x::{{aGk=}}, h: x::[y::7], i: x::{z: x::0}}"
    (tmp_path / "a").write_bytes(text)
    (record,) = records(tmp_path, "ion")
    assert record == {
        "a": 1, "b": True, "c": "s", "e": Decimal("2.5"), "f": 1.0, "g": b"hi", "h": [7], "i": {"z": 0}
    }  # fmt: skip
    assert record["b"] is True


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (b"{a: [{b: $0}]}", "A symbol has no text"),
        (b"{$0: 1}", "The name of a field is a symbol without a text"),
        (b"{a: 0001-01-01T00:00+14:00}", "not within the years 1 to 9999"),
        (b"{a: 9999-12-31T23:59:59-12:00}", "not within the years 1 to 9999"),
        (b"{a: 1" + b"0" * 400 + b"}", "An integer has 1329 bits"),
        (b"{a: 2024-12-31T23:59:59.720872172370Z}", "has more than nine digits"),
    ],
)
def test_a_value_that_no_column_can_hold_is_set_aside(tmp_path, value, message):
    (tmp_path / "a").write_bytes(b"{id: 1}" + value + b"{id: 2}")
    assert records(tmp_path, "ion") == [{"id": 1}, {"id": 2}]
    (error,) = errors(tmp_path, "ion")
    assert error.reason == "unfit_value"
    assert message in error.message
    assert simpleion.loads(error.raw, single_value=False)


def test_nine_zeros_of_a_second_are_read(tmp_path):
    (tmp_path / "a").write_bytes(b"{a: 2024-12-31T23:59:59.000000000Z}")
    assert records(tmp_path, "ion") == [{"a": datetime(2024, 12, 31, 23, 59, 59, tzinfo=UTC)}]


def test_a_binary_second_of_more_than_nine_digits_is_set_aside(tmp_path):
    body = b"\x80\x0f\xe8\x8c\x9f\x97\xbb\xbb\xcc\x00" + (720_872_172_370).to_bytes(5)
    field = b"\x84\x6e" + bytes([0x80 | len(body)]) + body
    (tmp_path / "a").write_bytes(b"\xe0\x01\x00\xea\xde" + bytes([0x80 | len(field)]) + field)
    assert records(tmp_path, "ion") == []
    assert "has more than nine digits" in errors(tmp_path, "ion")[0].message


def test_decimals_of_more_than_38_digits_are_strings(tmp_path):
    (tmp_path / "a").write_bytes(b"{a: 1d37, b: 1d38, c: 1d-38, d: 1d-39, e: 0d-80, f: 123d99999}")
    assert records(tmp_path, "ion") == [
        {
            "a": Decimal(10**37), "b": "1E+38", "c": Decimal("1E-38"), "d": "1E-39", "e": Decimal(0), "f": "1.23E+100001"
        }
    ]  # fmt: skip


def test_a_long_string_in_text_is_refused_by_name(tmp_path):
    (tmp_path / "a").write_bytes(b'{a: "' + b"y" * 20_000 + b'"}')
    with pytest.raises(PermanentError, match=r"a has a value of 16 KiB or more in Ion's text encoding"):
        records(tmp_path, "ion")


@pytest.mark.parametrize("data", [b"{id:", b"\xe0\x01\x00\xea\xff\xff"])
def test_a_file_that_is_no_ion_is_named(tmp_path, data):
    (tmp_path / "a").write_bytes(data)
    with pytest.raises(PermanentError, match=r"a is not valid Ion, or was not written to its end"):
        records(tmp_path, "ion")
