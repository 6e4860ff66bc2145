"""The service's database, on SQLite and PostgreSQL: its migrations, and controllers that work on it at the same time."""

import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

from gluepot.service.controllers import firing
from gluepot.service.controllers.catalog_news import CatalogNews
from gluepot.service.errors import ServiceError
from gluepot.service.store import database
from gluepot.service.store.database import HEAD, VERSION_TABLE, open_store
from gluepot.service.store.tables import metadata
from tests.unit.service.world import NOON, World

VERSIONS = Path(database.__file__).parent / "migrations" / "versions"
CONTROLLERS = 4
CLOUDWATCH = "GraniteServiceVersion20100801"


def test_the_migrations_lead_to_the_declared_tables(url):
    from alembic.autogenerate import compare_metadata
    from alembic.migration import MigrationContext

    with open_store(url)._engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"version_table": VERSION_TABLE})
        assert compare_metadata(context, metadata) == []
    assert max(path.name for path in VERSIONS.glob("v*.py")).startswith(f"v{HEAD}_")


def test_controllers_that_race_fire_each_trigger_once(url, tmp_path):
    world = World(tmp_path, NOON, url)
    for name in ("load", "count", "after"):
        world.job(name, ExecutionProperty={"MaxConcurrentRuns": 50})
    world.call("CreateWorkflow", Name="nightly")
    actions = [{"JobName": "load"}, {"JobName": "count"}]
    schedule = {"Type": "SCHEDULED", "Schedule": "cron(0 0/1 * * ? *)", "StartOnCreation": True, "Actions": actions}
    world.call("CreateTrigger", Name="hourly", **schedule)
    world.call("CreateTrigger", Name="first", **schedule, WorkflowName="nightly")
    conditions = [{"LogicalOperator": "EQUALS", "JobName": name, "State": "SUCCEEDED"} for name in ("load", "count")]
    for name, more in (("then", {}), ("last", {"WorkflowName": "nightly"})):
        world.call(
            "CreateTrigger",
            Name=name,
            Type="CONDITIONAL",
            Predicate={"Logical": "ANY", "Conditions": conditions},
            Actions=[{"JobName": "after"}],
            StartOnCreation=True,
            **more,
        )

    def together():
        with ThreadPoolExecutor(CONTROLLERS) as pool:
            now_ms = round(world.clock.now * 1000)
            for done in [
                pool.submit(firing.move_on, world.store, world.service.origin, now_ms) for _ in range(CONTROLLERS)
            ]:
                done.result()

    for hours in (1, 2, 3):
        world.clock.now += 3600
        together()
        assert len(world.states("load")) == len(world.states("count")) == 2 * hours
        world.controller.step()  # their processes start
        for name in ("load", "count"):
            for run in world.runs(name):
                world.ended(run["Id"])
        world.controller.step()
        together()
        assert len(world.states("after")) == 2 * hours


def test_callers_that_race_start_no_more_runs_than_there_may_be(url, tmp_path):
    world = World(tmp_path, NOON, url)
    world.job("few", ExecutionProperty={"MaxConcurrentRuns": 3})

    def start(_):
        try:
            return world.call("StartJobRun", JobName="few")["JobRunId"]
        except ServiceError as refused:
            return refused.code

    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(start, range(24)))
    assert answers.count("ConcurrentRunsExceededException") == 21
    assert len(world.states("few")) == 3


def test_controllers_that_race_tell_the_end_of_a_run_once(url, tmp_path):
    world = World(tmp_path, NOON, url)
    world.job("daily")
    world.call("PutRule", of="AWSEvents", Name="ends", EventPattern='{"source": ["aws.glue"]}')
    world.call("PutTargets", of="AWSEvents", Rule="ends", Targets=[{"Id": "1", "Arn": "http://hook.example/"}])
    for _ in range(5):
        run_id = world.call("StartJobRun", JobName="daily")["JobRunId"]
        world.controller.step()
        world.ended(run_id)
        with ThreadPoolExecutor(CONTROLLERS) as pool:
            for done in [pool.submit(world.another_controller().step) for _ in range(CONTROLLERS)]:
                done.result()
        world.controller.step()
    with world.store.changes() as changes:
        assert len(changes.events.due(10**15, 100)) == 5


def test_services_that_add_to_the_same_metrics_lose_nothing(url, tmp_path):
    world = World(tmp_path, NOON, url)
    data = [{"MetricName": f"m{number}", "Value": 1} for number in range(5)]

    def put(_):
        world.call("PutMetricData", of=CLOUDWATCH, Namespace="Shop", MetricData=data)

    with ThreadPoolExecutor(CONTROLLERS) as pool:
        list(pool.map(put, range(20)))
    about = {"Namespace": "Shop", "StartTime": NOON, "EndTime": NOON + 60, "Period": 60}
    statistics = {"Statistics": ["Sum", "SampleCount"], "ExtendedStatistics": ["p50"]}
    for number in range(5):
        found = world.call("GetMetricStatistics", of=CLOUDWATCH, MetricName=f"m{number}", **about, **statistics)
        [point] = found["Datapoints"]
        assert (point["Sum"], point["SampleCount"], point["ExtendedStatistics"]) == (20, 20, {"p50": 1})


def test_services_that_tell_the_same_changes_of_the_catalog_tell_them_once(url, tmp_path):
    world = World(tmp_path, NOON, url)
    world.service = replace(world.service, environ={"GLUEPOT_STATE": str(tmp_path), "GLUEPOT_CATALOG": url})
    world.call("PutRule", of="AWSEvents", Name="all", EventPattern='{"source": ["aws.glue"]}')
    world.call("PutTargets", of="AWSEvents", Rule="all", Targets=[{"Id": "1", "Arn": "http://hook.example/"}])
    for number in range(10):
        world.call("CreateDatabase", DatabaseInput={"Name": f"d{number}"})
    of = world.service
    tellers = [CatalogNews(world.store, of.environ, of.origin, of.arn, world.clock) for _ in range(CONTROLLERS)]
    with ThreadPoolExecutor(CONTROLLERS) as pool:
        list(pool.map(CatalogNews.step, tellers))
    with world.store.changes() as changes:
        told = [json.loads(one.body)["detail"]["databaseName"] for one in changes.events.due(10**15, 100)]
    assert sorted(told) == [f"d{number}" for number in range(10)]
