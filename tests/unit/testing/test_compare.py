from __future__ import annotations

import pytest

from gluepot.testing import assert_frames_equal, difference

ROWS = [{"id": 1, "price": 1.5, "tags": ["a"]}, {"id": 2, "price": None, "tags": []}]


def changed(**values):
    return [ROWS[0] | values, ROWS[1]]


@pytest.mark.parametrize("options", [{}, {"keys": ["id"]}, {"ordered": True}])
def test_equal_rows_have_no_difference(options):
    assert difference(ROWS, [dict(row) for row in ROWS], **options) == []


def test_order_counts_only_when_asked():
    assert difference(ROWS, ROWS[::-1]) == difference(ROWS, ROWS[::-1], keys=["id"]) == []
    assert difference(ROWS, ROWS[::-1], ordered=True)[0] == "row 0: id is 1, expected 2"


def test_keys_name_the_row_and_the_column():
    assert difference(changed(price=2.0), ROWS, keys=["id"]) == ["id=1: price is 2.0, expected 1.5"]


def test_rows_that_only_one_side_has_are_told_apart():
    assert difference(ROWS[:1], ROWS, keys=["id"]) == ["id=2: missing: {'id': 2, 'price': None, 'tags': []}"]
    assert difference(ROWS, ROWS[:1], keys=["id"]) == ["id=2: not expected: {'id': 2, 'price': None, 'tags': []}"]
    assert difference(changed(id=3), ROWS) == [
        "missing: {'id': 1, 'price': 1.5, 'tags': ['a']}",
        "not expected: {'id': 3, 'price': 1.5, 'tags': ['a']}",
    ]


def test_copies_of_a_row_count():
    assert difference([ROWS[0], ROWS[0]], [ROWS[0]]) == ["not expected: {'id': 1, 'price': 1.5, 'tags': ['a']}"]
    assert difference([ROWS[0]], [ROWS[0], ROWS[0]], ordered=True) == ["1 rows, expected 2"]


def test_columns_come_first():
    assert difference([{"a": 1, "b": 2}], [{"a": 1, "c": 2}]) == ["columns missing: c", "columns not expected: b"]


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (1.0, 1.0009, True),
        (1.0, 1.01, False),
        (float("nan"), float("nan"), True),
        (1, True, False),
        (1, "1", False),
        ([1.0], [1.0005], True),
        ([1], [1, 2], False),
        ({"a": 1.0}, {"a": 1.0005}, True),
        ({"a": 1.0}, {"b": 1.0}, False),
        (None, 0, False),
        (10**17, 10**17 + 1, False),
    ],
)
def test_values_are_equal_within_the_tolerance_and_of_one_type(one, other, same):
    assert (difference([{"v": one}], [{"v": other}], tolerance=0.001) == []) == same


def test_keys_that_do_not_tell_rows_apart_are_refused():
    with pytest.raises(ValueError, match="id do not tell the actual rows apart"):
        difference([ROWS[0], ROWS[0]], ROWS, keys=["id"])


def test_the_text_of_the_error_is_short_and_leaves_out_ignored_columns():
    many = [{"id": n, "at": n} for n in range(12)]

    assert_frames_equal(many, [row | {"at": 0} for row in many], ignore_columns=["at"])
    with pytest.raises(AssertionError, match=r"(?s)the frames differ:\nid=0: missing.*\n\.\.\. and 2 more"):
        assert_frames_equal([], many, keys=["id"])
