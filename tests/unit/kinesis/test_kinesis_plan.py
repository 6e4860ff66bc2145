"""What a batch holds: laws of the plan, whatever was fetched."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from gluepot.connectors.kinesis.blocks import Extent
from gluepot.connectors.kinesis.cursor import After, AtHorizon, AtTime
from gluepot.connectors.kinesis.plan import Ahead, finished, initial, losses, place_of, plan
from gluepot.connectors.kinesis.positions import Note, Positions, behind, position
from gluepot.connectors.kinesis.settings import FromHorizon, FromLatest, FromTime
from gluepot.connectors.kinesis.topology import Shard
from gluepot.connectors.positions import Span

S = "clicks"
EMPTY = Positions({S: "1"})
ONE = (Shard("p"),)
PARENTS = [Shard("p", ended=True), Shard("l", ("p",)), Shard("r", ("p",))]


def extents(*sequences, start=None):
    held, at = [], start
    for sequence in sequences:
        held.append(Extent(position(sequence) if at is None else at, sequence, sequence, 1, 1))
        at = behind(sequence)
    return tuple(held)


def planned(last, ahead, shards=ONE, limit=100):
    return plan(last, S, "1", shards, ahead, limit, last.check)


def test_a_start_at_the_horizon_needs_no_notes():
    assert initial(S, "1", [Shard("p")], FromHorizon(), 7) == EMPTY
    assert place_of(S, "p", EMPTY) == AtHorizon()


def test_latest_is_the_moment_of_the_first_start_until_a_record_is_read():
    start = initial(S, "1", [Shard("p")], FromLatest(), 7)

    assert place_of(S, "p", start) == AtTime(7)
    assert place_of(S, "p", planned(start, {"p": Ahead(extents(5))})) == After(5)
    assert place_of(S, "later", start) == AtHorizon()


def test_a_time_is_where_every_shard_begins():
    assert place_of(S, "p", initial(S, "1", [Shard("p")], FromTime(3), 7)) == AtTime(3)


def test_a_shard_without_records_keeps_where_it_begins_in_later_batches():
    start = initial(S, "1", [Shard("p"), Shard("q")], FromTime(3), 7)
    batch = planned(start, {"p": Ahead(extents(5)), "q": Ahead()}, [Shard("p"), Shard("q")])

    assert place_of(S, "q", batch) == AtTime(3)


def test_nothing_fetched_is_no_batch():
    assert planned(EMPTY, {"p": Ahead()}) is EMPTY
    assert planned(EMPTY, {"p": Ahead(closed=True)}) is EMPTY


def test_a_batch_ends_with_the_block_that_reaches_the_limit():
    first = planned(EMPTY, {"p": Ahead(extents(5, 6, 7))}, limit=2)
    second = planned(first, {"p": Ahead(extents(7, start=behind(6)))}, limit=2)

    assert first.spans[S, "p"] == Span(position(5), behind(6))
    assert second.spans[S, "p"] == Span(behind(6), behind(7))
    assert second.after == first.check


def test_children_wait_until_all_of_their_parents_is_in_earlier_batches():
    ahead = {"p": Ahead(extents(5, 6), closed=True), "l": Ahead(extents(8))}
    first = planned(EMPTY, ahead, PARENTS, limit=1)
    second = planned(first, {"p": Ahead(extents(6, start=behind(5)), closed=True), "l": ahead["l"]}, PARENTS, limit=1)
    third = planned(second, {"p": Ahead(closed=True), "l": ahead["l"]}, PARENTS, limit=1)

    assert [one.shard for one in first.ranges()] == ["p"]
    assert [one.shard for one in second.ranges()] == ["p"]
    assert [one.shard for one in third.ranges()] == ["l"]
    assert finished(S, first) == set()
    assert finished(S, second) == finished(S, third) == {"p"}


def test_a_parent_that_ended_without_a_record_holds_nobody_up():
    batch = planned(EMPTY, {"p": Ahead(closed=True), "l": Ahead(extents(8))}, PARENTS)

    assert [one.shard for one in batch.ranges()] == ["l"]
    assert finished(S, batch) == {"p"}


def test_an_ended_shard_is_forgotten_once_it_is_no_longer_listed():
    held = planned(EMPTY, {"p": Ahead(extents(5), closed=True)}, PARENTS)
    batch = planned(held, {"l": Ahead(extents(8))}, PARENTS[1:])

    assert {shard for _, shard in batch.spans} == {"l"}
    assert losses(S, "1", PARENTS[1:], held) == []


def test_a_shard_that_expired_half_read_and_a_stream_made_anew_are_losses():
    held = planned(EMPTY, {"p": Ahead(extents(5))}, PARENTS)

    assert losses(S, "1", PARENTS[1:], held) == ["shard p of stream clicks expired before it was read to its end"]
    assert losses(S, "2", PARENTS, held) == ["stream clicks was deleted and created again"]


@given(st.lists(st.lists(st.integers(1, 3), max_size=4), max_size=8), st.integers(1, 4))
def test_batches_hold_every_record_once_in_order_and_never_cut_a_block(arrivals, limit):
    waiting, at, held, sequence, batches = [], None, EMPTY, 1, []
    for sizes in [*arrivals, *[[]] * 40]:
        for size in sizes:
            waiting.append(Extent(position(sequence) if at is None else at, sequence, sequence + size - 1, size, size))
            sequence += size
            at = behind(sequence - 1)
        batch = planned(held, {"p": Ahead(tuple(waiting))}, limit=limit)
        if batch is not held:
            held = batch
            batches.append(batch)
            waiting = [one for one in waiting if one.end > batch.spans[S, "p"].end]

    assert waiting == []
    ranges = [one for batch in batches for one in batch.ranges()]
    assert all(left.end == right.start for left, right in pairwise(ranges))
    assert sum(Note.parse(one.proof).records for one in ranges) == sequence - 1
