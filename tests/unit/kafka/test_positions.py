import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gluepot.connectors.kafka.positions import (
    Bounds,
    Positions,
    Span,
    lag,
    plan,
    refuse_loss,
    replaced,
    resume,
    share,
    split,
)
from gluepot.connectors.values import SourceRange
from gluepot.core.errors import CheckpointError, DataLoss

partitions = st.tuples(st.sampled_from(["clicks", "orders"]), st.integers(0, 12))
backlogs = st.dictionaries(partitions, st.integers(0, 10_000), max_size=12)


def at(**ends):
    """Positions of topic t with empty spans: at(p0=5)."""
    return Positions({"t": "id1"}, {("t", int(name[1:])): Span(end, end) for name, end in ends.items()})


def bounds(earliest, latest, topic_id="id1"):
    return Bounds({"t": topic_id}, {("t", p): o for p, o in earliest.items()}, {("t", p): o for p, o in latest.items()})


@given(backlogs, st.one_of(st.none(), st.integers(1, 20_000)))
def test_shares_sum_to_the_limit_or_the_backlog_and_never_exceed_a_partition(backlog, limit):
    given_out = share(backlog, limit)

    total = sum(backlog.values())
    assert sum(given_out.values()) == (total if limit is None else min(limit, total))
    assert all(0 <= given_out[p] <= backlog[p] for p in backlog)


@given(backlogs, st.integers(1, 20_000))
def test_every_partition_with_a_backlog_moves_when_the_limit_reaches_round(backlog, limit):
    waiting = [p for p, n in backlog.items() if n]
    given_out = share(backlog, limit)

    if limit >= 2 * len(waiting):
        assert all(given_out[p] > 0 for p in waiting)


def test_the_limit_is_shared_in_proportion_to_the_backlog():
    assert share({("t", 0): 900, ("t", 1): 100}, 100) == {("t", 0): 90, ("t", 1): 10}


def test_positions_survive_json_and_equal_positions_give_equal_text():
    positions = Positions({"b": "2", "a": "1"}, {("b", 10): Span(1, 5), ("a", 2): Span(0, 0), ("b", 9): Span(7, 8)})
    text = json.dumps(positions.to_json())

    again = Positions.from_json(json.loads(text))

    assert again == positions
    assert json.dumps(again.to_json()) == text


def test_offsets_of_another_source_are_refused_with_the_next_step():
    with pytest.raises(CheckpointError, match="use another checkpointLocation"):
        Positions.from_json({"clicks": {"0": 12}})


def test_the_next_batch_starts_where_the_last_one_ended():
    start, lost = resume(at(p0=5), bounds({0: 0}, {0: 9}))

    assert (start.spans, lost) == ({("t", 0): Span(5, 5)}, [])


def test_a_new_partition_is_read_from_its_first_offset():
    start, lost = resume(at(p0=5), bounds({0: 0, 1: 3}, {0: 9, 1: 8}))

    assert start.spans[("t", 1)] == Span(3, 3)
    assert lost == []


@pytest.mark.parametrize("latest", [2, 5, 9])
def test_a_recreated_topic_is_a_loss_whether_it_holds_fewer_as_many_or_more_records(latest):
    start, lost = resume(at(p0=5), bounds({0: 0}, {0: latest}, topic_id="id2"))

    assert "created again" in str(lost[0])
    assert start.spans[("t", 0)] == Span(0, 0)


def test_expired_records_are_a_loss_that_names_both_offsets():
    _, lost = resume(at(p0=5), bounds({0: 7}, {0: 9}))

    with pytest.raises(DataLoss, match=r"wanted offset 5, the broker starts at 7.*failOnDataLoss"):
        refuse_loss(lost)


def test_a_deleted_topic_is_a_loss():
    _, lost = resume(at(p0=5), Bounds({}, {}, {}))

    assert "deleted" in str(lost[0])


def test_a_log_that_became_shorter_is_a_loss():
    _, lost = resume(at(p0=50), bounds({0: 0}, {0: 9}))

    assert "shorter" in str(lost[0])


@given(st.lists(st.integers(1, 500), min_size=1, max_size=30), st.integers(1, 200))
def test_batches_planned_one_after_the_other_cover_every_offset_once(arrivals, limit):
    positions, latest, seen = at(p0=0, p1=0), {0: 0, 1: 0}, {0: [], 1: []}
    for n, arrived in enumerate([*arrivals, *[0] * (sum(arrivals) // limit + 1)]):
        latest[n % 2] += arrived
        now = bounds({0: 0, 1: 0}, latest)
        start, _ = resume(positions, now)
        positions = plan(start, now, limit)
        assert positions.width() <= limit
        for (_, p), span in positions.spans.items():
            seen[p] += range(span.start, span.end)
    assert seen == {p: list(range(end)) for p, end in latest.items()}


@given(
    st.dictionaries(partitions, st.integers(0, 300), min_size=1, max_size=6), st.one_of(st.none(), st.integers(1, 20))
)
def test_a_split_covers_each_span_once_in_order(widths, least):
    batch = Positions({}, {p: Span(10, 10 + width) for p, width in widths.items()})

    ranges = split(batch, least)

    for (topic, partition), span in batch.spans.items():
        mine = [r for r in ranges if (r.stream, r.shard) == (topic, str(partition))]
        assert [o for r in mine for o in range(r.start, r.end)] == list(range(span.start, span.end))
    if least and sum(widths.values()) >= 300 * least:
        assert len(ranges) >= least


def test_a_topic_is_replaced_if_its_id_changed_or_is_gone_and_unknown_ids_are_trusted():
    same, other, gone, unknown = (
        SourceRange("kafka", topic, topic_id, "0", 0, 9)
        for topic, topic_id in [("same", "A"), ("other", "A"), ("gone", "A"), ("unknown", "")]
    )

    assert replaced([same, other, gone, unknown], {"same": "A", "other": "B", "unknown": "C"}) == [other, gone]


def test_lag_is_counted_from_the_first_offset_for_partitions_not_read_yet():
    assert lag({("t", 0): 5}, {("t", 0): 9, ("t", 1): 3}) == {"t-0": 4, "t-1": 3}


def test_a_checkpoint_of_another_topic_is_refused_naming_both():
    entry = Positions({"other": "x"}, {("other", 0): Span(0, 4)}).to_json()

    with pytest.raises(CheckpointError, match=r"another stream \(other\), this one reads clicks"):
        Positions.find_own([entry], ["clicks"], "/ck")


def test_the_line_of_this_stream_is_found_among_several_sources():
    first, second = (Positions({t: "x"}, {(t, 0): Span(0, 4)}) for t in ("a", "b"))

    assert Positions.find_own([first.to_json(), second.to_json()], ["b"], "/ck") == second


def test_a_partition_is_never_given_more_than_it_has_when_a_share_is_rounded_up():
    backlog = {("t", 0): 3, ("t", 1): 1, ("t", 2): 1}

    for limit in range(1, 5):
        given_out = share(backlog, limit)
        assert sum(given_out.values()) == limit
        assert all(given_out[p] <= backlog[p] for p in backlog)
