"""Moves runs on: starts what should run, notices what ended, retries, stops what is late, admits what waits.

It also fires triggers, whose runs the next look starts.

It writes down what it decides before it acts, and finds the processes of runs again by the runs' ids. So a service that
was killed goes on where it stopped.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from functools import partial

from gluepot.core.clock import Clock
from gluepot.core.errors import EtlError
from gluepot.core.failpoints import reach
from gluepot.core.logging import get_logger
from gluepot.service.controllers.endings import end_run
from gluepot.service.controllers.firing import move_on
from gluepot.service.controllers.publishing import publish
from gluepot.service.controllers.workers import Repeating
from gluepot.service.decisions.commands import script_location
from gluepot.service.decisions.definitions import is_crawl
from gluepot.service.decisions.states import (
    ACTIVE,
    OPEN,
    Ended,
    Run,
    State,
    admitted,
    began,
    delayed,
    expiring,
    for_service_limit,
    in_maintenance,
    in_places,
    late,
    out_of_time,
    with_limit_of,
)
from gluepot.service.events.envelopes import Origin, delay_of, start_of_crawl
from gluepot.service.launch.launcher import Alive, Launcher, Unknown
from gluepot.service.store.database import Store

KILL_AFTER_SECS = 60.0
_BUSY_WAIT_SECS, _IDLE_WAIT_SECS = 0.2, 5.0

log = get_logger(__name__)


class Controller(Repeating):
    """Moves runs on.

    Args:
        store: what runs there are.
        launcher: starts and stops the drivers of runs.
        place: the name of this machine, or state folder.
        clock: tells the time.
        origin: of the events that tell what became of runs.
        most_runs: how many runs may have a process at a time; None for any number.
        wake_deliveries: has events posted, because there may be new ones.

    Attributes:
        looked_secs: when it has looked at all runs last, by the monotonic clock.
    """

    def __init__(
        self,
        store: Store,
        launcher: Launcher,
        place: str,
        clock: Clock,
        origin: Origin,
        most_runs: int | None = None,
        wake_deliveries: Callable[[], None] = lambda: None,
    ) -> None:
        super().__init__(clock, _BUSY_WAIT_SECS, _IDLE_WAIT_SECS)
        self._store = store
        self._launcher = launcher
        self._place = place
        self._origin = origin
        self._most_runs = most_runs
        self._wake_deliveries = wake_deliveries
        self.looked_secs = clock.monotonic()

    def step(self) -> bool:
        """Look at each run once; return whether there are any that can change by themselves."""
        with self._store.changes() as changes:
            runs = [run for run in changes.runs_in(OPEN) if run.place in {"", self._place}]
        for run in runs:
            if delayed(run, self._now_ms()):
                self._tell_delay(run.id)
        active = [run for run in runs if run.state is not State.WAITING]
        without_process = [run for run in active if not self._move_on(run)]
        start, wait = in_places(without_process, len(active) - len(without_process), self._most_runs)
        for run in start:
            self._start(run)
        for run in wait:
            self._change(run.id, partial(for_service_limit, most=self._most_runs))
        if len(active) < len(runs):
            self._admit()
        if move_on(self._store, self._origin, self._now_ms()):
            self.wake()
            self._wake_deliveries()
        self.looked_secs = self._clock.monotonic()
        return bool(runs)

    def _move_on(self, run: Run) -> bool:
        """Follow what the process of a run does; return False if it has none yet."""
        match self._launcher.look(run.id, self._now_ms()):
            case Unknown() if run.state is not State.STARTING:
                # It was told to stop before it had a process, or its folder is gone. A process that a service started
                # before it died may still be on its way.
                if self._launcher.forbid(run.id):
                    self._finish(run, Ended(self._now_ms(), None))
            case Unknown():
                return False
            case Alive(begun_ms):
                self._watch(run, begun_ms)
            case Ended() as end:
                self._finish(run, end)
            case _:
                pass
        return True

    def _start(self, run: Run) -> None:
        reach("service.taking")
        with self._store.changes() as changes:
            if not changes.take_run(run.id, self._place):
                return
        reach("service.taken")
        try:
            self._launcher.launch(run)
            reach("service.started")
        except FileNotFoundError:
            self._finish(run, self._refused(f"There is no script {script_location(run)}; correct ScriptLocation."))
        except (EtlError, OSError) as error:
            self._finish(run, self._refused(f"The run could not be started: {error}"))
        else:
            log.info("run_started", job=run.job, run=run.id)

    def _refused(self, why: str) -> Ended:
        return Ended(self._now_ms(), 1, why)

    def _watch(self, run: Run, begun_ms: int) -> None:
        now_ms = self._now_ms()
        if run.state is State.STARTING:
            if is_crawl(run.definition):
                self._tell_start(run.id)
            self._change(run.id, partial(began, at_ms=begun_ms))
        elif late(run, now_ms):
            self._change(run.id, partial(out_of_time, now_ms=now_ms))
        elif in_maintenance(run, now_ms):
            self._change(run.id, partial(expiring, now_ms=now_ms))
        elif run.state is State.STOPPING:
            if now_ms - run.modified_ms > KILL_AFTER_SECS * 1000:
                self._launcher.kill(run.id)
            else:
                self._launcher.stop(run.id)
                reach("service.told_to_stop")

    def _finish(self, run: Run, end: Ended) -> None:
        end_run(self._store, run.id, self._place, end, self._now_ms(), self._origin)

    def _tell_delay(self, run_id: str) -> None:
        with self._store.changes() as changes:
            run = changes.run(run_id)
            if run is not None and delayed(run, self._now_ms()):
                publish(changes, delay_of(run), self._origin, self._now_ms())
                changes.change_run(replace(run, delays_told=[*run.delays_told, run.state.value]))
                reach("service.telling_delay")

    def _tell_start(self, run_id: str) -> None:
        """Tell that a crawl has begun, once; AWS tells that of crawls and not of runs of jobs."""
        with self._store.changes() as changes:
            run = changes.run(run_id)
            if run is not None and State.STARTING.value not in run.delays_told:
                publish(changes, start_of_crawl(run, self._origin.account), self._origin, self._now_ms())
                changes.change_run(replace(run, delays_told=[*run.delays_told, State.STARTING.value]))

    def _change(self, run_id: str, change: Callable[[Run], Run]) -> None:
        with self._store.changes() as changes:
            if (found := changes.run(run_id)) is not None and found.state in ACTIVE:
                changes.change_run(change(found))
                reach("service.changing")
        reach("service.changed")

    def _admit(self) -> None:
        with self._store.changes() as changes:
            changes.alone()
            active = changes.runs_in(ACTIVE)
            taken = sum(run.place in {"", self._place} for run in active)
            places = None if self._most_runs is None else self._most_runs - taken
            waiting, counts = changes.runs_in([State.WAITING]), Counter(run.job for run in active)
            jobs = {name: changes.job(name) for name in {run.job for run in waiting}}
            today = [with_limit_of(run, None if (job := jobs[run.job]) is None else job.definition) for run in waiting]
            queue = admitted(today, counts, places, self._now_ms())
            for run in (*queue.starting, *queue.given_up):
                changes.change_run(run)
            for run in queue.starting:
                changes.take_run(run.id, self._place)
            reach("service.admitting")
        reach("service.admitted")
