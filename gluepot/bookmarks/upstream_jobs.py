"""Waits for upstream jobs: a job begins when each of them has committed something that the job has not seen yet."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gluepot.bookmarks.ledger import Ledger
from gluepot.bookmarks.ledger.values import COMMITTED, STREAM, Run
from gluepot.core.clock import Clock
from gluepot.core.errors import TransientError
from gluepot.core.logging import get_logger

POLL_SECS = 5.0

log = get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Gate:
    """Whether a job may begin.

    Args:
        is_open: whether the upstream job has made progress since the job's last run.
        reason: one sentence, for people.
    """

    is_open: bool
    reason: str


def gate(upstream: str, progress_ms: int | None, own_runs: Sequence[Run]) -> Gate:
    """Decide whether an upstream job has committed something that a job has not seen.

    A job has seen what was committed before its last committed run began. It may have missed what came during that run.

    Args:
        upstream: name of the job that is waited for.
        progress_ms: when the upstream job last committed; None if never.
        own_runs: runs of the job that waits, newest first.
    """
    seen_ms = next((run.started_ms for run in own_runs if run.status == COMMITTED), None)
    if progress_ms is None:
        return Gate(is_open=False, reason=f"job {upstream} has committed nothing yet")
    if seen_ms is None:
        return Gate(is_open=True, reason=f"job {upstream} has committed, and this one never did")
    if progress_ms > seen_ms:
        late_secs = (progress_ms - seen_ms) / 1000
        return Gate(is_open=True, reason=f"job {upstream} committed {late_secs:.0f} s after the last run began")
    return Gate(is_open=False, reason=f"job {upstream} has committed nothing since the last run began")


def progress_of(ledger: Ledger, job: str) -> int | None:
    """Return when a job's runs or streams last made progress, in milliseconds since 1970; None if never."""
    if job not in {one.name for one in ledger.jobs()}:
        return None
    ended = [run.ended_ms or 0 for run in ledger.runs(job) if run.status == COMMITTED]
    contexts = ledger.contexts(job, ledger.job(job).state)
    mirrored = [change.at_ms for ctx in contexts for change in ledger.history(job, ctx) if change.cause == STREAM]
    return max([*ended, *mirrored], default=None)


def wait_for(ledger: Ledger, job: str, upstream: Sequence[str], clock: Clock, most_secs: float) -> dict[str, float]:
    """Return when every upstream job has made progress that `job` has not seen.

    Returns:
        how old the last commit of each upstream job is then, in seconds.

    Raises:
        TransientError: the wait took longer than `most_secs`.
    """
    deadline = clock.monotonic() + most_secs
    committed_ms: dict[str, int | None] = {}
    for name in upstream:
        reported = ""
        while not (now := gate(name, progress_ms := progress_of(ledger, name), ledger.runs(job))).is_open:
            if now.reason != reported:
                log.info("waiting_for_job", job=name, reason=now.reason)
                reported = now.reason
            if clock.monotonic() >= deadline:
                raise TransientError(f"{now.reason}, after {most_secs:.0f} s of waiting; run {name} first", POLL_SECS)
            clock.sleep(POLL_SECS)
        log.info("job_has_progress", job=name, reason=now.reason)
        committed_ms[name] = progress_ms
    now_secs = clock.epoch()
    return {name: max(0.0, now_secs - at_ms / 1000) for name, at_ms in committed_ms.items() if at_ms is not None}
