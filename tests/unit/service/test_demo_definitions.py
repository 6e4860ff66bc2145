"""What the demo of the service defines: requests that the service takes, and a schedule that fires at once."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from gluepot.service.dev.demo import WORKFLOW, definitions
from tests.unit.service.world import NOON


@pytest.mark.parametrize("minutes", [0, 6])
@pytest.mark.parametrize("seconds", [0, 59])
def test_the_schedule_fires_within_a_minute_and_its_jobs_follow_each_other(world, monkeypatch, minutes, seconds):
    world.clock.now = NOON + 60 * (53 + minutes) + seconds
    world.service.environ["GLUEPOT_CATALOG"] = f"sqlite:///{world.script.parent / 'catalog.db'}"
    monkeypatch.setattr("gluepot.service.launch.drivers.fetched", lambda _: b"")
    for operation, request in definitions("127.0.0.1:9092", Path("/demo"), now(world)):
        world.call(operation, **request)
    world.steps(60)
    assert world.states("clicks") == ["RUNNING"]
    for job in ("new-orders", "load-orders", "report-orders"):
        assert world.states(job) == ["RUNNING"]
        world.end(job)
    [run] = world.call("GetWorkflowRuns", Name=WORKFLOW)["Runs"]
    assert (run["Status"], run["Statistics"]["SucceededActions"]) == ("COMPLETED", 3)


def now(world):
    return datetime.fromtimestamp(0, UTC) + timedelta(seconds=world.clock.now)
