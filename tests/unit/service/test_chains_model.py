"""Random workflows and chains, in which the service dies at any moment: each trigger fires once if its conditions are met.

What should have happened is computed at the end, from the outcomes of the runs and the definitions of the triggers.
"""

import random
import shutil
from collections import Counter
from contextlib import contextmanager, suppress

import pytest
from sqlalchemy import select

from gluepot.service.decisions.states import OPEN, Ended, settled
from gluepot.service.decisions.workflows import UNFINISHED, Status
from gluepot.service.errors import ServiceError
from gluepot.service.store.tables import firings
from tests.unit.service.world import NOON, FakeProcesses, World

HISTORIES = 30
STEPS = 40
JOBS = "abcdef"
STATES = ("SUCCEEDED", "FAILED", "STOPPED")
SCHEDULE = "cron(0/10 * * * ? *)"


class Killed(BaseException):
    """The service is killed at this point."""


class RandomProcesses(FakeProcesses):
    """Processes that end by themselves, one way or another."""

    def __init__(self, chance):
        super().__init__()
        self.chance = chance

    def look(self, run_id, now_ms):
        if run_id in self.commands and run_id not in self.ends and self.chance.random() < 0.5:
            self.ends[run_id] = Ended(now_ms, self.chance.choice([0, 0, 0, 1, None]))
        return super().look(run_id, now_ms)


class MortalWorld(World):
    """A service that dies now and then, before, in and after transactions."""

    def __init__(self, folder, chance):
        super().__init__(folder, NOON)
        self.chance, self.dies = chance, 0.0
        self.processes = RandomProcesses(chance)
        self.controller = self.another_controller()
        transactions = self.store.changes

        @contextmanager
        def deadly():
            self.maybe_die()
            with transactions() as changes:
                yield changes
                self.maybe_die()
            self.maybe_die()

        self.store.changes = deadly

    def maybe_die(self):
        if self.chance.random() < self.dies:
            raise Killed

    def define(self):
        """Define jobs, chains outside of workflows, and two workflows."""
        for name in JOBS:
            self.job(
                name,
                MaxRetries=self.chance.randrange(2),
                ExecutionProperty={"MaxConcurrentRuns": self.chance.choice([1, 2, 20])},
                JobRunQueuingEnabled=self.chance.random() < 0.5,
            )
        for workflow in ("", "w1", "w2"):
            more = {"WorkflowName": workflow} if workflow else {}
            if workflow:
                self.call("CreateWorkflow", Name=workflow, **self.chance.choice([{}, {"MaxConcurrentRuns": 1}]))
            first = {"Type": "SCHEDULED", "Schedule": SCHEDULE, "StartOnCreation": True}
            first = self.chance.choice([first, {"Type": "ON_DEMAND"}])
            self.call("CreateTrigger", Name=f"{workflow}first", Actions=self.actions(), **first, **more)
            for number in range(self.chance.randint(1, 4)):
                conditions = [
                    {
                        "JobName": self.chance.choice(JOBS),
                        "State": self.chance.choice(STATES[:2]),
                        "LogicalOperator": "EQUALS",
                    }
                    for _ in range(self.chance.randint(1, 2))
                ]
                self.call(
                    "CreateTrigger",
                    Name=f"{workflow}then{number}",
                    Type="CONDITIONAL",
                    Predicate={"Logical": self.chance.choice(["AND", "ANY"]), "Conditions": conditions},
                    Actions=self.actions(),
                    StartOnCreation=True,
                    **more,
                )

    def actions(self):
        return [{"JobName": name} for name in self.chance.sample(JOBS, self.chance.randint(1, 2))]

    def act(self):
        self.clock.now += self.chance.choice([0, 1, 30, 120])
        workflow = self.chance.choice(["w1", "w2"])
        match self.chance.randrange(8):
            case 0:
                with suppress(ServiceError):  # it has as many runs as it may
                    self.call("StartWorkflowRun", Name=workflow)
            case 1:
                with suppress(ServiceError):
                    self.call("StartTrigger", Name=self.chance.choice(["first", "w1first", "w2first"]))
            case 2:
                self.call("StartJobRun", JobName=self.chance.choice(JOBS), JobRunQueuingEnabled=True)
            case 3:
                runs = self.call("GetWorkflowRuns", Name=workflow)["Runs"]
                if runs and self.chance.random() < 0.3:
                    with suppress(ServiceError):  # it has ended
                        self.call("StopWorkflowRun", Name=workflow, RunId=runs[0]["WorkflowRunId"])
            case _:
                self.controller.step()

    def everything(self):
        with self.store.changes() as changes:
            runs = [run for name in JOBS for run in changes.runs(name, most=10_000)]
            workflow_runs = [one for name in ("w1", "w2") for one in changes.workflows.runs(name, most=10_000)]
            fired = changes._connection.execute(select(firings.c.trigger, firings.c.occasion)).all()
            return runs, workflow_runs, changes.triggers.all(), {tuple(row) for row in fired}


def reached(trigger, outcomes):
    """Return whether conditions are met; this is not the code that the service decides by."""
    hits = [any(run == (one["JobName"], one["State"]) for run in outcomes) for one in trigger.conditions]
    return {"AND": min(hits), "ANY": max(hits)}[trigger.definition["Predicate"]["Logical"]]


@pytest.mark.parametrize("seed", range(HISTORIES))
def test_each_trigger_of_a_chain_fires_once_if_its_conditions_are_met(tmp_path, empty_database, seed):
    shutil.copy(empty_database, tmp_path / "service.db")
    world = MortalWorld(tmp_path, random.Random(seed))
    world.define()
    for _ in range(STEPS):
        try:
            world.dies = 0.05
            world.act()
        except Killed:
            world.controller = world.another_controller()
        finally:
            world.dies = 0.0
    for name in ("first", "w1first", "w2first"):
        world.call("StopTrigger", Name=name)
    for _ in range(200):
        world.clock.now += 10
        world.controller.step()
    runs, workflow_runs, triggers, fired = world.everything()
    assert not [run for run in runs if run.state in OPEN]
    assert not [run for run in workflow_runs if run.status in UNFINISHED]
    stopped = {run.id for run in workflow_runs if run.status is Status.STOPPED}
    for chain in {run.chain for run in runs if run.chain}:
        of_chain = [run for run in runs if run.chain == chain]
        [workflow] = {run.workflow for run in of_chain}
        outcomes = {(run.job, run.state.value) for run in of_chain if settled(run)}
        first_attempts = Counter((run.trigger, run.job) for run in of_chain if not run.attempt)
        assert max(first_attempts.values()) == 1
        for trigger in triggers:
            if trigger.type == "CONDITIONAL" and trigger.workflow == workflow:
                started = {job for name, job in first_attempts if name == trigger.name}
                assert started in (set(), {one["JobName"] for one in trigger.actions})
                assert bool(started) == ((trigger.name, chain) in fired)
                if chain not in stopped:
                    assert bool(started) == reached(trigger, outcomes), (trigger, outcomes)
            elif trigger.workflow != workflow:
                assert trigger.name not in {name for name, _ in first_attempts}
    assert not {run.trigger for run in runs if not run.chain} - {""}
