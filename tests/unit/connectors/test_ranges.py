import pytest
from hypothesis import given
from hypothesis import strategies as st

from gluepot.connectors.streams.ranges import common, halves, width, without
from gluepot.connectors.values import SourceRange


def offsets(start: int, end: int, shard: str = "0", stream_id: str = "id-1") -> SourceRange:
    return SourceRange("kafka", "clicks", stream_id, shard, start, end)


def positions(ranges):
    return [(one.stream_id, one.shard, at) for one in ranges for at in range(one.start, one.end)]


@st.composite
def disjoint(draw):
    """Ranges over three shards that do not overlap."""
    found = []
    for shard in "012":
        cuts = sorted(draw(st.sets(st.integers(0, 30), max_size=6)))
        found += [offsets(a, b, shard) for a, b in zip(cuts[::2], cuts[1::2], strict=False)]
    return draw(st.permutations(found))


def test_ranges_are_cut_in_the_middle_of_all_positions():
    assert halves([offsets(0, 3), offsets(10, 15, "1")]) == (
        (offsets(0, 3), offsets(10, 11, "1")),
        (offsets(11, 15, "1"),),
    )


def test_one_position_cannot_be_cut():
    with pytest.raises(ValueError, match="1 positions"):
        halves([offsets(4, 5)])


@given(disjoint())
def test_halves_are_all_positions_in_their_order_and_differ_by_one_at_most(ranges):
    if width(ranges) < 2:
        return
    left, right = halves(ranges)
    assert positions(left) + positions(right) == positions(ranges)
    assert width(right) - width(left) in {0, 1}


@given(disjoint(), disjoint())
def test_less_and_common_share_out_the_positions(ranges, removed):
    left, shared = without(ranges, removed), common(ranges, removed)
    gone = set(positions(removed))
    assert positions(left) == [at for at in positions(ranges) if at not in gone]
    assert sorted(positions(shared)) == sorted(at for at in positions(ranges) if at in gone)


def test_a_topic_created_again_has_no_position_in_common_with_the_old_one():
    old, new = [offsets(0, 5)], [offsets(0, 5, stream_id="id-2")]
    assert without(new, old) == tuple(new)
    assert common(new, old) == ()
