"""The rule for a table that holds records already, case by case and against a model of what a table may become."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gluepot.commit.overlap import Ahead, Clear, History, Less, Skipped, Twice, judge
from gluepot.commit.record import CommitRecord
from gluepot.commit.refusal import Origin, refuse_overlap
from gluepot.connectors.values import CommitKey, Manifest, SourceRange
from gluepot.core.errors import CheckpointError


def offsets(start, end, shard="0", topic_id="id-1"):
    return SourceRange("kafka", "clicks", topic_id, shard, start, end)


def record(query, batch, *ranges, ctx="sink", digest=""):
    return CommitRecord(CommitKey(query, batch, ctx), 1, ranges=list(ranges), offsets_digest=digest)


def planned(query, batch, *ranges, ctx="sink", digest=""):
    return Manifest(CommitKey(query, batch, ctx), ranges=list(ranges), offsets_digest=digest)


def verdict(plan, *records, chosen=False):
    return judge(plan, History.of(records, plan.key.query_id), start_was_chosen=chosen)


TEN = [record("q", n, offsets(10 * n, 10 * n + 10)) for n in range(10)]


@pytest.mark.parametrize(
    "plan",
    [
        pytest.param(planned("q", 10, offsets(100, 110)), id="the next batch"),
        pytest.param(planned("q", 9, offsets(90, 100)), id="the newest batch again"),
        pytest.param(planned("q", 9, offsets(90, 120)), id="the newest batch, planned anew with more"),
        pytest.param(planned("q", 3, offsets(30, 40)), id="an old batch as it was"),
        pytest.param(planned("q", 10, offsets(0, 10, topic_id="id-2")), id="the topic was created again"),
        pytest.param(planned("q", 10, offsets(0, 10, shard="1")), id="a partition that is new"),
        pytest.param(planned("q", 9, offsets(90, 100), ctx="other"), id="another write of the same function"),
        pytest.param(planned("p", 0, offsets(100, 110)), id="a new query from where the table ends"),
    ],
)
def test_what_goes_on_from_the_table_is_written(plan):
    assert verdict(plan, *TEN) == Clear()


def test_records_before_the_first_one_in_the_table_are_written():
    assert verdict(planned("p", 0, offsets(40, 50)), *TEN[5:], chosen=True) == Clear()
    assert isinstance(verdict(planned("p", 0, offsets(40, 51)), *TEN[5:], chosen=True), Twice)


@pytest.mark.parametrize("ranges", [[offsets(30, 35)], [offsets(30, 60)], [offsets(31, 41)], []])
def test_an_older_checkpoint_that_cuts_a_batch_in_another_way_is_noticed(ranges):
    assert verdict(planned("q", 3, *ranges), *TEN) == Ahead(9)


def test_a_later_batch_of_another_write_counts_too():
    assert verdict(planned("q", 3, offsets(30, 35), ctx="new"), *TEN) == Ahead(9)


def test_a_newest_batch_that_lacks_what_is_published_is_noticed():
    assert verdict(planned("q", 9, offsets(90, 95)), *TEN) == Less(offsets(95, 100))
    assert verdict(planned("q", 9, offsets(92, 120)), *TEN) == Less(offsets(90, 100))
    assert verdict(planned("q", 9, offsets(90, 100, shard="1")), *TEN) == Less(offsets(90, 100))


def test_records_of_another_batch_of_the_query_are_noticed():
    assert verdict(planned("q", 10, offsets(95, 110)), *TEN) == Twice(offsets(95, 100), TEN[9].key, 9)
    assert verdict(planned("q", 9, offsets(85, 100)), *TEN) == Twice(offsets(85, 90), TEN[8].key, 8)


def test_a_new_query_that_starts_before_the_tables_end_is_noticed():
    assert verdict(planned("p", 0, offsets(0, 1000)), *TEN) == Twice(offsets(0, 10), TEN[0].key, 0)
    assert verdict(planned("p", 0, offsets(99, 1000)), *TEN) == Twice(offsets(99, 100), TEN[9].key, 9)


def test_a_new_query_that_starts_behind_the_tables_end_is_noticed_unless_a_person_chose_that():
    plan = planned("p", 0, offsets(120, 130))
    assert verdict(plan, *TEN) == Skipped(offsets(100, 120), TEN[9].key)
    assert verdict(plan, *TEN, chosen=True) == Clear()


def test_a_query_that_has_begun_may_leave_out_what_its_function_did_not_write():
    first, third = planned("p", 0, offsets(100, 110)), planned("p", 2, offsets(120, 130))
    history = History.of(TEN, "p")
    assert judge(first, history, start_was_chosen=False) == Clear()
    assert judge(third, history.after(first), start_was_chosen=False) == Clear()
    assert verdict(third, *TEN, record("p", 0, offsets(100, 110))) == Clear()


def test_input_without_ranges_is_told_apart_by_its_digest():
    own = [record("q", n, digest=f"digest-{n}") for n in range(5)]
    assert verdict(planned("q", 3, digest="digest-3"), *own) == Clear()
    assert verdict(planned("q", 3, digest="other"), *own) == Ahead(4)
    assert verdict(planned("q", 4, digest="other"), *own) == Clear()


def test_a_sealed_generation_without_a_batch_says_nothing():
    for plan in (planned("q", 9, offsets(90, 95)), planned("q", 8, offsets(80, 120))):
        assert verdict(plan, *TEN[:9], record("q", 9)) == Clear()


@pytest.mark.parametrize(
    ("plan", "says", "consent"),
    [
        (planned("q", 3, offsets(30, 35)), r"older than the table /t: it is at batch 3.* up to 9", False),
        (
            planned("q", 9, offsets(90, 95)),
            r"contains offsets 95 to 99 of clicks partition 0 as part of batch 9",
            False,
        ),
        (
            planned("p", 0, offsets(0, 20)),
            r"already contains offsets 0 to 9 of clicks partition 0, in batch 0 of query q",
            True,
        ),
        (planned("q", 10, offsets(95, 99)), r"contains offsets 95 to 98 .* in batch 9 of this query", True),
        (planned("p", 0, offsets(120, 130)), r"ends at offset 100 of clicks partition 0.* starts at 120", True),
    ],
)
def test_a_refusal_names_table_checkpoint_and_remedy_and_what_may_be_consented_to(plan, says, consent):
    history = History.of(TEN, plan.key.query_id)
    with pytest.raises(CheckpointError, match=says) as refused:
        refuse_overlap(plan, history, Origin("/ck"), "/t")
    assert "gluepot checkpoint rewind /ck --from-table /t" in str(refused.value)
    assert ("allowOverlap" in str(refused.value)) == consent
    if consent:
        refuse_overlap(plan, history, Origin("/ck", allow_overlap=True), "/t")
    else:
        with pytest.raises(CheckpointError):
            refuse_overlap(plan, history, Origin("/ck", allow_overlap=True), "/t")


cuts = st.lists(st.integers(1, 59), unique=True, max_size=8).map(lambda at: [0, *sorted(at), 60])


@given(old=cuts, new=cuts, kept=st.integers(0, 8), fresh=st.booleans(), start=st.integers(0, 59))
def test_whatever_is_let_through_leaves_every_record_once_and_takes_none_out(old, new, kept, fresh, start):
    """A query publishes 60 records; then it goes on from an older copy of its checkpoint, or a new one starts anywhere."""
    table = dict(enumerate(pairwise(old)))
    records = [record("q", n, offsets(a, b)) for n, (a, b) in table.items()]
    kept = min(kept, len(table))
    query, first, begin = ("p", 0, start) if fresh else ("q", kept, old[kept])
    history = History.of(records, query)
    published = {("q", n): set(range(a, b)) for n, (a, b) in table.items()}
    ends = [begin, *(at for at in [*new, 70] if at > begin)]
    for n, (a, b) in enumerate(pairwise(ends), start=first):
        before = set().union(*published.values())
        plan = planned(query, n, offsets(a, b))
        if judge(plan, history, start_was_chosen=False) != Clear():
            return
        history = history.after(plan)
        published[query, n] = set(range(a, b))
        assert before <= set().union(*published.values())
        assert sum(map(len, published.values())) == len(set().union(*published.values()))
    assert set().union(*published.values()) == set(range(70))
