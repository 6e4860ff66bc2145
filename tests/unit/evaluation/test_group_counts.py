"""How groups are divided among tasks: equal values come together, different ones spread."""

import numpy as np
import pyarrow as pa
import pytest

from gluepot.evaluation.group_counts import _divided
from gluepot.evaluation.hashes import hashes

BUCKETS = 4


def buckets(*keys: pa.Array) -> list[int]:
    return (hashes(keys) % np.uint64(BUCKETS)).tolist()


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (pa.array([1, 2, None], pa.int32()), pa.array([1.0, 2.0, None])),
        (pa.array([2**53], pa.int64()), pa.array([float(2**53)])),
        (pa.array(["a", "", None, "ü" * 9]), pa.array(["x", "a", "", None, "ü" * 9])[1:]),
        (pa.array([True, False]), pa.array([True, False, True])[:2]),
    ],
)
def test_equal_values_have_equal_hashes_whatever_their_array(one, other):
    assert hashes([one]).tolist() == hashes([other]).tolist()


@pytest.mark.parametrize(
    "keys",
    [
        [pa.array(range(10_000))],
        [pa.array([n * 64 for n in range(10_000)])],
        [pa.array([n / 7 for n in range(10_000)])],
        [pa.array([f"user-{n:07}" for n in range(10_000)])],
        [pa.array([f"{n}-with-the-same-end" for n in range(10_000)])],
        [pa.array([n % 100 for n in range(10_000)]), pa.array([str(n // 100) for n in range(10_000)])],
    ],
    ids=["numbers", "multiples", "fractions", "texts", "texts with one end", "two columns"],
)
def test_different_values_spread(keys):
    sizes = np.bincount(buckets(*keys), minlength=BUCKETS)
    assert sizes.min() > 10_000 / BUCKETS / 4


def test_each_group_is_in_one_part():
    table = pa.table({"0": ["a", "b", None, "c"], "n": [1, 2, 3, 4]})
    parts = list(_divided(table, 1, BUCKETS))
    assert sorted(row["n"] for _, part in parts for row in part.to_pylist()) == [1, 2, 3, 4]
    assert len({bucket for bucket, _ in parts}) == len(parts)


def test_no_groups_make_no_parts():
    assert list(_divided(pa.table({"n": pa.array([], pa.int64())}), 1, BUCKETS)) == []
