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


@pytest.mark.parametrize("data", [b"{id:", b"\xe0\x01\x00\xea\xff\xff"])
def test_a_file_that_is_no_ion_is_named(tmp_path, data):
    (tmp_path / "a").write_bytes(data)
    with pytest.raises(PermanentError, match=r"a is no Ion, or was not written to its end"):
        records(tmp_path, "ion")
