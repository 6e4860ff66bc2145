"""What the service tells of itself: metrics, and whether it is well."""

from contextlib import contextmanager

import pytest
from prometheus_client.parser import text_string_to_metric_families
from starlette.testclient import TestClient

from gluepot.core.errors import TransientError
from gluepot.service.figures import Figures
from gluepot.service.wire.app import make_app


@pytest.fixture
def figures(world):
    return Figures(world.store, lambda: world.controller.looked_secs, world.clock)


def values(figures):
    families = text_string_to_metric_families(figures.text().decode())
    return {(one.name, *sorted(one.labels.values())): one.value for family in families for one in family.samples}


def test_runs_are_counted_by_state_and_the_oldest_that_waits_is_told(world, figures):
    world.job("daily", JobRunQueuingEnabled=True)
    for _ in range(3):
        world.call("StartJobRun", JobName="daily")
    world.steps(90)
    found = values(figures)
    assert (found["gluepot_service_runs", "RUNNING"], found["gluepot_service_runs", "WAITING"]) == (1, 2)
    assert found["gluepot_service_runs", "FAILED"] == 0
    assert found[("gluepot_service_oldest_waiting_seconds",)] == 90
    assert found[("gluepot_service_look_age_seconds",)] == 0


def test_events_that_nobody_takes_are_told(world, figures):
    world.call("PutRule", of="AWSEvents", Name="all", EventPattern='{"source": ["shop"]}')
    world.call("PutTargets", of="AWSEvents", Rule="all", Targets=[{"Id": "1", "Arn": "http://hook.example/"}])
    assert values(figures)[("gluepot_service_oldest_event_seconds",)] == 0
    world.call("PutEvents", of="AWSEvents", Entries=[{"Source": "shop", "DetailType": "t", "Detail": "{}"}])
    world.clock.now += 600
    found = values(figures)
    assert found[("gluepot_service_events_pending",)] == 1
    assert found[("gluepot_service_oldest_event_seconds",)] == 600


def test_calls_are_counted_by_operation_and_code(world, figures):
    client = TestClient(make_app({}, len, {}.get, "token", "0" * 12, figures, world.clock))
    client.post("/", headers={"x-amz-target": "AWSGlue.GetJob"})
    found = values(figures)
    assert found["gluepot_service_requests_total", "MissingAuthenticationTokenException", "unknown"] == 1
    assert found[("gluepot_service_request_seconds_count",)] == 1


def test_a_service_is_well_until_its_controller_is_stuck_or_its_database_is_away(world, figures, monkeypatch):
    client = TestClient(make_app({}, len, {}.get, "token", "0" * 12, figures, world.clock))
    world.controller.step()
    assert (client.get("/health").status_code, client.get("/health").text) == (200, "ok")
    world.clock.now += 61
    stuck = client.get("/health")
    assert (stuck.status_code, stuck.text) == (503, "The controller has not looked at the runs for 61 seconds.")
    world.controller.step()

    @contextmanager
    def away():
        raise TransientError("the service's database does not answer", 5.0)
        yield

    monkeypatch.setattr(world.store, "changes", away)
    assert client.get("/health").status_code == 503
    assert values(figures)[("gluepot_service_database_up",)] == 0
    assert "gluepot_service_look_age_seconds" in client.get("/metrics").text
