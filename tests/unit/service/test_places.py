"""Several services on one database: each run has one place, and what a place had is given up when the place is lost."""

import random
from contextlib import contextmanager

import pytest

from gluepot.core.errors import TransientError
from gluepot.service.controllers.presence import Presence
from gluepot.service.decisions.places import LOST_AFTER_SECS, Watched, lost, watched
from gluepot.service.decisions.states import ACTIVE, OPEN, Ended
from gluepot.service.store.database import Store
from tests.unit.service.world import FakeProcesses

HISTORIES = 15
STEPS = 60
JOBS = {"one": 1, "many": 50}


class Killed(BaseException):
    """The service is killed at this point."""


class AwayStore:
    """A database that does not answer while it is away, and a service that dies around its transactions."""

    def __init__(self, store: Store, chance):
        self.store, self.chance = store, chance
        self.away, self.dies = False, 0.0

    @contextmanager
    def changes(self):
        if self.away:
            raise TransientError("the service's database does not answer", 5.0)
        self._maybe_die()
        with self.store.changes() as changes:
            yield changes
            self._maybe_die()
        self._maybe_die()

    def _maybe_die(self):
        if self.chance.random() < self.dies:
            raise Killed


class LastingProcesses(FakeProcesses):
    """Processes of one place."""

    def alive(self):
        return [one for one in self.commands if one not in self.stopped and one not in self.ends]

    def launch(self, run):
        if run.id not in self.commands:
            super().launch(run)


class Place:
    """A service at a place of its own, on the database and by the clock of a world."""

    def __init__(self, world, name, chance=None):
        self.world, self.name = world, name
        self.store = AwayStore(world.store, chance or random.Random(0))
        self.processes = LastingProcesses()
        self.restart()

    def restart(self):
        here = self.world
        store, here.store, processes, here.processes = here.store, self.store, here.processes, self.processes
        self.controller = here.another_controller(self.name)
        here.store, here.processes = store, processes
        self.presence = Presence(self.store, self.processes, self.name, here.clock, here.service.origin)

    def step(self):
        try:
            self.presence.step()
            self.controller.step()
        except TransientError:
            self.presence.database_was_away()


@pytest.fixture
def places(world):
    return Place(world, "a"), Place(world, "b")


def run_places(world, *, of="one"):
    with world.store.changes() as changes:
        return [run.place for run in changes.runs(of)][::-1]


def test_a_run_starts_at_one_place_and_is_followed_there(world, places):
    a, b = places
    world.job("one")
    run_id = world.call("StartJobRun", JobName="one")["JobRunId"]
    a.step()
    b.step()
    b.step()
    assert (list(a.processes.commands), list(b.processes.commands)) == ([run_id], [])
    a.processes.ends[run_id] = Ended(1, 0)
    b.step()
    assert world.states("one") == ["STARTING"]
    a.step()
    assert (world.states("one"), run_places(world)) == (["SUCCEEDED"], ["a"])


def test_the_runs_of_a_place_that_is_lost_fail_and_are_tried_elsewhere(world, places):
    a, b = places
    world.job("one", MaxRetries=1)
    run_id = world.call("StartJobRun", JobName="one")["JobRunId"]
    a.step()
    b.step()
    world.clock.now += LOST_AFTER_SECS
    b.step()
    assert world.states("one") == ["STARTING"]
    world.clock.now += 1
    b.step()
    b.step()
    first, second = world.runs("one")
    assert first["ErrorMessage"] == "The service at a, which had this run, was not seen for 5 minutes."
    assert second["Id"] in b.processes.commands
    a.step()
    assert (run_id in a.processes.stopped, second["Id"] in b.processes.stopped) == (True, False)


def test_a_place_whose_service_is_started_anew_in_time_goes_on(world, places):
    a, b = places
    world.job("one")
    world.call("StartJobRun", JobName="one")
    a.step()
    b.step()
    for _ in range(3):
        world.clock.now += LOST_AFTER_SECS - 1
        a.restart()
        a.step()
        b.step()
    assert world.states("one") == ["RUNNING"]


def test_no_place_is_lost_because_the_database_was_away_from_all(world, places):
    a, b = places
    world.job("one")
    world.call("StartJobRun", JobName="one")
    a.step()
    b.step()
    for place in places:
        place.store.away = True
    for _ in range(10):
        world.clock.now += LOST_AFTER_SECS
        a.step()
        b.step()
    for place in places:
        place.store.away = False
    b.step()
    a.step()
    assert (world.states("one"), a.processes.stopped) == (["RUNNING"], set())


def test_clocks_of_places_are_not_compared():
    before = watched({}, {"a": 5_000_000, "b": 1}, 100.0)
    after = watched(before, {"a": 5_000_000, "b": 2}, 100.0 + LOST_AFTER_SECS + 1)
    assert after == {"a": Watched(5_000_000, 100.0), "b": Watched(2, 100.0 + LOST_AFTER_SECS + 1)}
    assert lost(after, "b", 100.0 + LOST_AFTER_SECS + 1) == ["a"]
    assert lost(after, "a", 100.0 + LOST_AFTER_SECS + 1) == []


@pytest.mark.parametrize("seed", range(HISTORIES))
def test_whatever_dies_each_run_has_one_process_unless_its_place_was_given_up(world, seed):
    chance = random.Random(seed)
    places = [Place(world, name, chance) for name in "abc"]
    for job, most in JOBS.items():
        world.job(job, ExecutionProperty={"MaxConcurrentRuns": most}, JobRunQueuingEnabled=True)
    for _ in range(STEPS):
        world.clock.now += chance.choice([0, 1, 30])
        if chance.random() < 0.4:
            world.call("StartJobRun", JobName=chance.choice(sorted(JOBS)))
        place = chance.choice(places)
        place.store.dies, place.store.away = 0.1, chance.random() < 0.1
        try:
            place.step()
        except Killed:
            place.restart()
        place.store.dies, place.store.away = 0.0, False
        for run_id in place.processes.alive():
            if chance.random() < 0.3:
                place.processes.ends[run_id] = Ended(round(world.clock.now * 1000), chance.choice([0, 1, None]))
        assert sum(state in {one.value for one in ACTIVE} for state in world.states("one")) <= 1
    for _ in range(400):
        for place in places:
            place.step()
            for run_id in place.processes.alive():
                place.processes.ends[run_id] = Ended(round(world.clock.now * 1000), 0)
        with world.store.changes() as changes:
            if not changes.runs_in(OPEN):
                break
    runs = [run for job in JOBS for run in world.runs(job)]
    given_up = {run["Id"] for run in runs if "was not seen" in run.get("ErrorMessage", "")}
    for run in runs:
        assert run["JobRunState"] in {"SUCCEEDED", "FAILED"}
        started = sum(run["Id"] in place.processes.commands for place in places)
        assert started == 1 or (run["Id"] in given_up and started <= 1)
