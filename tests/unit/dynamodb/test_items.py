"""Values as attributes of items, and back."""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal

import pytest
from boto3.dynamodb.types import TypeDeserializer, TypeSerializer
from hypothesis import given
from hypothesis import strategies as some

from gluepot.connectors.dynamodb.items import NoAttribute, item_of, row_of


@pytest.mark.parametrize(
    ("value", "attribute"),
    [
        (True, {"BOOL": True}),
        (7, {"N": "7"}),
        (-(2**63), {"N": "-9223372036854775808"}),
        (0.1, {"N": "0.1"}),
        (1e-7, {"N": "0.0000001"}),
        (1e100, {"N": "1E+100"}),
        (Decimal("12.50"), {"N": "12.50"}),
        (Decimal("1E+2"), {"N": "100"}),
        ("", {"S": ""}),
        (b"\x00", {"B": b"\x00"}),
        (date(2026, 2, 28), {"S": "2026-02-28"}),
        (datetime(2026, 2, 28, 1, 2, 3, 4000), {"S": "2026-02-28T01:02:03.004"}),
        (datetime(2026, 2, 28, 1, 2, 3, tzinfo=UTC), {"S": "2026-02-28T01:02:03.000Z"}),
        ([1, None], {"L": [{"N": "1"}, {"NULL": True}]}),
        ({"a": None, "b": {"c": "x"}}, {"M": {"b": {"M": {"c": {"S": "x"}}}}}),
    ],
)
def test_each_value_has_its_attribute(value, attribute):
    assert item_of({"x": value}) == {"x": attribute}


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (float("nan"), "x is nan, which no number of DynamoDB can be"),
        (float("-inf"), "x is -inf, which no number of DynamoDB can be"),
        (Decimal("NaN"), "x is NaN, which no number of DynamoDB can be"),
        (10**38 + 1, "x has 39 digits, and a number of DynamoDB has 38 at most"),
        (Decimal("1." + "1" * 38), "x has 39 digits"),
        (1e126, "x is 1e+126, which is beyond the numbers of DynamoDB"),
        (1e-131, "x is 1e-131, which is beyond the numbers of DynamoDB"),
    ],
)
def test_a_number_that_no_attribute_can_hold_is_named(value, said):
    with pytest.raises(NoAttribute, match=f"^{said.replace('+', '.')}"):
        item_of({"x": value})


def test_the_place_of_a_value_is_named():
    with pytest.raises(NoAttribute, match=r"^a\.b\[1\] is nan"):
        item_of({"a": {"b": [1.0, float("nan")]}})


def test_trailing_zeros_do_not_count_as_digits():
    assert item_of({"x": Decimal("1" + "0" * 40)}) == {"x": {"N": "1" + "0" * 40}}


def test_sets_become_lists_and_numbers_keep_their_digits():
    item = {
        "words": {"SS": ["a", "b"]},
        "numbers": {"NS": ["1", "2.5"]},
        "whole": {"N": "7.0"},
        "half": {"N": "0.5"},
        "long": {"N": "12345678901234567890123.5"},
        "none": {"NULL": True},
        "map": {"M": {"x": {"L": [{"BOOL": False}, {"B": b"1"}]}}},
    }
    row = row_of(item)
    assert row == {
        "words": ["a", "b"],
        "numbers": [1, 2.5],
        "whole": 7,
        "half": 0.5,
        "long": Decimal("12345678901234567890123.5"),
        "none": None,
        "map": {"x": [False, b"1"]},
    }
    assert isinstance(row["whole"], int)


scalars = some.one_of(
    some.text(max_size=5),
    some.booleans(),
    some.integers(-(2**63), 2**63 - 1),
    some.decimals("-1E20", "1E20", places=6),
    some.binary(max_size=5),
)
values = some.recursive(
    scalars,
    lambda inner: some.one_of(
        some.lists(inner, max_size=3), some.dictionaries(some.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(some.dictionaries(some.text(min_size=1, max_size=3), values, max_size=4))
def test_amazons_own_types_read_what_we_write(fields):
    found = {name: TypeDeserializer().deserialize(one) for name, one in item_of(fields).items()}
    assert _plain(found) == fields


@given(some.dictionaries(some.text(min_size=1, max_size=3), values, max_size=4))
def test_we_read_what_amazons_own_types_write(fields):
    item = {name: TypeSerializer().serialize(one) for name, one in fields.items()}
    assert _decimal(row_of(item)) == fields


def _decimal(value):
    """Return the same with floats as the decimals that they print as, for a comparison of numbers by their digits."""
    if isinstance(value, dict):
        return {name: _decimal(one) for name, one in value.items()}
    if isinstance(value, list):
        return [_decimal(one) for one in value]
    return Decimal(repr(value)) if isinstance(value, float) else value


def _plain(value):
    if isinstance(value, dict):
        return {name: _plain(one) for name, one in value.items()}
    if isinstance(value, list):
        return [_plain(one) for one in value]
    return bytes(value) if hasattr(value, "value") else value
