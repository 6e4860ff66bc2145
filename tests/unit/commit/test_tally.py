"""Rows counted once, however often a batch is tried and whoever published it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from gluepot.commit import Tally
from gluepot.commit.record import CommitRecord
from gluepot.connectors.values import CommitKey


def key(batch_id: int, ctx: str = "sink", query_id: str = "clicks") -> CommitKey:
    return CommitKey(query_id, batch_id, ctx)


def record(batch_id: int, rows: int, ctx: str = "sink", query_id: str = "clicks") -> CommitRecord:
    return CommitRecord(key(batch_id, ctx, query_id), 1, rows_out=rows)


def test_a_new_table_has_no_rows():
    assert Tally.of([], key(0)).total == 0


def test_rows_of_other_queries_are_not_counted():
    assert Tally.of([record(0, 5), record(0, 7, query_id="orders")], key(1)).total == 5


def test_a_batch_that_is_tried_again_replaces_what_it_published():
    published = Tally.of([record(0, 5), record(1, 10)], key(1))
    assert published.total == 15
    assert published.after(key(1), 10).total == 15
    assert published.after(key(1), 8).total == 13


def test_writes_of_one_batch_are_counted_each():
    tally = Tally.of([], key(0)).after(key(0), 3).after(key(0, "sink.2"), 3)
    assert tally.total == 6
    assert tally.after(key(1), 1).total == 7


@given(st.data())
def test_whatever_dies_when_the_tally_is_what_the_manifests_say(data: st.DataObject):
    manifests: dict[CommitKey, CommitRecord] = {}
    batch_id, tally = 0, None
    for _ in range(data.draw(st.integers(1, 12))):
        wanted = key(batch_id, data.draw(st.sampled_from(["sink", "copy"])))
        if tally is None or data.draw(st.booleans()):  # a process begins: it knows what the manifests say
            tally = Tally.of(manifests.values(), wanted)
        if data.draw(st.booleans()):  # else it dies before it publishes
            manifests[wanted] = record(batch_id, data.draw(st.integers(0, 9)), wanted.ctx)
            if not data.draw(st.booleans()):  # it dies before it takes that down
                tally = None
                continue
            tally = tally.after(wanted, manifests[wanted].rows_out)
            assert tally.total == sum(one.rows_out for one in manifests.values())
        batch_id += data.draw(st.integers(0, 1))
