"""Judges a query in one word and one sentence, from its status and its newest batches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from gluepot.ops.health import STUCK_SECS, STUCK_WINDOWS
from gluepot.ops.page.history import Batch
from gluepot.streaming.observe.status import QueryStatus
from gluepot.web.figures import clock_time, count, share, span

Mood = Literal["good", "quiet", "warn", "bad"]
WORST_FIRST: tuple[Mood, ...] = ("bad", "warn", "quiet", "good")

# From this share of the window on, a batch is said to be close to it; the terminal's live line uses the same share.
BUSY_RATIO = 0.8
# A lag that grew over this many batches in a row is expected to grow further.
TREND_BATCHES = 5
# After this time without a batch, and several windows, a stream that has caught up is called idle.
IDLE_SECS = 60.0
IDLE_WINDOWS = 3


@dataclass(frozen=True, slots=True)
class Verdict:
    """The judgement of a query.

    Args:
        mood: how good the state is.
        word: the state in a word or two.
        why: one sentence with numbers.
    """

    mood: Mood
    word: str
    why: str


def verdict(
    query: QueryStatus, batches: Sequence[Batch], now_epoch: float, *, stopping: bool, pausing: bool
) -> Verdict:
    """Judge a query. Reasons that stop it are reported before reasons that slow it down.

    Args:
        query: the newest status of the query.
        batches: its newest batches, oldest first; may be empty.
        now_epoch: the current time, in seconds since 1970 UTC.
        stopping: whether the job has been asked to end.
        pausing: whether the query has been asked to pause.
    """
    return (
        _not_running(query, stopping=stopping)
        or _stuck(query, now_epoch)
        or _resting(query, now_epoch, pausing=pausing)
        or _starting(query, batches, now_epoch)
        or _late(batches)
        or _in_time(query, batches[-1], now_epoch)
    )


def _not_running(query: QueryStatus, *, stopping: bool) -> Verdict | None:
    if query.lease == "lost":
        return Verdict("bad", "Lease lost", "Another driver took this query over; this one publishes nothing more.")
    if query.ended:
        return Verdict("quiet", "Ended", "The query runs no more.")
    if stopping:
        return Verdict("quiet", "Stopping", "The running batch is committed; then the job ends.")
    if query.failures_in_a_row:
        tries = f"{query.failures_in_a_row} {'attempt' if query.failures_in_a_row == 1 else 'attempts'}"
        return Verdict("bad", "Failing", f"{tries} failed since the last good batch; the log says why.")
    return None


def _stuck(query: QueryStatus, now_epoch: float) -> Verdict | None:
    if query.batch_began_epoch is None:
        return None
    ran_secs = now_epoch - query.batch_began_epoch
    if ran_secs <= max(STUCK_SECS, STUCK_WINDOWS * query.window_secs):
        return None
    return Verdict("bad", "Stuck", f"Batch {query.batch_id} has been running for {span(ran_secs)}.")


def _resting(query: QueryStatus, now_epoch: float, *, pausing: bool) -> Verdict | None:
    if query.paused and pausing:
        since = "" if query.last_commit_epoch is None else f" The last commit was {_ago(query, now_epoch)} ago."
        return Verdict("warn", "Paused", f"No batch begins until somebody resumes the query.{since}")
    if pausing:
        batch = "" if query.batch_began_epoch is None else f" after batch {query.batch_id}"
        return Verdict("warn", "Pausing", f"The query pauses{batch}; what it reads is committed first.")
    return None


def _starting(query: QueryStatus, batches: Sequence[Batch], now_epoch: float) -> Verdict | None:
    if batches:
        return None
    if not query.source_reached:
        return Verdict("quiet", "Starting", "The source was not reached yet.")
    if query.batch_began_epoch is None:
        return Verdict("quiet", "Waiting", "The source is reached, and no batch has been committed yet.")
    ran = span(max(0.0, now_epoch - query.batch_began_epoch))
    return Verdict("quiet", "First batch", f"Batch {query.batch_id} has been running for {ran}.")


def _late(batches: Sequence[Batch]) -> Verdict | None:
    newest = batches[-1]
    if newest.window_ratio > 1:
        return Verdict(
            "bad",
            "Falling behind",
            f"Batch {newest.batch_id} took {span(newest.duration_secs)} of a window of {span(newest.window_secs)},"
            f" and {count(newest.lag_records)} records wait.",
        )
    lags = [one.lag_records or 0 for one in batches[-TREND_BATCHES - 1 :]]
    if len(lags) > TREND_BATCHES and all(before < after for before, after in pairwise(lags)):
        return Verdict(
            "warn",
            "Falling behind",
            f"The lag grew in each of the last {TREND_BATCHES} batches, from {count(lags[0])} to {count(lags[-1])}"
            " records.",
        )
    if newest.window_ratio > BUSY_RATIO:
        return Verdict(
            "warn",
            "Close to its window",
            f"Batch {newest.batch_id} took {span(newest.duration_secs)}, {share(newest.window_ratio)} of its window.",
        )
    return None


def _in_time(query: QueryStatus, newest: Batch, now_epoch: float) -> Verdict:
    waited_secs = now_epoch - newest.committed_epoch
    if query.batch_began_epoch is None and waited_secs > max(IDLE_SECS, IDLE_WINDOWS * newest.window_secs):
        since = clock_time(newest.committed_epoch)
        return Verdict("good", "Idle", f"Nothing has come since {since} UTC; all that came before is committed.")
    took = f"Batch {newest.batch_id} took {span(newest.duration_secs)}"
    if newest.window_secs > 0:
        took += f", {share(newest.window_ratio)} of its {span(newest.window_secs)} window"
    if newest.lag_records is None:
        return Verdict("good", "On time", f"{took}.")
    lag = "nothing waits" if not newest.lag_records else f"{count(newest.lag_records)} records wait"
    return Verdict("good", "On time", f"{took}, and {lag}.")


def _ago(query: QueryStatus, now_epoch: float) -> str:
    assert query.last_commit_epoch is not None  # the caller has checked this
    return str(span(max(0.0, now_epoch - query.last_commit_epoch)))
