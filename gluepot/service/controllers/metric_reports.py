"""Takes the metrics that runs report in files, so that none is lost or counted twice if the service is killed.

In one transaction the data is added, and the report's number is noted as that of the run's last one. Then the file is
removed. A report whose number was noted before is only removed.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from gluepot.core.clock import Clock
from gluepot.core.failpoints import reach
from gluepot.core.logging import get_logger
from gluepot.service.controllers.workers import Repeating
from gluepot.service.decisions.metrics import Minute, merged, minutes_of
from gluepot.service.errors import ServiceError
from gluepot.service.store.database import Store

_WAIT_SECS = 2.0
_AT_ONCE = 20
_UNFINISHED_MS = 3600 * 1000

log = get_logger(__name__)


class MetricReports(Repeating):
    """Takes the reports of runs at this place.

    Args:
        store: the database.
        folder: where the reports are.
        clock: tells the time.
    """

    def __init__(self, store: Store, folder: Path, clock: Clock) -> None:
        super().__init__(clock, 0.0, _WAIT_SECS)
        self._store = store
        self._folder = folder

    def step(self) -> bool:
        """Take some reports; return whether there may be more."""
        found = sorted(self._folder.glob("*.json"), key=_place)
        for path in self._folder.glob("*.part"):
            self._remove_if_old(path)
        if taken := found[:_AT_ONCE]:
            self._take(taken)
            for path in taken:
                path.unlink(missing_ok=True)
        return len(found) > _AT_ONCE

    def _remove_if_old(self, path: Path) -> None:
        """Remove a report that nobody finishes, because its run was killed."""
        with suppress(FileNotFoundError):  # it was finished at this moment
            if path.stat().st_mtime * 1000 < self._now_ms() - _UNFINISHED_MS:
                path.unlink()

    def _take(self, paths: Sequence[Path]) -> None:
        read = {path: self._minutes(path) for path in paths}
        with self._store.changes() as changes:
            changes.alone()
            new: list[Minute] = []
            for path, minutes in read.items():
                run_id, number = _place(path)
                if changes.run(run_id) is not None and number > changes.metrics.reported(run_id):
                    changes.metrics.note_reported(run_id, number)
                    new += minutes
            changes.metrics.add(merged(new))
            reach("service.taking_metrics")
        reach("service.metrics_taken")

    def _minutes(self, path: Path) -> list[Minute]:
        """Return what a report says. One that nobody understands is lost, or no other would be taken any more."""
        try:
            requests = json.loads(path.read_text())
            return [one for request in requests for one in minutes_of(request, self._now_ms())]
        except (ServiceError, ValueError, KeyError, TypeError) as error:
            log.warning("metrics_not_understood", report=path.name, reason=str(error))
            return []


def _place(path: Path) -> tuple[str, int]:
    """Return the run of a report, and its number."""
    run_id, _, number = path.stem.rpartition(".")
    return run_id, int(number) if number.isdecimal() else 0
