from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from gluepot.commit.record import CommitRecord
from gluepot.connectors.values import CommitKey, SourceRange
from gluepot.tables.coverage import Coverage, Stretch, coverage
from gluepot.tables.findings import coverage_findings


def commit(batch_id: int, *spans: tuple[int, int], ctx: str = "sink0", shard: str = "0", topic_id: str = "id-1"):
    ranges = [SourceRange("kafka", "clicks", topic_id, shard, start, end) for start, end in spans]
    return CommitRecord(CommitKey("q1", batch_id, ctx), 1, ranges=ranges)


def key(batch_id: int, ctx: str = "sink0") -> CommitKey:
    return CommitKey("q1", batch_id, ctx)


def only(commits: list[CommitRecord]) -> Coverage:
    (covered,) = coverage(commits)
    return covered


def test_batches_that_border_on_each_other_are_whole():
    covered = only([commit(1, (10, 20)), commit(0, (0, 10)), commit(2, (20, 20)), commit(3, (20, 25))])
    assert (covered.start, covered.end, covered.gaps, covered.overlaps) == (0, 25, [], [])


def test_a_late_start_is_no_gap():
    assert only([commit(0, (1000, 1010))]).gaps == []


def test_what_no_batch_has_is_a_gap_between_two():
    covered = only([commit(0, (0, 10)), commit(2, (15, 20))])
    assert covered.gaps == [Stretch(10, 15, key(0), key(2))]


def test_what_two_batches_have_is_an_overlap():
    covered = only([commit(0, (0, 10)), commit(1, (8, 12)), commit(2, (12, 13))])
    assert covered.overlaps == [Stretch(8, 10, key(0), key(1))]


def test_a_batch_inside_another_one_hides_no_gap():
    covered = only([commit(0, (0, 10)), commit(1, (2, 4)), commit(2, (12, 13))])
    assert covered.overlaps == [Stretch(2, 4, key(0), key(1))]
    assert covered.gaps == [Stretch(10, 12, key(0), key(2))]


def test_partitions_topic_ids_and_writes_of_a_batch_are_looked_at_one_by_one():
    commits = [
        commit(0, (0, 10)),
        commit(0, (0, 10), ctx="sink1"),
        commit(0, (0, 10), shard="1"),
        commit(0, (0, 10), topic_id="id-2"),
    ]
    assert [(one.gaps, one.overlaps) for one in coverage(commits)] == [([], [])] * 4


def test_commits_without_ranges_tell_nothing():
    assert coverage([commit(0)]) == []


@given(st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30)).map(sorted), max_size=8))
def test_a_position_is_in_a_gap_or_overlap_exactly_when_no_batch_or_two_have_it(spans):
    commits = [commit(number, (start, end)) for number, (start, end) in enumerate(spans)]
    times = [sum(start <= at < end for start, end in spans) for at in range(30)]
    for covered in coverage(commits):
        gaps = {at for gap in covered.gaps for at in range(gap.start, gap.end)}
        twice = {at for one in covered.overlaps for at in range(one.start, one.end)}
        assert gaps == {at for at in range(covered.start, covered.end) if times[at] == 0}
        assert twice == {at for at in range(30) if times[at] > 1}


def test_gaps_and_overlaps_are_said_with_their_batches():
    covered = only([commit(0, (0, 10)), commit(1, (8, 12)), commit(2, (15, 20))])
    gap, overlap = coverage_findings(covered)
    assert gap.message.startswith(
        "positions 12 to 15 of clicks 0 (id id-1) are in no batch of 'sink0', between batch 1 of query q1 and batch 2"
    )
    assert overlap.message == (
        "positions 8 to 10 of clicks 0 (id id-1) are in batch 0 of query q1 and again in batch 1 of query q1 of 'sink0'"
    )
