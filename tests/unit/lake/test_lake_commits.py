from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gluepot.connectors.lake.commits import LakeCommit, is_published
from gluepot.connectors.ports import CommitKey
from gluepot.core.errors import CheckpointError


def commit(batch, records="r", query="q", ctx="sink"):
    return LakeCommit(CommitKey(query, batch, ctx), f"{records}{batch}")


def history(*batches, **of):
    """Commits of these batches, newest first."""
    return [commit(batch, **of) for batch in reversed(batches)]


@given(
    st.text(st.characters(codec="ascii")),
    st.integers(0),
    st.text(st.characters(codec="ascii")),
    st.text("0123", max_size=4),
)
def test_a_commit_is_read_as_it_was_written(query, batch, ctx, records):
    made = LakeCommit(CommitKey(query, batch, ctx), records)

    assert LakeCommit.of(made.properties) == made


@pytest.mark.parametrize(
    "properties", [{}, {"operation": "append"}, {"gluepot.query-id": "q", "gluepot.batch-id": "x"}]
)
def test_a_commit_of_somebody_else_says_nothing(properties):
    assert LakeCommit.of(properties) is None


def test_a_batch_after_the_newest_is_appended():
    assert not is_published(commit(3), history(0, 1, 2), "t")


def test_a_batch_that_is_there_is_not_appended_again():
    assert is_published(commit(2), history(0, 1, 2), "t")


def test_an_older_batch_that_is_there_with_the_same_records_is_not_appended_again():
    assert is_published(commit(1), history(0, 1, 2), "t")


def test_other_queries_and_other_writes_mean_nothing():
    others = [*history(5, query="other"), *history(5, ctx="sink.2")]

    assert not is_published(commit(5), others, "t")


def test_a_batch_made_of_other_records_is_refused():
    with pytest.raises(CheckpointError, match=r"shop\.orders already contains batch 2 with other records"):
        is_published(commit(2, records="s"), history(0, 1, 2), "shop.orders")


def test_a_batch_that_is_missing_below_later_ones_is_refused():
    with pytest.raises(CheckpointError, match="contains batch 4 of this query, but the checkpoint is at batch 3"):
        is_published(commit(3), history(2, 4), "t")


def test_a_commit_that_does_not_tell_its_records_counts_by_its_number():
    assert is_published(commit(1), [LakeCommit(CommitKey("q", 1, "sink"), "")], "t")


@given(st.lists(st.booleans(), min_size=1, max_size=30))
def test_each_batch_is_in_the_table_once_however_often_it_is_tried(fails_after_append):
    """Each batch is tried until it is not interrupted between the table's commit and its own."""
    table = []
    for batch, fails in enumerate(fails_after_append):
        for _ in range(2 if fails else 1):
            if not is_published(commit(batch), table, "t"):
                table.insert(0, commit(batch))

    assert [one.key.batch_id for one in reversed(table)] == list(range(len(fails_after_append)))
