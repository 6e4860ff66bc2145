"""Moves runs on: starts what should run, notices what ended, retries, stops what is late, admits what waits.

It also fires triggers, whose runs the next look starts.

It writes down what it decides before it acts, and finds the processes of runs again by the runs' ids. So a service that
was killed goes on where it stopped.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace

from gluepot.core.clock import Clock
from gluepot.core.errors import EtlError, TransientError
from gluepot.core.failpoints import reach
from gluepot.core.logging import get_logger
from gluepot.service.commands import Command, command_of, fetched, script_location
from gluepot.service.firing import move_on
from gluepot.service.launch.processes import Alive, Processes, Unknown
from gluepot.service.states import ACTIVE, OPEN, Ended, Run, State, admitted, asked_to_stop, began, ended, late, retried
from gluepot.service.store.database import Store

KILL_AFTER_SECS = 60.0
_BUSY_WAIT_SECS, _IDLE_WAIT_SECS, _AWAY_WAIT_SECS = 0.2, 5.0, 5.0

log = get_logger(__name__)


class Controller:
    """Moves runs on.

    Args:
        store: what runs there are.
        processes: what runs on this machine.
        environ: the environment that runs get.
        clock: tells the time.
    """

    def __init__(self, store: Store, processes: Processes, environ: Mapping[str, str], clock: Clock) -> None:
        self._store = store
        self._processes = processes
        self._environ = environ
        self._clock = clock
        self._changed = threading.Event()
        self._ends = threading.Event()

    def wake(self) -> None:
        """Look at the runs at once, because something has changed."""
        self._changed.set()

    def run(self) -> None:
        """Move runs on until `end` is called. A database that is away is waited for."""
        while not self._ends.is_set():
            self._changed.clear()
            try:
                wait_secs = _BUSY_WAIT_SECS if self.step() else _IDLE_WAIT_SECS
            except TransientError as error:
                log.warning("service_database_away", error=str(error))
                wait_secs = _AWAY_WAIT_SECS
            except Exception:
                log.exception("service_step_failed")
                wait_secs = _AWAY_WAIT_SECS
            self._changed.wait(wait_secs)

    def end(self) -> None:
        """End `run`. Runs go on."""
        self._ends.set()
        self._changed.set()

    def step(self) -> bool:
        """Look at each run once; return whether there are any that can change by themselves."""
        with self._store.changes() as changes:
            runs = changes.runs_in(OPEN)
        for run in runs:
            if run.state is not State.WAITING:
                self._move_on(run)
        if any(run.state is State.WAITING for run in runs):
            self._admit()
        if move_on(self._store, self._now_ms()):
            self._changed.set()
        return bool(runs)

    def _move_on(self, run: Run) -> None:
        match self._processes.look(run.id, self._now_ms()):
            case Unknown() if run.state is State.STOPPING:
                self._finish(run, Ended(self._now_ms(), None))
            case Unknown():
                self._start(run)
            case Alive(begun_ms):
                self._watch(run, begun_ms)
            case Ended() as end:
                self._finish(run, end)
            case _:
                pass

    def _start(self, run: Run) -> None:
        try:
            command = self._command(run)
            reach("service.starting")
            self._processes.start(run.id, command.argv, command.files, self._environ)
            reach("service.started")
        except FileNotFoundError:
            self._finish(run, self._refused(f"There is no script {script_location(run)}; correct ScriptLocation."))
        except (EtlError, OSError) as error:
            self._finish(run, self._refused(f"The run could not be started: {error}"))
        else:
            log.info("run_started", job=run.job, run=run.id)

    def _command(self, run: Run) -> Command:
        return command_of(run, fetched)

    def _refused(self, why: str) -> Ended:
        return Ended(self._now_ms(), 1, why)

    def _watch(self, run: Run, begun_ms: int) -> None:
        now_ms = self._now_ms()
        if run.state is State.STARTING:
            self._change(run.id, lambda found: began(found, begun_ms))
        elif late(run, now_ms):
            self._change(run.id, lambda found: replace(asked_to_stop(found, now_ms), times_out=True))
        elif run.state is State.STOPPING:
            if now_ms - run.modified_ms > KILL_AFTER_SECS * 1000:
                self._processes.kill(run.id)
            else:
                self._processes.stop(run.id)

    def _finish(self, run: Run, end: Ended) -> None:
        with self._store.changes() as changes:
            found = changes.run(run.id)
            if found is None or found.state not in ACTIVE:
                return
            done = ended(found, end)
            changes.change_run(done)
            if (again := retried(done, self._now_ms())) is not None:
                changes.add_run(again)
            reach("service.finished")
        log.info("run_ended", job=done.job, run=done.id, state=done.state.value, error=done.error)

    def _change(self, run_id: str, change: Callable[[Run], Run]) -> None:
        with self._store.changes() as changes:
            if (found := changes.run(run_id)) is not None and found.state in ACTIVE:
                changes.change_run(change(found))

    def _admit(self) -> None:
        with self._store.changes() as changes:
            active = Counter(run.job for run in changes.runs_in(ACTIVE))
            for run in admitted(changes.runs_in([State.WAITING]), active, self._now_ms()):
                changes.change_run(run)

    def _now_ms(self) -> int:
        return round(self._clock.epoch() * 1000)
