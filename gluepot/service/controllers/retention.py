"""Removes what is old: runs with their folders, firings, runs of workflows, metrics, costs and more."""

from __future__ import annotations

import shutil

from gluepot.core.clock import Clock
from gluepot.core.logging import get_logger
from gluepot.service.controllers.workers import Repeating
from gluepot.service.decisions.costs import COST_DAYS, day_of
from gluepot.service.decisions.metrics import KEPT_MS
from gluepot.service.launch.launcher import Launcher
from gluepot.service.store.database import Store
from gluepot.service.store.definitions import Kind

DEFAULT_KEEP_DAYS = 90
"""For how long AWS Glue keeps the runs of jobs."""
_DAY_MS = 24 * 3600 * 1000
_EVERY_SECS = 3600.0
_AT_ONCE = 500

log = get_logger(__name__)


class Retention(Repeating):
    """Removes old runs.

    Args:
        store: the database.
        launcher: has the folders of runs at this place.
        place: the name of this place; runs of others are left to them.
        clock: tells the time.
        keep_days: for how long runs are kept after their end.
    """

    def __init__(self, store: Store, launcher: Launcher, place: str, clock: Clock, keep_days: int) -> None:
        super().__init__(clock, 0.0, _EVERY_SECS)
        self._store = store
        self._launcher = launcher
        self._place = place
        self._keep_days = keep_days

    def step(self) -> bool:
        """Remove some of what is old; return whether there may be more.

        The folder of a run goes first: if the service is killed between the two, the next one tries again.
        """
        before_ms = self._now_ms() - self._keep_days * _DAY_MS
        with self._store.changes() as changes:
            old = changes.old_runs(self._place, before_ms, _AT_ONCE)
        for run_id in old:
            shutil.rmtree(self._launcher.folder(run_id), ignore_errors=True)
        with self._store.changes() as changes:
            changes.delete_runs(old)
            changes.triggers.delete_firings(before_ms, changes.chains_that_go_on())
            changes.workflows.delete_old_runs(before_ms)
            changes.metrics.forget(self._now_ms() - KEPT_MS)
            changes.alarms.forget_history(before_ms)
            for group in changes.definitions.all(Kind.LOG_GROUP):
                if (days := group.body.get("retentionInDays")) is not None:
                    changes.log_chunks.forget_group(group.name, self._now_ms() - days * _DAY_MS)
            changes.costs.forget(day_of(self._now_ms()) - COST_DAYS)
        if old:
            log.info("old_runs_removed", runs=len(old))
        return len(old) == _AT_ONCE
