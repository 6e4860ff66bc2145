"""A service that is killed at each of its named places, in turn, and started anew: everything happens once."""

import json
import re
from collections import Counter
from pathlib import Path

import pytest

import gluepot.service
from gluepot.service.controllers import catalog_news, control, deliveries, endings, firing, metric_reports
from gluepot.service.controllers.catalog_news import CatalogNews
from gluepot.service.controllers.deliveries import Deliveries
from gluepot.service.controllers.metric_reports import MetricReports
from gluepot.service.decisions.metrics import Metric
from gluepot.service.decisions.states import OPEN
from gluepot.service.launch import drivers
from gluepot.service.operations import runs, triggers, workflows

# Those of alarms are in `test_alarms.py`, of crawls in `test_crawlers.py`, of data quality in
# `test_quality_operations.py`.
POINTS = sorted(
    {
        name
        for path in Path(gluepot.service.__file__).parent.rglob("*.py")
        for name in re.findall(r'reach\("(service\.\w+)"\)', path.read_text())
        if not {"alarm", "crawl", "quality"} & set(re.findall("alarm|crawl|quality", name))
    }
)
MODULES = (catalog_news, control, deliveries, drivers, endings, firing, metric_reports, runs, triggers, workflows)
HOOK = "http://hook.example/"
WORKFLOW_ARN = "arn:aws:glue:us-east-1:000000000000:workflow/nightly"


class Killed(BaseException):
    """The service is killed at this point."""


class Story:
    """A day of a service that is killed once: a call is made again if it did not answer, as clients do."""

    def __init__(self, world, monkeypatch, point):
        self.world, self.point, self.kills = world, point, 0
        self.posted = []
        for module in MODULES:
            monkeypatch.setattr(module, "reach", self.reach)
        monkeypatch.setattr(Deliveries, "_sent", lambda _, one: self.posted.append(json.loads(one.body)) or 200)
        self.deliveries = Deliveries(world.store, world.clock)
        service = world.service
        self.news = CatalogNews(world.store, service.environ, service.origin, service.arn, world.clock)
        self.reports = world.script.parent / "metrics"
        self.metrics = MetricReports(world.store, self.reports, world.clock)
        self.asked = Counter()

    def reach(self, name):
        if name == self.point and not self.kills:
            self.kills += 1
            raise Killed

    def call(self, operation, **request):
        try:
            answer = self.world.call(operation, **request)
        except Killed:
            # Its answer is lost; whether it was carried out is what the test wants to know.
            return None
        return answer

    def step(self, secs=0.0):
        self.world.clock.now += secs
        for _ in range(4):
            try:
                self.world.controller.step()
                self.metrics.step()
                self.news.step()
                self.deliveries.step()
            except Killed:
                self.world.controller = self.world.another_controller()

    def report(self, run_id):
        self.reports.mkdir()
        data = [{"MetricName": "records", "Value": 7}]
        (self.reports / f"{run_id}.1.json").write_text(json.dumps([{"Namespace": "Glue", "MetricData": data}]))

    def reported(self):
        """Return what is known of the metric of the report, which was removed."""
        assert list(self.reports.iterdir()) == []
        with self.world.store.changes() as changes:
            return [one.statistics.total for one in changes.metrics.minutes(Metric("Glue", "records"), 0, 10**15)]

    def told_of_catalog(self):
        """Return the events about the catalog, and take them away from the others."""
        found = [one["detail"] for one in self.posted if "databaseName" in one["detail"]]
        self.posted = [one for one in self.posted if one["detail"] not in found]
        return found

    def end_all(self, code=0, times=2):
        for _ in range(times):
            for run_id in self.world.processes.commands:
                if run_id not in self.world.processes.ends:
                    self.world.ended(run_id, code)
            self.step()


def define(world):
    events = "AWSEvents"
    world.job("first", MaxRetries=1, NotificationProperty={"NotifyDelayAfter": 1})
    world.job("second")
    world.job("queue", JobRunQueuingEnabled=True)
    world.call("CreateWorkflow", Name="nightly")
    start = {"Type": "EVENT", "WorkflowName": "nightly", "Actions": [{"JobName": "second"}]}
    world.call("CreateTrigger", Name="start", **start)
    condition = {"LogicalOperator": "EQUALS", "JobName": "first", "State": "SUCCEEDED"}
    daily = {"Schedule": "cron(5 12 * * ? *)", "Actions": [{"JobName": "first"}], "StartOnCreation": True}
    world.call("CreateTrigger", Name="daily", Type="SCHEDULED", **daily)
    after = {"Predicate": {"Conditions": [condition]}, "Actions": [{"JobName": "second"}], "StartOnCreation": True}
    world.call("CreateTrigger", Name="after", Type="CONDITIONAL", **after)
    world.call("CreateTrigger", Name="by-hand", Type="ON_DEMAND", Actions=[{"JobName": "queue"}])
    patterns = {"arrivals": ({"source": ["shop"]}, WORKFLOW_ARN), "ends": ({"source": ["aws.glue"]}, HOOK)}
    for name, (pattern, target) in patterns.items():
        world.call("PutRule", of=events, Name=name, EventPattern=json.dumps(pattern))
        world.call("PutTargets", of=events, Rule=name, Targets=[{"Id": "1", "Arn": target}])


def test_there_are_enough_places():
    assert len(POINTS) >= 25


@pytest.mark.parametrize("point", POINTS)
def test_a_service_killed_at_any_place_does_everything_once(world, monkeypatch, point):
    define(world)
    story = Story(world, monkeypatch, point)
    # A schedule fires; the job fails, is tried again, takes long, and starts the next one.
    story.step(5 * 60)
    story.report(world.runs("first")[0]["Id"])
    story.step(61)
    story.end_all(1, times=1)
    story.end_all()
    # An event starts a workflow.
    entry = {"Source": "shop", "DetailType": "Order", "Detail": "{}"}
    story.call("PutEvents", of="AWSEvents", Entries=[entry])
    story.step()
    story.end_all()
    # Calls: one run, one that waits for it and one that is stopped; a trigger; a workflow.
    story.call("StartJobRun", JobName="queue")
    story.call("StartTrigger", Name="by-hand")
    story.step()
    if stopped := world.runs("queue"):
        story.call("BatchStopJobRun", JobName="queue", JobRunIds=[stopped[0]["Id"]])
    story.step()
    story.end_all()
    story.call("StartWorkflowRun", Name="nightly")
    story.step()
    story.end_all()
    story.call("CreateDatabase", DatabaseInput={"Name": "lake"})
    story.step()

    story.step(61)  # a delivery that was begun is repeated after a minute
    assert story.kills == 1, "the story never came to this place"
    with world.store.changes() as changes:
        assert changes.runs_in(OPEN) == []
        assert changes.workflows.unfinished() == []
        assert changes.events.due(10**15, 10) == []
        assert changes.events.waiting() == {}
    assert story.reported() == [7]
    first, again = world.runs("first")
    assert (first["JobRunState"], again["JobRunState"]) == ("FAILED", "SUCCEEDED")
    by_trigger = Counter(run.get("TriggerName") for run in world.runs("second"))
    # A call whose answer was lost before its transaction ended was not carried out; a later one was, once.
    undone = {"service.adding_run": "queue", "service.firing_by_call": "queue", "service.starting_workflow": "workflow"}
    assert by_trigger == {"after": 1, "start": 1 if undone.get(point) == "workflow" else 2}
    assert len(world.runs("queue")) == (1 if undone.get(point) == "queue" else 2)
    assert {run["JobRunState"] for run in world.runs("second")} == {"SUCCEEDED"}
    assert story.told_of_catalog() == [{"databaseName": "lake", "changedTables": [], "typeOfChange": "CreateDatabase"}]
    told = {(one["detail"]["jobRunId"], one["detail"]["state"], one["detail-type"]) for one in story.posted}
    ends = {
        (run["Id"], run["JobRunState"], "Glue Job State Change")
        for job in ("first", "second", "queue")
        for run in world.runs(job)
    }
    assert {one for one in told if one[2] == "Glue Job State Change"} == ends
    assert sum(one[2] == "Glue Job Run Status" for one in told) >= 1
    # A post whose answer was lost is repeated, with the same id; nothing else is.
    ids = Counter(one["id"] for one in story.posted)
    repeated = [count for count in ids.values() if count > 1]
    assert repeated == ([2] if point in {"service.posted", "service.settling_delivery"} else [])
    assert len(ids) == len(told)
