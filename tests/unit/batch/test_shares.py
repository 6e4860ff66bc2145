"""Which ranges a task reads."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from batch.shares import LEAST_RECORDS, TASKS_PER_SLOT, shares
from connectors.ports import SourceRange


def ranges(*widths: int) -> list[SourceRange]:
    return [SourceRange("kafka", "clicks", "", str(shard), 7, 7 + width) for shard, width in enumerate(widths)]


def widths(shared) -> list[list[int]]:
    return [[one.end - one.start for one in share] for share in shared]


def test_as_many_large_ranges_as_tasks_have_one_each():
    assert widths(shares(ranges(*[100_000] * 4), slots=2)) == [[100_000]] * 4


def test_many_ranges_share_two_tasks_a_slot():
    assert widths(shares(ranges(*[10_000] * 64), slots=2)) == [[10_000] * 16] * 4


def test_a_range_wider_than_a_share_has_a_task_of_its_own():
    assert widths(shares(ranges(1_000_000, 10_000, 10_000, 10_000), slots=2)) == [[1_000_000], [10_000] * 3]


def test_few_records_are_one_task():
    assert widths(shares(ranges(30, 0, 40, 60), slots=8)) == [[30, 0, 40, 60]]


def test_nothing_is_no_task():
    assert shares([], slots=2) == []


@given(
    st.lists(st.one_of(st.integers(0, 100_000), st.integers(2**100, 2**110)), max_size=70),
    st.integers(1, 16),
)
def test_every_range_is_read_once_beside_its_neighbours_by_no_more_tasks_than_pay(lengths, slots):
    of_batch = ranges(*lengths)

    shared = shares(of_batch, slots)

    assert [one for share in sorted(shared, key=lambda one: int(one[0].shard)) for one in share] == of_batch
    assert [sum(share) for share in widths(shared)] == sorted(map(sum, widths(shared)), reverse=True)
    assert all(shared)
    assert len(shared) <= TASKS_PER_SLOT * slots
    assert len(shared) <= max(1, sum(lengths) / LEAST_RECORDS + 1)
