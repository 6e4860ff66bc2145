"""Old runs go, with their folders; what still runs, or is another place's, stays."""

from gluepot.service.controllers.retention import Retention
from gluepot.service.launch.processes import Processes
from gluepot.service.store.tables import firings
from tests.unit.service.world import World

DAY_SECS = 24 * 3600


def retention(world: World, place="here"):
    return Retention(world.store, Processes(world.script.parent), place, world.clock, 90)


def ended_run(world, job):
    run_id = world.call("StartJobRun", JobName=job)["JobRunId"]
    world.steps()
    (world.script.parent / run_id).mkdir()
    world.end(job)
    return run_id


def test_runs_go_90_days_after_their_end(world):
    world.job("daily")
    first = ended_run(world, "daily")
    world.clock.now += 10 * DAY_SECS
    second = ended_run(world, "daily")
    world.clock.now += 80 * DAY_SECS
    assert retention(world).step() is False
    assert [run["Id"] for run in world.runs("daily")] == [first, second]
    world.clock.now += 1
    retention(world).step()
    assert [run["Id"] for run in world.runs("daily")] == [second]
    assert ((world.script.parent / first).exists(), (world.script.parent / second).exists()) == (False, True)


def test_a_run_that_goes_on_stays_however_old_it_is(world):
    world.job("stream", Timeout=7 * 24 * 60 - 1)
    world.call("StartJobRun", JobName="stream")
    world.steps()
    world.clock.now += 200 * DAY_SECS
    retention(world).step()
    assert len(world.runs("stream")) == 1


def test_the_runs_of_a_place_that_is_there_are_left_to_it(world):
    world.job("daily")
    ended_run(world, "daily")
    with world.store.changes() as changes:
        changes.places.note("here", 0)
    world.clock.now += 91 * DAY_SECS
    retention(world, "there").step()
    assert len(world.runs("daily")) == 1
    with world.store.changes() as changes:
        changes.places.forget("here")
    retention(world, "there").step()
    assert world.runs("daily") == []


def test_runs_of_workflows_and_firings_go_too(world):
    world.job("load")
    world.call("CreateWorkflow", Name="nightly")
    world.call("CreateTrigger", Name="start", Type="ON_DEMAND", WorkflowName="nightly", Actions=[{"JobName": "load"}])
    world.call("StartWorkflowRun", Name="nightly")
    world.steps()
    world.end("load")
    world.call("StartWorkflowRun", Name="nightly")
    world.clock.now += 91 * DAY_SECS
    retention(world).step()
    assert [run["Status"] for run in world.call("GetWorkflowRuns", Name="nightly")["Runs"]] == ["RUNNING"]
    with world.store.changes() as changes:
        assert len(changes._connection.execute(firings.select()).all()) == 1  # that of the run that goes on
