"""A service in simulated time: a real database, operations as clients call them, and runs without processes."""

from datetime import UTC, datetime
from pathlib import Path

from gluepot.core.clock import FakeClock
from gluepot.service.context import Service
from gluepot.service.controllers.control import Controller
from gluepot.service.decisions.commands import command_of
from gluepot.service.decisions.states import Ended
from gluepot.service.launch import drivers
from gluepot.service.launch.launcher import Alive, Unknown
from gluepot.service.operations import BY_TARGET
from gluepot.service.store.database import open_store
from gluepot.service.wire import shapes
from gluepot.service.wire.app import SERVICES

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC).timestamp()  # a Monday


def wrong_in(shape, answer):
    """Return what an answer breaks of its shape. An empty list is allowed, where the model wants one member at least."""
    return [one for one in shapes.violations(shape, answer) if not one.startswith("Value '[]' at ")]


class FakeProcesses:
    """Processes that end when a test says so."""

    def __init__(self):
        self.commands = {}
        self.ends = {}
        self.stopped = set()

    def launch(self, run):
        assert run.id not in self.commands, "a run was started twice"
        argv = command_of(run, drivers.fetched).argv
        drivers.reach("service.starting")
        self.commands[run.id] = argv

    def look(self, run_id, now_ms):
        if run_id not in self.commands:
            return Unknown()
        if run_id in self.stopped:
            return Ended(now_ms, -15)
        return self.ends.get(run_id) or Alive(now_ms)

    def forbid(self, run_id):
        return run_id not in self.commands

    def stop(self, run_id):
        self.stopped.add(run_id)

    def kill(self, run_id):
        self.stopped.add(run_id)


class World:
    """A service.

    Args:
        folder: of its files.
        now: seconds since 1970.
        url: of its database; one in the folder if it is empty.
        store: a store to use instead of a database.
    """

    def __init__(self, folder: Path, now: float, url: str = "", store=None):
        self.clock = FakeClock(now)
        self.store = store or open_store(url or f"sqlite:///{folder / 'service.db'}")
        self.processes = FakeProcesses()
        self.most_runs = None
        environ = {"GLUEPOT_STATE": str(folder)}
        self.service = Service(
            self.store, self.clock, lambda: None, lambda one: folder / one, environ, "000000000000", "us-east-1", "here"
        )
        self.controller = self.another_controller()
        self.script = folder / "job.py"
        self.script.write_text("")

    def another_controller(self, place="here"):
        """Return a controller of the same database."""
        return Controller(self.store, self.processes, place, self.clock, self.service.origin, self.most_runs)

    def call(self, operation, *, of="AWSGlue", **request):
        """Call an operation; its request and its answer have the shapes of AWS's model."""
        shapes.check_request(operation, request, SERVICES[of])
        answer = BY_TARGET[f"{of}.{operation}"](self.service, request)
        model = shapes.operation(operation, SERVICES[of])
        assert model.output_shape is None or not wrong_in(model.output_shape, answer), operation
        return answer

    def job(self, name, **definition):
        """Define a job."""
        command = {"Name": "glueetl", "ScriptLocation": str(self.script)}
        self.call("CreateJob", Name=name, Role="any", Command=command, **definition)

    def steps(self, secs=0.0):
        """Advance the time and let the controller look at everything until nothing changes."""
        self.clock.now += secs
        for _ in range(4):
            self.controller.step()

    def runs(self, job):
        """Return the runs of a job, the oldest first."""
        return self.call("GetJobRuns", JobName=job)["JobRuns"][::-1]

    def states(self, job):
        """Return the states of the runs of a job, the oldest first."""
        return [run["JobRunState"] for run in self.runs(job)]

    def end(self, job, code=0):
        """End the last run of a job."""
        self.ended(self.runs(job)[-1]["Id"], code)
        self.steps()

    def ended(self, run_id, code=0):
        """Let the process of a run be at its end, which the controller has yet to notice."""
        self.processes.ends[run_id] = Ended(round(self.clock.now * 1000), code)

    def argument(self, run_id, name):
        """Return what a run gets for an argument; None if it gets none."""
        words = self.processes.commands[run_id]
        return words[words.index(name) + 1] if name in words else None
