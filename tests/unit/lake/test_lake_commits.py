from __future__ import annotations

from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gluepot.connectors.lake.commits import (
    Earlier,
    LakeCommit,
    Rows,
    Step,
    decide,
    find_earlier,
    is_taken_back,
    refusal,
)
from gluepot.connectors.values import CommitKey
from gluepot.core.errors import CheckpointError, LeaseHeld


def commit(batch, records="r", query="q", ctx="sink", token=1, rows=""):
    return LakeCommit(CommitKey(query, batch, ctx), f"{records}{batch}" if records else "", token, rows)


def history(*batches, **of):
    """Commits of these batches, newest first."""
    return [Earlier(commit(batch, **of), 100 + batch) for batch in reversed(batches)]


@given(
    st.text(st.characters(codec="ascii")),
    st.integers(0),
    st.text(st.characters(codec="ascii")),
    st.text("0123", max_size=4),
    st.integers(0),
    st.sampled_from(["", "none", "17"]),
)
def test_a_commit_is_read_as_it_was_written(query, batch, ctx, records, token, rows):
    made = LakeCommit(CommitKey(query, batch, ctx), records, token, rows)

    assert LakeCommit.of(made.properties) == made


@pytest.mark.parametrize(
    "properties", [{}, {"operation": "append"}, {"gluepot.query-id": "q", "gluepot.batch-id": "x"}]
)
def test_a_commit_of_somebody_else_says_nothing(properties):
    assert LakeCommit.of(properties) is None


def test_a_commit_of_an_older_gluepot_has_its_own_rows_and_the_lowest_token():
    older = LakeCommit.of({"gluepot.query-id": "q", "gluepot.batch-id": "3", "gluepot.ctx": "c", "gluepot.input": "i"})

    assert older == LakeCommit(CommitKey("q", 3, "c"), "i", token=0, rows="")
    assert Earlier(older, 7).rows_at == 7


def test_a_batch_after_the_newest_is_not_found():
    assert find_earlier(commit(3), history(0, 1, 2), "t") is None


@pytest.mark.parametrize("batch", [1, 2])
def test_a_batch_that_is_there_is_found(batch):
    assert find_earlier(commit(batch), history(0, 1, 2), "t") == Earlier(commit(batch), 100 + batch)


def test_the_newest_commit_under_a_key_counts():
    newest = Earlier(commit(2, rows="none"), 300)

    assert find_earlier(commit(2), [newest, *history(0, 1, 2)], "t") == newest


def test_other_queries_and_other_writes_mean_nothing():
    others = [*history(5, query="other"), *history(5, ctx="sink.2")]

    assert find_earlier(commit(5), others, "t") is None


def test_a_batch_made_of_other_records_is_refused():
    with pytest.raises(CheckpointError, match=r"shop\.orders already contains batch 2 with other records"):
        find_earlier(commit(2, records="s"), history(0, 1, 2), "shop.orders")


def test_a_batch_that_is_missing_below_later_ones_is_refused():
    with pytest.raises(CheckpointError, match="contains batch 4 of this query, but the checkpoint is at batch 3"):
        find_earlier(commit(3), history(2, 4), "t")


def test_a_run_that_is_missing_below_later_ones_is_refused():
    with pytest.raises(CheckpointError, match="contains run 4 of this job, but its bookmarks are at run 3"):
        find_earlier(commit(3, records=""), history(2, 4, records=""), "t")


@pytest.mark.parametrize(("planned", "there"), [("r", ""), ("", "r")])
def test_an_input_that_one_of_the_two_does_not_tell_is_not_compared(planned, there):
    assert find_earlier(commit(1, planned), history(1, records=there), "t") is not None


def test_a_driver_that_was_replaced_ends():
    with pytest.raises(LeaseHeld, match="written to t by driver 2, and this one is 1"):
        find_earlier(commit(1, token=1), history(1, token=2), "t")


ADDED, TAKEN_BACK = Earlier(commit(1), 101), Earlier(commit(1, rows="none"), 102)
CONFIRMED = Earlier(commit(1, token=2).confirming(101), 103)


@pytest.mark.parametrize(
    ("token", "earlier", "rows", "step"),
    [
        (1, None, Rows.UNKNOWN, Step.APPEND),
        (1, TAKEN_BACK, Rows.UNKNOWN, Step.APPEND),
        (1, ADDED, Rows.EQUAL, Step.SKIP),
        (2, ADDED, Rows.EQUAL, Step.CONFIRM),
        (2, CONFIRMED, Rows.EQUAL, Step.SKIP),
        (1, ADDED, Rows.DIFFERENT, Step.REPLACE),
        (2, ADDED, Rows.DIFFERENT, Step.REPLACE),
        (1, ADDED, Rows.UNKNOWN, Step.REPLACE),
    ],
)
def test_an_append_under_a_key_that_is_there_depends_on_the_rows_and_on_the_driver(token, earlier, rows, step):
    assert decide(commit(1, token=token), earlier, rows) is step


def test_a_confirmation_leads_to_the_rows_of_the_earlier_driver():
    assert CONFIRMED.rows_at == 101


def test_only_the_driver_that_has_taken_a_write_back_need_not_do_it_again():
    assert is_taken_back(LakeCommit.taking_back(commit(1).key, 1), TAKEN_BACK)
    assert not is_taken_back(LakeCommit.taking_back(commit(1).key, 2), TAKEN_BACK)
    assert not is_taken_back(LakeCommit.taking_back(commit(1).key, 1), ADDED)


def test_rows_that_cannot_be_removed_are_told_with_the_next_step():
    told = str(refusal(commit(4), "shop.orders", "their files were rewritten since", "snapshot 17"))

    assert "batch 4 (write sink) appended rows to shop.orders" in told
    assert "because their files were rewritten since" in told
    assert "Restore the table to snapshot 17" in told


@pytest.mark.parametrize("attempts", list(permutations(["a", "a", "b"])))
@pytest.mark.parametrize("drivers", [(1, 1, 1), (1, 2, 2), (1, 2, 3)])
def test_a_table_holds_what_the_last_attempt_appended(attempts, drivers):
    log, held = [], {}
    for at, (rows, token) in enumerate(zip(attempts, drivers, strict=True)):
        planned = commit(7, token=token)
        earlier = find_earlier(planned, reversed(log), "t")
        before = None if earlier is None else held.get(earlier.rows_at)
        match decide(planned, earlier, Rows.EQUAL if before == rows else Rows.DIFFERENT):
            case Step.APPEND:
                held[at] = rows
                log.append(Earlier(planned, at))
            case Step.REPLACE:
                del held[earlier.rows_at]
                held[at] = rows
                log.append(Earlier(planned, at))
            case Step.CONFIRM:
                log.append(Earlier(planned.confirming(earlier.rows_at), at))
        assert list(held.values()) == [rows]
