"""Partitions of a collection: whatever the bounds are, every document is in one of them."""

from __future__ import annotations

from bson import ObjectId
from hypothesis import given
from hypothesis import strategies as some

from gluepot.connectors.mongodb.partitions import bounds, filters, partition_count


def test_the_number_of_partitions_comes_from_size_or_count():
    assert partition_count(1000, 100, 64, None) == 2
    assert partition_count(1000, 100, None, 7) == 7
    assert partition_count(3, 100, None, 7) == 3
    assert partition_count(0, 0, 64, None) == 1


def test_bounds_are_at_even_distances():
    assert bounds(list(range(100)), 4) == [25, 50, 75]
    assert bounds([5] * 10, 4) == []
    assert bounds([], 4) == []
    assert bounds([None] * 5, 3) == []
    assert bounds([None] * 5 + [1, 2], 3) == [2]
    assert bounds([[1], [2], [3]], 3) == []


def test_bounds_have_one_type():
    found = bounds(["a", "b", "c", "d", ObjectId(), ObjectId()], 3)
    assert found == ["b", "c"]


def test_the_first_partition_is_whatever_is_in_no_other():
    assert filters("_id", [5, 9]) == [
        {"_id": {"$not": {"$gte": 5}}},
        {"_id": {"$gte": 5, "$lt": 9}},
        {"_id": {"$gte": 9}},
    ]
    assert filters("_id", []) == [{}]


def matches(condition, value):
    """Tell whether MongoDB would find a value: comparisons concern values of one type only."""

    def holds(operator, bound):
        if operator == "$not":
            return not all(holds(*one) for one in bound.items())
        alike = isinstance(value, int) == isinstance(bound, int) and value is not None
        return alike and (value >= bound if operator == "$gte" else value < bound)

    return all(holds(*one) for one in condition.get("k", {}).items())


def in_order(value):
    """Return a value as MongoDB orders it: null, then numbers, then texts."""
    return (value is not None, isinstance(value, str), value if isinstance(value, int) else 0, str(value))


@given(some.lists(some.integers(0, 20) | some.sampled_from("abcdef") | some.none()), some.integers(1, 6))
def test_every_document_is_in_one_partition(values, count):
    sample = sorted(values, key=in_order)
    conditions = filters("k", bounds(sample, count))
    assert len(conditions) <= max(count, 1)
    assert all(sum(matches(one, value) for one in conditions) == 1 for value in values)
