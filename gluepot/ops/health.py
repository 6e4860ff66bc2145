"""Decides from the newest status of a job's queries whether the job is alive and whether it is ready."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gluepot.streaming.observe.status import QueryStatus

STUCK_WINDOWS = 20
STUCK_SECS = 1800.0
"""A batch that runs for longer than this, and for longer than so many windows, counts as hanging. The time is long on
purpose: a prober of `/livez` kills a job that is not alive, and a killed batch starts again from its beginning."""


@dataclass(frozen=True, slots=True)
class Check:
    """One answer.

    Args:
        name: the subject of the check.
        ok: the outcome.
        says: one sentence for people.
    """

    name: str
    ok: bool
    says: str


def liveness(queries: Sequence[QueryStatus], now_epoch: float) -> list[Check]:
    """Check whether the job should keep running.

    Args:
        queries: status of the job's queries; empty before the script has started one.
        now_epoch: the current time, in seconds since 1970 UTC.
    """
    checks = [Check("process", ok=True, says="It answers.")]
    for one in queries:
        if one.batch_began_epoch is None:
            checks.append(Check(f"batch of {one.query}", ok=True, says="None is running."))
            continue
        ran_secs = max(0.0, now_epoch - one.batch_began_epoch)
        allowed_secs = max(STUCK_SECS, STUCK_WINDOWS * one.window_secs)
        says = f"Batch {one.batch_id} has run for {ran_secs:.0f} s; up to {allowed_secs:.0f} s count as work."
        checks.append(Check(f"batch of {one.query}", ran_secs <= allowed_secs, says))
    return checks


def readiness(queries: Sequence[QueryStatus], *, stopping: bool) -> list[Check]:
    """Check whether the job works: its streams run and reach their sources, and nobody has asked it to end.

    Args:
        queries: status of the job's queries.
        stopping: whether the job has been asked to end.
    """
    running = [one for one in queries if not one.ended]
    return [
        Check("not stopping", not stopping, "The job was asked to end." if stopping else "The job runs on."),
        Check("streams", bool(running), f"{len(running)} of {len(queries)} streams run."),
        *(check for one in running for check in _of_query(one)),
    ]


def _of_query(query: QueryStatus) -> list[Check]:
    return [
        Check(f"lease of {query.query}", query.lease == "held", f"The lease is {query.lease}."),
        Check(
            f"source of {query.query}",
            query.source_reached,
            "It was reached." if query.source_reached else "It was not reached yet.",
        ),
        Check(
            f"attempts of {query.query}",
            not query.failures_in_a_row,
            f"{query.failures_in_a_row} failed since the last good batch.",
        ),
    ]
