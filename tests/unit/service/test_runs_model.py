"""Random histories of runs, in which the service dies at any moment: none is forgotten, gets stuck or is one too many.

That a run's process begins once, however often it is started, is what tests/integration/test_service_processes.py is
about.
"""

import random
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

import pytest

from gluepot.core.clock import FakeClock
from gluepot.service.context import Service
from gluepot.service.controllers import control, endings
from gluepot.service.controllers.control import Controller
from gluepot.service.decisions.states import ACTIVE, OPEN, Ended, State
from gluepot.service.errors import ServiceError
from gluepot.service.events.envelopes import Origin
from gluepot.service.launch.launcher import Alive, Starting, Unknown
from gluepot.service.operations import jobs, runs
from gluepot.service.store.database import open_store

HISTORIES = 40
STOPPED_BEFORE_IT_BEGINS = (97, 245)
"""Histories in which a run is stopped while its process, which a service that has died has started, has yet to begin."""
STEPS = 60
JOBS = {"one": (1, 0), "three": (3, 2), "queue": (2, 1)}
"""Runs at a time and retries, by job."""


class Killed(BaseException):
    """The service is killed at this point."""


@dataclass
class Process:
    """What becomes of a run's process without anybody's help."""

    begins_at: float
    ends_at: float
    exit_code: int | None
    told_to_stop: bool = False


@dataclass
class Machine:
    """The processes of runs. They outlive the service."""

    clock: FakeClock
    chance: random.Random
    processes: dict[str, Process] = field(default_factory=dict)
    started_by_this_service: set = field(default_factory=set)

    def launch(self, run):
        run_id = run.id
        self.started_by_this_service.add(run_id)
        if run_id in self.processes:  # the second runner finds the first one's lock
            return
        begins_at = self.clock.now + self.chance.choice([0, 0, 2])
        took = self.chance.choice([1, 5, 100, 10_000])
        self.processes[run_id] = Process(begins_at, begins_at + took, self.chance.choice([0, 0, 1, -9, None]))

    def look(self, run_id, now_ms):
        process = self.processes.get(run_id)
        if process is None or (process.begins_at > self.clock.now and run_id not in self.started_by_this_service):
            return Unknown()
        if process.begins_at > self.clock.now:
            return Starting()
        if process.ends_at > self.clock.now:
            return Alive(round(process.begins_at * 1000))
        return Ended(round(process.ends_at * 1000) if process.exit_code is not None else now_ms, process.exit_code)

    def forbid(self, run_id):
        process = self.processes.get(run_id)
        if process is not None and process.begins_at <= self.clock.now:
            return False
        self.processes[run_id] = Process(self.clock.now, self.clock.now, None)
        return True

    def stop(self, run_id):
        process = self.processes[run_id]
        if not process.told_to_stop:
            process.told_to_stop = True
            heeds = self.chance.random() < 0.7
            process.ends_at = min(process.ends_at, self.clock.now + 2) if heeds else process.ends_at
            process.exit_code = 143 if heeds else process.exit_code

    def kill(self, run_id):
        process = self.processes[run_id]
        process.ends_at, process.exit_code = self.clock.now, -9

    def folder(self, run_id):
        raise NotImplementedError

    def alive(self):
        return [one for one, process in self.processes.items() if process.begins_at <= self.clock.now < process.ends_at]


class World:
    """A machine, a database, and a service that dies now and then."""

    def __init__(self, folder, seed, monkeypatch):
        self.chance = random.Random(seed)
        # Acts choose runs by the order of their ids.
        monkeypatch.setattr(runs, "new_id", lambda prefix: f"{prefix}{self.chance.randbytes(32).hex()}")
        self.clock = FakeClock(1_000.0)
        self.machine = Machine(self.clock, self.chance)
        self.store = open_store(f"sqlite:///{folder / f'{seed}.db'}")
        self.dies = 0.0
        self.script = folder / "job.py"
        self.script.write_text("pass\n")
        transactions = self.store.changes
        for module in (control, endings):
            monkeypatch.setattr(module, "reach", lambda _: self.maybe_die())

        @contextmanager
        def deadly():
            self.maybe_die()
            with transactions() as changes:
                yield changes
                self.maybe_die()  # nothing of it was written
            self.maybe_die()  # all of it was

        monkeypatch.setattr(self.store, "changes", deadly)
        self.service = Service(self.store, self.clock, lambda: None, self.machine.folder, {}, "0" * 12, "us-east-1")
        self.asked = set()
        self.restart()
        for name, (most, retries) in JOBS.items():
            request = {
                "Name": name,
                "Role": "any",
                "Command": {"Name": "glueetl", "ScriptLocation": str(self.script)},
                "ExecutionProperty": {"MaxConcurrentRuns": most},
                "MaxRetries": retries,
                "Timeout": 1,
                "JobRunQueuingEnabled": name == "queue",
            }
            jobs.create_job(self.service, request)

    def maybe_die(self):
        if self.chance.random() < self.dies:
            raise Killed

    def restart(self):
        self.machine.started_by_this_service = set()
        self.controller = Controller(self.store, self.machine, "here", self.clock, Origin("0" * 12, "us-east-1"))

    def act(self):
        self.clock.now += self.chance.choice([0, 0.2, 1, 30])
        match self.chance.randrange(6):
            case 0 | 1:
                name = self.chance.choice(sorted(JOBS))
                with suppress(ServiceError):  # there are as many as there may be
                    self.asked.add(runs.start_job_run(self.service, {"JobName": name})["JobRunId"])
            case 2 if self.asked:
                run_id = self.chance.choice(sorted(self.asked))
                name = self.run(run_id).job
                runs.batch_stop_job_run(self.service, {"JobName": name, "JobRunIds": [run_id]})
            case _:
                self.controller.step()

    def run(self, run_id):
        with self.store.changes() as changes:
            return changes.run(run_id)

    def all_runs(self):
        with self.store.changes() as changes:
            return [run for name in JOBS for run in changes.runs(name, most=10_000)]

    def check(self):
        found = self.all_runs()
        assert self.asked <= {run.id for run in found}
        for name, (most, _) in JOBS.items():
            assert sum(run.job == name and run.state in ACTIVE for run in found) <= most
            alive = [run for run in found if run.job == name and run.id in self.machine.alive()]
            assert len(alive) <= most


@pytest.mark.parametrize("seed", [*range(HISTORIES), *STOPPED_BEFORE_IT_BEGINS])
def test_no_run_is_forgotten_gets_stuck_or_is_one_too_many(tmp_path, monkeypatch, seed):
    world = World(tmp_path, seed, monkeypatch)
    for _ in range(STEPS):
        try:
            world.dies = 0.1
            world.act()
        except Killed:
            world.restart()
        finally:
            world.dies = 0.0
        world.check()
    for _ in range(2_000):
        world.clock.now += 10
        world.controller.step()
        if not any(run.state in OPEN for run in world.all_runs()):
            break
    world.check()
    by_id = {run.id: run for run in world.all_runs()}
    for run in by_id.values():
        assert run.state not in OPEN
        process = world.machine.processes.get(run.id)
        assert process is not None or run.state is State.STOPPED
        if run.state is State.SUCCEEDED:
            assert process.exit_code == 0
        wants_another = run.state is State.FAILED and run.attempt < JOBS[run.job][1]
        first = run.id.partition("_attempt_")[0]
        assert (f"{first}_attempt_{run.attempt + 1}" in by_id) == wants_another
