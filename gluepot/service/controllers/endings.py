"""Writes down the ends of runs."""

from __future__ import annotations

from collections.abc import Callable

from gluepot.core.clock import Clock
from gluepot.core.failpoints import reach
from gluepot.core.logging import get_logger
from gluepot.service.decisions.costs import DayCost, day_of
from gluepot.service.decisions.definitions import is_of_job
from gluepot.service.decisions.outcome_metrics import outcome_data
from gluepot.service.decisions.prices import dpu_secs, usd_on_glue
from gluepot.service.decisions.states import ACTIVE, OPEN, Ended, Run, asked_to_stop, continued, ended
from gluepot.service.events.envelopes import Origin
from gluepot.service.store.database import Changes, Store

_POLL_SECS = 0.2

log = get_logger(__name__)


def end_run(store: Store, run_id: str, place: str, end: Ended, now_ms: int, origin: Origin) -> None:
    """End a run, and add the one that goes on for it, unless it has ended or another place has it.

    Args:
        store: the database.
        run_id: of the run.
        place: where its process is, or was.
        end: what became of the process.
        now_ms: milliseconds since 1970.
        origin: region and account of the job.
    """
    reach("service.ending")
    with store.changes() as changes:
        changes.alone()  # before any run is locked, as everywhere
        found = changes.run(run_id)
        if found is None or found.state not in ACTIVE or found.place not in {"", place}:
            return
        done = ended(found, end)
        changes.change_run(done)
        changes.metrics.add(list(outcome_data(done, end.at_ms)))
        if is_of_job(done.definition) and done.running_ms:
            _add_cost(changes, done, origin)
        reach("service.end_written")
        if (again := continued(done, now_ms)) is not None:
            changes.add_run(again)
            reach("service.next_attempt_added")
    reach("service.ended")
    log.info("run_ended", job=done.job, run=done.id, state=done.state.value, error=done.error)


def _add_cost(changes: Changes, run: Run, origin: Origin) -> None:
    """Add what a run costs to the sum of its day, its job and the tags that the job has now."""
    at_ms, tags = run.completed_ms, changes.tags(origin.arn("job", run.job))
    changes.costs.add(DayCost(day_of(at_ms), run.job, tags, 1, dpu_secs(run, at_ms), usd_on_glue(run, at_ms)))


def stop_all_runs(store: Store, wake: Callable[[], None], clock: Clock, secs: float) -> None:
    """Stop all runs, and wait until they have ended.

    Args:
        store: the database.
        wake: has the controller look at the runs at once.
        clock: tells the time.
        secs: how long to wait at most.
    """
    now_ms = round(clock.epoch() * 1000)
    with store.changes() as changes:
        changes.alone()
        for run in changes.runs_in(OPEN):
            changes.change_run(asked_to_stop(run, now_ms))
    wake()
    until_secs = clock.monotonic() + secs
    while clock.monotonic() < until_secs:
        with store.changes() as changes:
            if not changes.runs_in(OPEN):
                return
        clock.sleep(_POLL_SECS)
