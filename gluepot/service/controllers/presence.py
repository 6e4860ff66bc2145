"""Notes that a service is there, and ends the runs of services that are not there any more."""

from __future__ import annotations

from gluepot.core.clock import Clock
from gluepot.core.logging import get_logger
from gluepot.service.controllers.endings import end_run
from gluepot.service.controllers.workers import Repeating
from gluepot.service.decisions.places import LOST_AFTER_SECS, NOTED_EVERY_SECS, Watched, lost, watched
from gluepot.service.decisions.states import ACTIVE, Ended
from gluepot.service.events.envelopes import Origin
from gluepot.service.launch.launcher import Launcher
from gluepot.service.store.database import Store

log = get_logger(__name__)


class Presence(Repeating):
    """Tells other services of the same database that this one is there.

    Args:
        store: the database.
        launcher: has the drivers of runs at this place.
        place: the name of this place.
        clock: tells the time.
        origin: region and account of jobs.
    """

    def __init__(self, store: Store, launcher: Launcher, place: str, clock: Clock, origin: Origin) -> None:
        super().__init__(clock, NOTED_EVERY_SECS, NOTED_EVERY_SECS)
        self._store = store
        self._launcher = launcher
        self._place = place
        self._origin = origin
        self._known: dict[str, Watched] = {}
        self._noted_secs: float | None = None

    def step(self) -> bool:
        """Note that this place is there, and look at the others; nothing is left to do before the next note."""
        now_secs = self._clock.monotonic()
        with self._store.changes() as changes:
            changes.places.note(self._place, self._now_ms())
            seen_ms = changes.places.seen_ms()
        before, self._noted_secs = self._noted_secs, now_secs
        if before is None or now_secs - before > LOST_AFTER_SECS:
            self._kill_what_was_given_up()
        self._known = watched(self._known, seen_ms, now_secs)
        for name in lost(self._known, self._place, now_secs):
            self._give_up(name)
        return False

    def database_was_away(self) -> None:
        """Begin to watch the other places anew, because none could note that it is there."""
        self._known = {}

    def _give_up(self, place: str) -> None:
        """End the runs of a place that is lost."""
        log.error("place_lost", place=place)
        with self._store.changes() as changes:
            gone = [run.id for run in changes.runs_in(ACTIVE) if run.place == place]
        why = f"The service at {place}, which had this run, was not seen for {LOST_AFTER_SECS / 60:.0f} minutes."
        for run_id in gone:
            end_run(self._store, run_id, place, Ended(self._now_ms(), None, why), self._now_ms(), self._origin)
        with self._store.changes() as changes:
            changes.places.forget(place)

    def _kill_what_was_given_up(self) -> None:
        """End the processes of runs that others took for lost while this service was away."""
        for run_id in self._launcher.alive():
            with self._store.changes() as changes:
                run = changes.run(run_id)
            if run is not None and run.state not in ACTIVE:
                log.error("run_was_given_up", run=run_id)
                self._launcher.kill(run_id)
