"""Crawlers in simulated time: definitions, states, schedules, triggers, workflows; their crawls have no processes."""

import json
import re
from pathlib import Path

import pytest

import gluepot.service
from gluepot.service.console.values import drawing
from gluepot.service.controllers import control, firing
from gluepot.service.decisions.crawls import summary_text
from gluepot.service.decisions.states import OPEN, Ended
from gluepot.service.errors import ServiceError
from gluepot.service.operations import crawlers

POINTS = sorted(
    {
        name
        for path in Path(gluepot.service.__file__).parent.rglob("*.py")
        for name in re.findall(r'reach\("(service\.\w*crawl\w*)"\)', path.read_text())
    }
)
LAKE = {"S3Targets": [{"Path": "s3://lake/orders/", "Exclusions": ["**/_temporary/**"]}]}
RESULT = {
    "summary": {
        "TABLE": {"ADD": {"Details": ["web.orders"], "Count": 1}},
        "PARTITION": {"ADD": {"Details": [], "Count": 3}},
    },
    "tables": {"created": 1, "updated": 0, "deleted": 0},
}


def define(world, name="lake", **members):
    given = {"Role": "any", "DatabaseName": "web", "Targets": LAKE, **members}
    world.call("CreateCrawler", Name=name, **given)


def crawler(world, name="lake"):
    return world.call("GetCrawler", Name=name)["Crawler"]


def crawls(world, name="lake", **more):
    return world.call("ListCrawls", CrawlerName=name, **more)["Crawls"]


def end(world, name="lake", code=0, result=RESULT):
    run_id = crawls(world, name)[0]["CrawlId"]
    world.processes.ends[run_id] = Ended(round(world.clock.now * 1000), code, "", result if code == 0 else {})
    world.steps()


def refused(world, operation, **request):
    with pytest.raises(ServiceError) as caught:
        world.call(operation, **request)
    return caught.value.code, caught.value.message


def test_a_crawler_is_answered_with_the_values_that_aws_adds(world):
    define(world, Role="arn:aws:iam::123456789012:role/service-role/Glue", Schedule="cron(0 2 * * ? *)")

    found = crawler(world)

    assert found["Role"] == "service-role/Glue"
    assert found["State"] == "READY"
    assert found["Version"] == 1
    assert found["Schedule"] == {"ScheduleExpression": "cron(0 2 * * ? *)", "State": "SCHEDULED"}
    assert found["SchemaChangePolicy"] == {
        "UpdateBehavior": "UPDATE_IN_DATABASE",
        "DeleteBehavior": "DEPRECATE_IN_DATABASE",
    }
    assert found["RecrawlPolicy"] == {"RecrawlBehavior": "CRAWL_EVERYTHING"}
    assert found["LineageConfiguration"] == {"CrawlerLineageSettings": "DISABLE"}
    assert found["LakeFormationConfiguration"] == {"UseLakeFormationCredentials": False, "AccountId": ""}
    assert len(found["Targets"]) == 8
    assert found["CrawlElapsedTime"] == 0
    assert "LastCrawl" not in found


def test_the_crawler_of_the_seed_is_taken_as_it_is(world):
    define(
        world,
        "raw-orders-crawler",
        Targets={
            "S3Targets": [
                {"Path": "s3://my-data-lake/raw/orders/", "Exclusions": ["**/_temporary/**", "**/.spark-staging/**"]}
            ]
        },
        RecrawlPolicy={"RecrawlBehavior": "CRAWL_NEW_FOLDERS_ONLY"},
        SchemaChangePolicy={"UpdateBehavior": "UPDATE_IN_DATABASE", "DeleteBehavior": "LOG"},
        Configuration='{"Version":1.0,"CrawlerOutput":{"Partitions":{"AddOrUpdateBehavior":"InheritFromTable"}}}',
        Schedule="cron(0 2 * * ? *)",
    )
    assert world.call("ListCrawlers")["CrawlerNames"] == ["raw-orders-crawler"]


def test_a_crawler_by_events_keeps_its_queues(world):
    arn = "arn:aws:sqs:eu-central-1:123456789012:lake-events"
    target = {"Path": "s3://lake/orders/", "EventQueueArn": arn, "DlqEventQueueArn": f"{arn}-dead"}
    define(world, Targets={"S3Targets": [target]}, RecrawlPolicy={"RecrawlBehavior": "CRAWL_EVENT_MODE"})
    assert crawler(world)["Targets"]["S3Targets"] == [target]


def test_a_crawl_runs_and_is_told(world):
    define(world)
    world.call("StartCrawler", Name="lake")
    world.steps()
    assert crawler(world)["State"] == "RUNNING"
    assert refused(world, "StartCrawler", Name="lake") == (
        "CrawlerRunningException",
        "Crawler with name lake has already started",
    )
    [crawl] = crawls(world)
    argv = world.processes.commands[crawl["CrawlId"]]
    assert argv[1:] == ["-m", "gluepot.crawl", "request.json"]

    world.clock.now += 62
    end(world)

    found = crawler(world)
    assert found["State"] == "READY"
    assert found["LastCrawl"]["Status"] == "SUCCEEDED"
    assert found["LastCrawl"]["LogGroup"] == "/aws-glue/crawlers"
    assert found["LastCrawl"]["LogStream"] == "lake"
    [crawl] = crawls(world)
    assert crawl["State"] == "COMPLETED"
    assert json.loads(json.loads(crawl["Summary"])["TABLE"]) == {"ADD": {"Details": ["web.orders"], "Count": 1}}
    [figures] = world.call("GetCrawlerMetrics", CrawlerNameList=["lake"])["CrawlerMetricsList"]
    assert (figures["LastRuntimeSeconds"], figures["MedianRuntimeSeconds"], figures["TablesCreated"]) == (62, 62, 1)


def test_crawls_are_no_runs_of_jobs(world):
    world.job("lake")
    define(world)
    world.call("StartCrawler", Name="lake")
    world.call("StartJobRun", JobName="lake")
    world.steps()

    assert len(world.runs("lake")) == 1
    assert len(crawls(world)) == 1
    run_id = crawls(world)[0]["CrawlId"]
    assert refused(world, "GetJobRun", JobName="lake", RunId=run_id)[0] == "EntityNotFoundException"
    with world.store.changes() as changes:
        assert [run.job for run in changes.newest_runs(())] == ["lake"]


def test_a_crawl_is_stopped_and_a_failed_one_says_why(world):
    define(world)
    assert refused(world, "StopCrawler", Name="lake")[0] == "CrawlerNotRunningException"
    world.call("StartCrawler", Name="lake")
    world.steps()
    world.call("StopCrawler", Name="lake")
    assert crawler(world)["State"] == "STOPPING"
    assert refused(world, "StopCrawler", Name="lake")[0] == "CrawlerStoppingException"
    world.steps()
    assert crawler(world)["LastCrawl"]["Status"] == "CANCELLED"
    assert crawls(world)[0]["State"] == "STOPPED"

    world.call("StartCrawler", Name="lake")
    world.steps()
    end(world, code=1)
    assert crawler(world)["LastCrawl"]["Status"] == "FAILED"
    assert crawler(world)["LastCrawl"]["ErrorMessage"] == "Command failed with exit code 1"


def test_only_given_members_change_and_a_running_crawler_is_left_alone(world):
    define(world, TablePrefix="raw_")
    world.call("UpdateCrawler", Name="lake", Description="orders")
    found = crawler(world)
    assert (found["TablePrefix"], found["Description"], found["Version"]) == ("raw_", "orders", 2)

    world.call("StartCrawler", Name="lake")
    assert refused(world, "UpdateCrawler", Name="lake", Description="x")[0] == "CrawlerRunningException"
    assert refused(world, "DeleteCrawler", Name="lake")[0] == "CrawlerRunningException"
    world.steps()
    end(world)
    world.call("DeleteCrawler", Name="lake")
    assert refused(world, "DeleteCrawler", Name="lake")[0] == "EntityNotFoundException"
    world.clock.now += 1
    define(world)
    assert crawls(world) == []
    assert "LastCrawl" not in crawler(world)


def test_the_targets_of_a_crawler_of_new_folders_are_locked(world):
    only_new = {"RecrawlBehavior": "CRAWL_NEW_FOLDERS_ONLY"}
    log = {"UpdateBehavior": "LOG", "DeleteBehavior": "LOG"}
    define(world, RecrawlPolicy=only_new, SchemaChangePolicy=log)
    others = {"S3Targets": [{"Path": "s3://other/"}]}
    code, message = refused(world, "UpdateCrawler", Name="lake", Targets=others)
    assert code == "InvalidInputException"
    assert "cannot be changed" in message


@pytest.mark.parametrize(
    ("members", "said"),
    [
        ({"Targets": {"S3Targets": []}}, "Targets is empty"),
        (
            {"Targets": {"HudiTargets": [{"Paths": ["s3://lake/x"]}]}},
            "HudiTargets, which cannot be crawled yet",
        ),
        ({"DatabaseName": ""}, "DatabaseName is missing"),
        ({"Configuration": "{"}, "Configuration is no JSON"),
        ({"Configuration": '{"Version": 2}'}, "has the Version 2"),
        ({"Configuration": '{"Version": 1.0, "Grouping": {"TableLevelConfiguration": 0}}'}, "an integer from 1 on"),
        ({"Schedule": "rate(5 minutes)"}, "cron"),
        ({"Classifiers": ["none"]}, "Classifier none not found"),
        ({"RecrawlPolicy": {"RecrawlBehavior": "CRAWL_EVENT_MODE"}}, "has no EventQueueArn"),
        ({"Targets": {"CatalogTargets": [{"DatabaseName": "d", "Tables": ["t"]}]}}, "set DeleteBehavior to LOG"),
    ],
)
def test_a_crawler_that_could_not_crawl_is_refused(world, members, said):
    given = {"Name": "lake", "Role": "any", "DatabaseName": "web", "Targets": LAKE, **members}
    code, message = refused(world, "CreateCrawler", **given)
    assert code == "InvalidInputException"
    assert said in message


def test_a_schedule_starts_crawls_and_skips_a_time_at_which_one_runs(world):
    define(world, Schedule="cron(0/5 * * * ? *)")
    world.steps(301)
    assert len(crawls(world)) == 1
    world.steps(300)
    assert len(crawls(world)) == 1
    end(world)
    world.steps(300)
    assert len(crawls(world)) == 2
    end(world)

    world.call("StopCrawlerSchedule", CrawlerName="lake")
    assert crawler(world)["Schedule"]["State"] == "NOT_SCHEDULED"
    assert refused(world, "StopCrawlerSchedule", CrawlerName="lake")[0] == "SchedulerNotRunningException"
    world.steps(600)
    assert len(crawls(world)) == 2
    world.call("StartCrawlerSchedule", CrawlerName="lake")
    assert refused(world, "StartCrawlerSchedule", CrawlerName="lake")[0] == "SchedulerRunningException"
    world.call("UpdateCrawlerSchedule", CrawlerName="lake", Schedule="")
    assert "Schedule" not in crawler(world)
    assert refused(world, "StartCrawlerSchedule", CrawlerName="lake")[0] == "NoScheduleException"


def test_crawls_are_listed_by_pages_and_filters(world):
    define(world)
    for code in (0, 1, 0):
        world.call("StartCrawler", Name="lake")
        world.steps(60)
        end(world, code=code)

    first = world.call("ListCrawls", CrawlerName="lake", MaxResults=2)
    rest = world.call("ListCrawls", CrawlerName="lake", MaxResults=2, NextToken=first["NextToken"])
    assert [one["State"] for one in (*first["Crawls"], *rest["Crawls"])] == ["COMPLETED", "FAILED", "COMPLETED"]
    failed = [{"FieldName": "STATE", "FilterOperator": "EQ", "FieldValue": "FAILED"}]
    assert [one["State"] for one in crawls(world, Filters=failed)] == ["FAILED"]
    since = [
        {
            "FieldName": "START_TIME",
            "FilterOperator": "GT",
            "FieldValue": str(round(rest["Crawls"][0]["StartTime"] * 1000)),
        }
    ]
    assert len(crawls(world, Filters=since)) == 2
    wrong = [{"FieldName": "END_TIME", "FilterOperator": "GT", "FieldValue": "yesterday"}]
    assert refused(world, "ListCrawls", CrawlerName="lake", Filters=wrong)[0] == "InvalidInputException"


def test_triggers_and_workflows_start_and_watch_crawlers(world):
    define(world)
    world.job("load")
    world.call("CreateWorkflow", Name="nightly")
    actions = [{"CrawlerName": "lake"}]
    world.call("CreateTrigger", Name="start", Type="ON_DEMAND", WorkflowName="nightly", Actions=actions)
    when = {"LogicalOperator": "EQUALS", "CrawlerName": "lake", "CrawlState": "SUCCEEDED"}
    after = {"Predicate": {"Conditions": [when]}, "Actions": [{"JobName": "load"}], "StartOnCreation": True}
    world.call("CreateTrigger", Name="after", Type="CONDITIONAL", WorkflowName="nightly", **after)

    run_id = world.call("StartWorkflowRun", Name="nightly")["RunId"]
    world.steps()
    assert world.states("load") == []
    end(world)
    assert world.states("load") == ["RUNNING"]
    world.end("load")

    run = world.call("GetWorkflowRun", Name="nightly", RunId=run_id, IncludeGraph=True)["Run"]
    assert run["Status"] == "COMPLETED"
    assert run["Statistics"]["TotalActions"] == run["Statistics"]["SucceededActions"] == 2
    [node] = [one for one in run["Graph"]["Nodes"] if one["Type"] == "CRAWLER"]
    assert [one["State"] for one in node["CrawlerDetails"]["Crawls"]] == ["SUCCEEDED"]
    assert world.call("GetWorkflow", Name="nightly", IncludeGraph=True)["Workflow"]["Graph"]["Edges"]
    drawn = drawing(run["Graph"], of_run=True).nodes
    assert [(one.name, one.kind) for one in drawn if one.kind == "Crawler"] == [("lake", "Crawler")]

    again = world.call("ResumeWorkflowRun", Name="nightly", RunId=run_id, NodeIds=[node["UniqueId"]])
    world.steps()
    assert again["NodeIds"] == [node["UniqueId"]]
    end(world)
    world.end("load")
    assert world.states("load") == ["SUCCEEDED", "SUCCEEDED"]


def test_a_crawl_that_fails_fires_what_waits_for_that_and_nothing_else(world):
    define(world)
    world.job("load")
    world.job("mend")
    world.call("CreateTrigger", Name="start", Type="ON_DEMAND", Actions=[{"CrawlerName": "lake"}])
    for name, state in (("load", "SUCCEEDED"), ("mend", "FAILED")):
        when = {"LogicalOperator": "EQUALS", "CrawlerName": "lake", "CrawlState": state}
        after = {"Predicate": {"Conditions": [when]}, "Actions": [{"JobName": name}], "StartOnCreation": True}
        world.call("CreateTrigger", Name=f"after-{name}", Type="CONDITIONAL", **after)
    world.call("StartTrigger", Name="start")
    world.steps()
    end(world, code=1)
    assert (world.states("load"), world.states("mend")) == ([], ["RUNNING"])


def test_a_trigger_whose_crawler_runs_or_is_gone_makes_a_crawl_that_failed(world):
    define(world)
    world.call("CreateTrigger", Name="start", Type="ON_DEMAND", Actions=[{"CrawlerName": "lake"}])
    world.call("StartCrawler", Name="lake")
    world.call("StartTrigger", Name="start")
    world.steps()
    assert [one["State"] for one in crawls(world)] == ["FAILED", "RUNNING"]
    world.processes.ends[crawls(world)[1]["CrawlId"]] = Ended(round(world.clock.now * 1000), 0)
    world.steps()
    world.call("DeleteCrawler", Name="lake")
    world.call("StartTrigger", Name="start")
    world.steps()
    define(world)
    assert crawls(world)[0]["ErrorMessage"] == "Crawler lake not found."


def test_starts_and_ends_of_crawls_are_events(world):
    events = "AWSEvents"
    pattern = {"detail-type": ["Glue Crawler State Change"], "detail": {"state": ["Started", "Succeeded"]}}
    world.call("PutRule", of=events, Name="crawls", EventPattern=json.dumps(pattern))
    world.call("PutTargets", of=events, Rule="crawls", Targets=[{"Id": "1", "Arn": "http://hook.example/"}])
    define(world)
    world.call("StartCrawler", Name="lake")
    world.steps()
    end(world)
    with world.store.changes() as changes:
        told = [json.loads(one.body)["detail"] for one in changes.events.due(10**15, 10)]
    assert [one["state"] for one in told] == ["Started", "Succeeded"]
    assert told[1]["crawlerName"] == "lake"
    assert (told[1]["tablesCreated"], told[1]["partitionsCreated"], told[1]["tablesDeleted"]) == ("1", "3", "0")


def test_tags_and_batches(world):
    define(world, Tags={"team": "shop"})
    define(world, "other")
    assert world.call("ListCrawlers", Tags={"team": "shop"})["CrawlerNames"] == ["lake"]
    assert world.call("GetTags", ResourceArn=world.service.arn("crawler", "lake"))["Tags"] == {"team": "shop"}
    found = world.call("BatchGetCrawlers", CrawlerNames=["lake", "none"])
    assert ([one["Name"] for one in found["Crawlers"]], found["CrawlersNotFound"]) == (["lake"], ["none"])
    pages = world.call("GetCrawlers", MaxResults=1)
    assert [one["Name"] for one in pages["Crawlers"]] == ["lake"]
    assert world.call("GetCrawlers", NextToken=pages["NextToken"])["Crawlers"][0]["Name"] == "other"


def test_a_long_summary_has_counts_only(world):
    define(world)
    world.call("StartCrawler", Name="lake")
    world.steps()
    many = {
        "summary": {"TABLE": {"ADD": {"Details": [f"web.table{n}" for n in range(200)], "Count": 200}}},
        "tables": {},
    }
    end(world, result=many)
    with world.store.changes() as changes:
        [run] = changes.runs("crawler\nlake")
    assert json.loads(json.loads(summary_text(run))["TABLE"]) == {"ADD": {"Count": 200}}


class Killed(BaseException):
    """The service is killed at this point."""


@pytest.mark.parametrize("point", POINTS)
def test_a_service_killed_at_any_place_crawls_once(world, monkeypatch, point):
    kills = []

    def reach(name):
        if name == point and not kills:
            kills.append(name)
            raise Killed

    for module in (control, firing, crawlers):
        monkeypatch.setattr(module, "reach", reach)
    define(world, Schedule="cron(5 12 * * ? *)")
    define(world, "by-hand")

    def surviving(step):
        try:
            step()
        except Killed:
            world.controller = world.another_controller()

    surviving(lambda: world.steps(301))
    surviving(world.steps)
    surviving(lambda: world.call("StartCrawler", Name="by-hand"))
    surviving(world.steps)
    assert kills == [point]
    assert len(crawls(world)) == 1
    assert len(crawls(world, "by-hand")) == (0 if point == "service.adding_crawl" else 1)
    end(world)
    if crawls(world, "by-hand"):
        end(world, "by-hand")
    with world.store.changes() as changes:
        assert changes.runs_in(OPEN) == []


@pytest.mark.parametrize(
    ("one", "words"),
    [
        ({"FilterOperator": "EQ", "FieldValue": "7"}, "FieldName of a filter is None"),
        ({"FieldName": "START_TIME", "FieldValue": "7"}, "FilterOperator of START_TIME is None"),
        ({"FieldName": "STATE", "FilterOperator": "GT", "FieldValue": "FAILED"}, "FilterOperator of STATE is GT"),
        ({"FieldName": "CRAWL_ID", "FieldValue": "x"}, "FilterOperator of CRAWL_ID is None"),
        ({"FieldName": "DPU_HOUR", "FilterOperator": "GT"}, "FieldValue of DPU_HOUR is missing"),
        ({"FieldName": "DPU_HOUR", "FilterOperator": "GT", "FieldValue": "nan"}, "use a number"),
    ],
)
def test_filters_of_crawls_that_cannot_be_compared_are_refused_before_there_is_a_crawl(world, one, words):
    define(world)
    code, message = refused(world, "ListCrawls", CrawlerName="lake", Filters=[one])
    assert code == "InvalidInputException"
    assert words in message
