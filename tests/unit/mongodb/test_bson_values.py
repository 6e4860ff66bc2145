"""Rows as documents and documents as rows: types are kept, and what BSON cannot hold is refused."""

from __future__ import annotations

import math
from datetime import UTC, date, datetime
from decimal import Decimal

import bson
import pytest
from bson import Binary, Code, DBRef, Decimal128, Int64, MinKey, ObjectId, Regex, Timestamp
from hypothesis import given
from hypothesis import strategies as some

from gluepot.connectors.mongodb.bson_values import READING, NoDocument, document_key, row_of, upsert

HEX = "0123456789abcdef01234567"


def key_of(fields, *, has_object_ids=True):
    return document_key(fields, "own", has_object_ids=has_object_ids)


def through(fields):
    """Return what a row is after it was written and read."""
    statement = bson.decode(upsert(fields, "k", replaces=True).raw, READING)
    assert (statement["q"], statement["upsert"]) == ({"_id": "k"}, True)
    found = row_of(statement["u"])
    assert found.pop("_id") == "k"
    return found


def test_a_row_without_an_id_gets_the_one_that_a_repetition_gives_again():
    assert key_of({"n": 1}) == "own"


def test_an_object_id_survives_reading_and_writing():
    assert row_of({"_id": ObjectId(HEX)}) == {"_id": HEX}
    assert key_of({"_id": HEX}) == ObjectId(HEX)
    assert key_of({"_id": {"oid": HEX}}) == ObjectId(HEX)


def test_texts_stay_texts_where_the_script_says_so_or_where_they_are_no_object_ids():
    assert key_of({"_id": HEX}, has_object_ids=False) == HEX
    assert key_of({"_id": HEX.upper()}) == HEX.upper()
    assert key_of({"_id": "a" * 32}) == "a" * 32


@pytest.mark.parametrize("key", [7, 2**40, "text", 0.5, b"\x01", {"a": 1}, True, date(2026, 1, 2)])
def test_other_ids_are_what_they_are(key):
    assert key_of({"_id": key}) == key


@pytest.mark.parametrize("key", [[1], {"oid": "short"}, {"oid": 5}])
def test_ids_that_no_document_may_have_are_refused(key):
    with pytest.raises(NoDocument) as refused:
        key_of({"_id": key})
    assert refused.value.reason == "bad_id"


def test_types_are_kept():
    fields = {
        "flag": True, "small": 7, "large": 2**40, "ratio": 0.5, "price": Decimal("12.50"), "text": "€ 😀",
        "bytes": b"\x00\xff", "time": datetime(2026, 1, 2, 3, 4, 5, 678000, UTC), "list": [1, None, "x"],
        "inner": {"deep": {"a": 1}},
    }  # fmt: skip
    assert through(fields) == fields


def test_what_bson_lacks_becomes_the_nearest():
    assert through({"day": date(2026, 2, 28)}) == {"day": datetime(2026, 2, 28, tzinfo=UTC)}
    assert through({"time": datetime(2026, 1, 2, 3, 4, 5, 678999, UTC)})["time"].microsecond == 678000
    assert through({"inner": {"none": None, "list": [{"none": None}]}}) == {"inner": {"list": [{}]}}


def test_odd_numbers_are_kept():
    found = through({"nan": float("nan"), "endless": float("-inf"), "zero": -0.0})
    assert math.isnan(found["nan"])
    assert (found["endless"], str(found["zero"])) == (float("-inf"), "-0.0")


def nested(levels):
    found = {}
    for _ in range(levels):
        found = {"a": found}
    return found


@pytest.mark.parametrize(
    ("fields", "reason", "said"),
    [
        ({"n": 2**63}, "bad_value", "64 bits"),
        ({"d": Decimal("1" * 35)}, "bad_value", "34 digits"),
        ({"d": Decimal("1E+7000")}, "bad_value", "34 digits"),
        ({"a\0b": 1}, "bad_value", "NULL byte"),
        ({"t": "\ud800"}, "bad_value", "surrogates"),
        ({"t": "x" * (16 << 20)}, "too_large", "16777216 at most"),
        (nested(120), "bad_value", "100 levels"),
        (nested(5000), "bad_value", "100 levels"),
    ],
)
def test_what_no_document_can_hold_is_refused(fields, reason, said):
    with pytest.raises(NoDocument, match=said) as refused:
        upsert(fields, "k", replaces=False)
    assert refused.value.reason == reason


def test_a_document_may_have_100_levels():
    assert upsert(nested(99), "k", replaces=True)


def test_a_document_may_have_16_mib():
    rest = len(bson.encode({"_id": "k", "t": ""}))
    assert upsert({"t": "x" * ((16 << 20) - rest)}, "k", replaces=True)
    with pytest.raises(NoDocument, match="it takes 16777217 bytes"):
        upsert({"t": "x" * ((16 << 20) - rest + 1)}, "k", replaces=True)


def test_types_of_documents_that_rows_lack_become_plain_ones():
    found = row_of(
        {
            "long": Int64(5), "decimal": Decimal128("1.50"), "uuid": Binary(b"x" * 16, 4), "regex": Regex("^a"),
            "code": Code("f()"), "stamp": Timestamp(1_700_000_000, 3), "least": MinKey(),
            "ref": DBRef("c", ObjectId(HEX)), "nan": Decimal128("NaN"), "ids": [ObjectId(HEX)],
        }
    )  # fmt: skip
    assert math.isnan(found.pop("nan"))
    assert found == {
        "long": 5, "decimal": Decimal("1.50"), "uuid": b"x" * 16, "regex": "^a", "code": "f()",
        "stamp": datetime(2023, 11, 14, 22, 13, 20, tzinfo=UTC), "least": "MinKey",
        "ref": {"$ref": "c", "$id": HEX}, "ids": [HEX],
    }  # fmt: skip
    assert {name: type(value) for name, value in found.items() if name in {"long", "uuid", "code"}} == {
        "long": int, "uuid": bytes, "code": str,
    }  # fmt: skip


def test_times_beyond_those_of_python_are_milliseconds():
    far = bson.decode(bson.encode({"t": bson.DatetimeMS(10**15)}), READING)
    assert row_of(far) == {"t": 10**15}


SCALARS = some.one_of(
    some.booleans(), some.integers(-(2**63), 2**63 - 1), some.floats(allow_nan=False), some.binary(max_size=20),
    some.text(some.characters(exclude_categories=["Cs"]), max_size=20),
    some.decimals(allow_nan=False, allow_infinity=False, min_value=-(10**15), max_value=10**15, places=4),
)  # fmt: skip
NAMES = some.text(some.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=8)
VALUES = some.recursive(
    SCALARS, lambda inner: some.lists(inner, max_size=3) | some.dictionaries(NAMES, inner, max_size=3)
)


@given(some.dictionaries(NAMES.filter(lambda name: name != "_id"), VALUES, max_size=5))
def test_every_row_comes_back_as_it_was(fields):
    assert through(fields) == fields
