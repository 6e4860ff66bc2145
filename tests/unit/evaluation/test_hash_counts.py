"""Hashes that occur once, and those whose values have to be compared."""

import math

import numpy as np
import pyarrow as pa
import pytest

from gluepot.evaluation import hash_counts
from gluepot.evaluation.hash_counts import HashCounts, Way, _parts, _united, counted, filled, tallied, total
from gluepot.evaluation.hashes import codes, hashes
from gluepot.evaluation.sums import Sums


def as_hashes(*numbers):
    return np.array(numbers, np.uint64)


def of(*numbers):
    return counted(*tallied(as_hashes(*numbers)))


def test_hashes_that_occur_several_times_are_suspects():
    found = of(7, 3, 9, 3, 7, 7, 2**64 - 1)
    assert found.sums == Sums(7, 4, 2, pytest.approx(2 * math.log(2) + 3 * math.log(3)))
    assert found.suspects.tolist() == [3, 7]


def test_counts_of_equal_hashes_are_added():
    different, counts = tallied(as_hashes(5, 3, 5), np.array([2, 1, 4]))
    assert (different.tolist(), counts.tolist()) == ([3, 5], [1, 6])
    assert counted(different, counts).suspects.tolist() == [5]


@pytest.mark.parametrize("counts", [None, np.zeros(0, np.int64)])
def test_no_hashes_are_no_suspects(counts):
    found = counted(*tallied(as_hashes(), counts))
    assert (found.sums, found.suspects.tolist()) == (Sums(), [])


def test_too_many_suspects_are_not_listed(monkeypatch):
    monkeypatch.setattr(hash_counts, "MOST_SUSPECTS", 2)
    assert of(1, 1, 2, 2).suspects is not None
    assert of(1, 1, 2, 2, 3, 3).suspects is None
    assert total([of(1, 1, 2, 2), of(4, 5, 5)]).suspects is None


def test_parts_are_added_up():
    whole = total([of(1, 1, 2), of(5), HashCounts(Sums(3, 2, 1), as_hashes(9))])
    assert (whole.sums.once, whole.suspects.tolist()) == (3, [1, 9])
    assert total([of(1, 1), HashCounts(Sums(3, 3, 3), None)]).suspects is None


@pytest.mark.parametrize("way", [Way.CODES, Way.HASHES])
@pytest.mark.parametrize("buckets", [1, 4, 70_000])
def test_each_hash_is_in_one_part(buckets, way):
    given = hashes([pa.array([f"order-{n % 700}" for n in range(1000)])])
    parts = _parts(0, way, [given[:10], given[10:]], buckets)
    of_bucket = {row["bucket"]: np.frombuffer(row["hashes"], np.uint64) for row in parts.to_pylist()}
    assert all(set((some % np.uint64(buckets)).tolist()) == {bucket} for bucket, some in of_bucket.items())
    (row,) = pa.Table.from_batches(_united([parts, parts])).to_pylist()
    assert (row["filled"], row["distinct"], row["once"]) == (2000, 700, 0)


def test_rows_without_any_value_are_left_out():
    one, other = pa.array([1, None, None]), pa.array(["a", None, "c"])
    assert [key.to_pylist() for key in filled([one, other])] == [[1, None], ["a", "c"]]
    assert filled([one])[0].to_pylist() == [1]
    assert filled([other, pa.array([1, 2, 3])])[0] is other


def test_null_has_one_hash_in_each_column_whatever_the_type():
    as_text = hashes([pa.array(["a", "b"]), pa.array([None, "x"])])
    as_number = hashes([pa.array(["a", "b"]), pa.array([None, 1.5])])
    without_type = hashes([pa.array(["a", "b"]), pa.nulls(2)])
    assert as_text[0] == as_number[0] == without_type[0]
    assert hashes([pa.array([None, ""])])[0] != hashes([pa.array([None, ""])])[1]


@pytest.mark.parametrize(
    "key",
    [
        pa.array([2**53, 2**53 + 1, -(2**63), 2**63 - 1, 0, -1]),
        pa.array([0, 1, -128, 127], pa.int8()),
        pa.array([0.0, float("nan"), 1e-300, -1e-300, float("inf"), 0.1]),
        pa.array([0.0, 0.1, 0.2], pa.float32()),
    ],
    ids=str,
)
def test_codes_tell_all_values_apart(key):
    assert len(np.unique(codes(key))) == len(key)


def test_equal_numbers_of_different_widths_have_one_code():
    assert codes(pa.array([5, -5], pa.int8())).tolist() == codes(pa.array([5, -5])).tolist()
    assert codes(pa.array([0.5], pa.float32())).tolist() == codes(pa.array([0.5])).tolist()
