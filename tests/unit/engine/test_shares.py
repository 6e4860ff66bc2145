"""Which ranges a task reads, and where they are cut."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from gluepot.connectors.values import SourceRange
from gluepot.engine.task_ranges import LEAST_RECORDS, LEAST_RECORDS_OF_MORE, TASKS_PER_SLOT, cut, shares

LEAST_PIECE = 25_000


def ranges(*widths: int) -> list[SourceRange]:
    return [SourceRange("kafka", "clicks", "", str(shard), 7, 7 + width) for shard, width in enumerate(widths)]


def widths(shared) -> list[list[int]]:
    return [[one.end - one.start for one in share] for share in shared]


def test_many_ranges_share_a_task_for_each_slot():
    assert widths(shares(ranges(*[10_000] * 64), slots=2)) == [[10_000] * 32] * 2


def test_many_records_are_two_tasks_a_slot():
    assert widths(shares(ranges(*[500_000] * 4), slots=2)) == [[500_000]] * 4
    assert widths(shares(ranges(*[2_000_000] * 8), slots=2)) == [[2_000_000] * 2] * 4


def test_so_are_positions_that_are_not_records():
    assert widths(shares(ranges(*[2**100] * 4), slots=2)) == [[2**100]] * 4


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
    assert len(shared) <= max(slots, sum(lengths) // LEAST_RECORDS_OF_MORE)
    assert len(shared) <= max(1, sum(lengths) / LEAST_RECORDS + 1)


def slots_busy(pieces, slots: int) -> list[int]:
    """Return the records that each slot reads when a slot takes the next task as soon as it is free."""
    busy = [0] * slots
    for share in shares([one for of_range in pieces for one in of_range], slots):
        busy[busy.index(min(busy))] += sum(one.end - one.start for one in share)
    return sorted(busy)


def test_one_partition_is_shared_by_all_slots():
    assert widths(cut(ranges(100_000), 2, LEAST_PIECE)) == [[50_000, 50_000]]


def test_partitions_that_fill_the_slots_stay_whole():
    assert widths(cut(ranges(100_000, 100_000, 100_000, 100_000), 2, LEAST_PIECE)) == [[100_000]] * 4


def test_a_partition_too_many_is_shared():
    pieces = cut(ranges(100_000, 100_000, 100_000), 2, LEAST_PIECE)

    assert widths(pieces) == [[100_000], [50_000, 50_000], [100_000]]
    assert slots_busy(pieces, 2) == [150_000, 150_000]


def test_the_widest_of_uneven_partitions_is_shared():
    pieces = cut(ranges(850_000, 50_000, 50_000, 50_000), 2, LEAST_PIECE)

    assert widths(pieces) == [[500_000, 350_000], [50_000], [50_000], [50_000]]
    assert slots_busy(pieces, 2) == [500_000, 500_000]


def test_no_piece_is_too_small_to_pay():
    assert widths(cut(ranges(49_999), 2, LEAST_PIECE)) == [[49_999]]
    assert widths(cut(ranges(60_000), 16, LEAST_PIECE)) == [[30_000, 30_000]]
    assert widths(cut(ranges(110_000, 90_000), 2, LEAST_PIECE)) == [[110_000], [90_000]]


def test_nothing_has_no_pieces():
    assert cut([], 2, LEAST_PIECE) == []
    assert widths(cut(ranges(0), 2, LEAST_PIECE)) == [[0]]


@given(st.lists(st.integers(0, 1_000_000), max_size=20), st.integers(1, 16))
def test_pieces_make_up_their_range_and_no_slot_waits_for_a_wide_one(lengths, slots):
    of_batch = ranges(*lengths)

    pieces = cut(of_batch, slots, LEAST_PIECE)

    for whole, parts in zip(of_batch, pieces, strict=True):
        assert (parts[0].start, parts[-1].end) == (whole.start, whole.end)
        assert all(left.end == right.start for left, right in pairwise(parts))
        assert len(parts) == 1 or all(one.end - one.start >= LEAST_PIECE for one in parts)
    assert sum(map(len, pieces)) < len(of_batch) + slots
    share = -(-sum(lengths) // max(1, min(slots, sum(lengths) // LEAST_PIECE)))
    assert all(one.end - one.start < share + 2 * LEAST_PIECE for parts in pieces for one in parts)
