"""Data quality over the API in simulated time: rulesets, runs and results; the runs have no processes."""

import json

import pytest

from gluepot.bookmarks.ledger.connect import ledger_url
from gluepot.evaluation.history.store import shared_history
from gluepot.quality.outcomes import RuleOutcome
from gluepot.quality.results import CatalogTable, Result, Source
from gluepot.service.decisions.commands import command_of
from gluepot.service.decisions.states import OPEN, Ended
from gluepot.service.errors import ServiceError
from gluepot.service.operations import quality_runs

RULES = 'Rules = [ RowCount > 10, IsComplete "id" ]'
ORDERS = {"GlueTable": {"DatabaseName": "sales", "TableName": "orders"}}
FOUND = {"id": "dqresult-1", "ruleset": "basic", "score": 0.5, "passed": 1, "failed": 1}


@pytest.fixture
def world(world, tmp_path):
    for name in ("catalog", "ledger"):
        world.service.environ[f"GLUEPOT_{name.upper()}"] = f"sqlite:///{tmp_path / name}.db"
    world.call("CreateDatabase", DatabaseInput={"Name": "sales"})
    storage = {"Columns": [{"Name": "id", "Type": "bigint"}], "Location": "/data/orders"}
    table = {"Name": "orders", "StorageDescriptor": storage, "Parameters": {"classification": "json"}}
    world.call("CreateTable", DatabaseName="sales", TableInput=table)
    return world


def define(world, name="basic", **members):
    return world.call("CreateDataQualityRuleset", Name=name, Ruleset=RULES, **members)


def evaluate(world, **members):
    given = {"DataSource": ORDERS, "Role": "any", "RulesetNames": ["basic"], **members}
    return world.call("StartDataQualityRulesetEvaluationRun", **given)["RunId"]


def recommend(world, **members):
    given = {"DataSource": ORDERS, "Role": "any", **members}
    return world.call("StartDataQualityRuleRecommendationRun", **given)["RunId"]


def evaluation(world, run_id):
    return world.call("GetDataQualityRulesetEvaluationRun", RunId=run_id)


def end(world, run_id, code=0, result=None, error=""):
    world.processes.ends[run_id] = Ended(round(world.clock.now * 1000), code, error, result or {})
    world.steps()


def refused(world, operation, **request):
    with pytest.raises(ServiceError) as caught:
        world.call(operation, **request)
    return caught.value.code, caught.value.message


def test_a_ruleset_is_kept_changed_and_deleted(world):
    target = {"DatabaseName": "sales", "TableName": "orders"}
    assert define(world, Description="first", TargetTable=target, Tags={"team": "shop"}) == {"Name": "basic"}
    found = world.call("GetDataQualityRuleset", Name="basic")
    assert (found["Ruleset"], found["Description"], found["TargetTable"]) == (RULES, "first", target)
    arn = world.service.arn("dataQualityRuleset", "basic")
    assert world.call("GetTags", ResourceArn=arn)["Tags"] == {"team": "shop"}
    world.clock.now += 5
    text = "Rules = [ RowCount > 1 ]"
    assert world.call("UpdateDataQualityRuleset", Name="basic", Ruleset=text)["Description"] == "first"
    changed = world.call("GetDataQualityRuleset", Name="basic")
    assert (changed["Ruleset"], changed["LastModifiedOn"] - changed["CreatedOn"]) == (text, 5)
    world.call("DeleteDataQualityRuleset", Name="basic")
    for operation in ("GetDataQualityRuleset", "DeleteDataQualityRuleset", "UpdateDataQualityRuleset"):
        assert refused(world, operation, Name="basic")[0] == "EntityNotFoundException"
    define(world)
    assert world.call("GetTags", ResourceArn=arn)["Tags"] == {}


def test_a_ruleset_that_is_no_dqdl_is_refused_with_the_place(world):
    code, message = refused(world, "CreateDataQualityRuleset", Name="bad", Ruleset="Rules = [ IsGood ]")
    assert code == "InvalidInputException"
    assert "IsGood" in message
    define(world)
    assert refused(world, "UpdateDataQualityRuleset", Name="basic", Ruleset="Rules = [")[0] == "InvalidInputException"
    assert world.call("GetDataQualityRuleset", Name="basic")["Ruleset"] == RULES


def test_a_client_that_got_no_answer_asks_again_with_its_token(world):
    define(world, ClientToken="t")
    assert define(world, ClientToken="t") == {"Name": "basic"}
    assert refused(world, "CreateDataQualityRuleset", Name="basic", Ruleset=RULES)[0] == "AlreadyExistsException"
    other = {"Name": "basic", "Ruleset": "Rules = [ RowCount > 1 ]", "ClientToken": "t"}
    assert refused(world, "CreateDataQualityRuleset", **other)[0] == "AlreadyExistsException"
    run_id = evaluate(world, ClientToken="r")
    assert evaluate(world, ClientToken="r") == run_id
    another = {"DataSource": ORDERS, "Role": "any", "RulesetNames": ["basic"], "Timeout": 5, "ClientToken": "r"}
    assert refused(world, "StartDataQualityRulesetEvaluationRun", **another)[0] == "InvalidInputException"


def test_rulesets_are_listed_in_pages_by_table_time_and_tags(world):
    for name in ("c", "a", "b"):
        world.clock.now += 10
        table = {"TargetTable": {"DatabaseName": "sales", "TableName": "orders"}} if name != "c" else {}
        define(world, name, Tags={"kind": name}, **table)
    first = world.call("ListDataQualityRulesets", MaxResults=2)
    assert [one["Name"] for one in first["Rulesets"]] == ["a", "b"]
    assert first["Rulesets"][0]["RuleCount"] == 2
    second = world.call("ListDataQualityRulesets", MaxResults=2, NextToken=first["NextToken"])
    assert ([one["Name"] for one in second["Rulesets"]], "NextToken" in second) == (["c"], False)

    def names(**request):
        return [one["Name"] for one in world.call("ListDataQualityRulesets", **request)["Rulesets"]]

    assert names(Filter={"TargetTable": {"DatabaseName": "sales", "TableName": "orders"}}) == ["a", "b"]
    assert names(Filter={"CreatedAfter": world.clock.now - 1}) == ["b"]
    assert names(Tags={"kind": "c"}, MaxResults=1) == ["c"]


def test_a_run_evaluates_rulesets_as_they_are_when_it_starts(world):
    define(world)
    run_id = evaluate(world)
    with world.store.changes() as changes:
        command = command_of(changes.run(run_id), lambda _: b"")
    assert command.argv[1:] == ["-m", "gluepot.job.quality", "request.json"]
    told = json.loads(command.files["request.json"])
    assert (told["id"], told["rulesets"], told["request"]["DataSource"]) == (run_id, {"basic": RULES}, ORDERS)
    started = evaluation(world, run_id)
    assert (started["Status"], started["NumberOfWorkers"], started["Timeout"]) == ("STARTING", 5, 2880)
    world.steps()
    world.steps(5)
    assert evaluation(world, run_id)["Status"] == "RUNNING"
    end(world, run_id, result={"results": [FOUND]})
    done = evaluation(world, run_id)
    assert (done["Status"], done["ResultIds"], done["RulesetNames"]) == ("SUCCEEDED", ["dqresult-1"], ["basic"])
    assert done["ExecutionTime"] == 5
    assert refused(world, "CancelDataQualityRulesetEvaluationRun", RunId=run_id)[0] == "InvalidInputException"


def test_a_run_that_fails_says_why_and_one_that_is_cancelled_stops(world):
    define(world)
    failed, cancelled = evaluate(world), evaluate(world)
    world.steps()
    end(world, failed, 1, error="The files cannot be read.")
    answer = evaluation(world, failed)
    assert (answer["Status"], answer["ErrorString"], "ResultIds" in answer) == (
        "FAILED",
        "The files cannot be read.",
        False,
    )
    world.call("CancelDataQualityRulesetEvaluationRun", RunId=cancelled)
    assert evaluation(world, cancelled)["Status"] == "STOPPING"
    world.steps()
    assert evaluation(world, cancelled)["Status"] == "STOPPED"


def test_a_run_that_takes_too_long_times_out(world):
    define(world)
    run_id = evaluate(world, Timeout=1)
    world.steps()
    world.steps(61)
    world.steps()
    assert evaluation(world, run_id)["Status"] == "TIMEOUT"


@pytest.mark.parametrize(
    ("members", "code", "word"),
    [
        ({"RulesetNames": ["none"]}, "EntityNotFoundException", "none"),
        (
            {"DataSource": {"GlueTable": {"DatabaseName": "sales", "TableName": "none"}}},
            "EntityNotFoundException",
            "none",
        ),
        ({"DataSource": {}}, "InvalidInputException", "GlueTable"),
        ({"DataSource": {**ORDERS, "DataQualityGlueTable": ORDERS["GlueTable"]}}, "InvalidInputException", "two"),
        (
            {"DataSource": {"DataQualityGlueTable": {**ORDERS["GlueTable"], "PreProcessingQuery": "SELECT 1"}}},
            "InvalidInputException",
            "PreProcessingQuery",
        ),
        (
            {"AdditionalRunOptions": {"RowLevelResults": {"S3Configuration": {}}}},
            "InvalidInputException",
            "RowLevelResults",
        ),
        (
            {"AdditionalDataSources": {"other": {"GlueTable": {"DatabaseName": "sales", "TableName": "gone"}}}},
            "EntityNotFoundException",
            "gone",
        ),
    ],
)
def test_what_cannot_be_evaluated_is_refused_before_it_runs(world, members, code, word):
    define(world)
    given = {"DataSource": ORDERS, "Role": "any", "RulesetNames": ["basic"], **members}
    found = refused(world, "StartDataQualityRulesetEvaluationRun", **given)
    assert (found[0], word in found[1]) == (code, True)
    assert world.call("ListDataQualityRulesetEvaluationRuns")["Runs"] == []


def test_a_recommendation_is_answered_once_it_has_ended(world):
    run_id = recommend(world, CreatedRulesetName="proposed")
    started = world.call("GetDataQualityRuleRecommendationRun", RunId=run_id)
    assert (started["Status"], started["CreatedRulesetName"], "RecommendedRuleset" in started) == (
        "STARTING",
        "proposed",
        False,
    )
    world.steps()
    end(world, run_id, result={"ruleset": RULES})
    assert world.call("GetDataQualityRuleRecommendationRun", RunId=run_id)["RecommendedRuleset"] == RULES
    assert refused(world, "GetDataQualityRulesetEvaluationRun", RunId=run_id)[0] == "EntityNotFoundException"
    define(world, "taken")
    given = {"DataSource": ORDERS, "Role": "any", "CreatedRulesetName": "taken"}
    assert refused(world, "StartDataQualityRuleRecommendationRun", **given)[0] == "ConflictException"
    other = recommend(world)
    world.call("CancelDataQualityRuleRecommendationRun", RunId=other)
    world.steps()
    listed = world.call("ListDataQualityRuleRecommendationRuns")["Runs"]
    assert [(one["RunId"], one["Status"]) for one in listed] == [(other, "STOPPED"), (run_id, "SUCCEEDED")]


def test_runs_are_listed_in_pages_by_source_ruleset_and_time(world):
    define(world)
    define(world, "other")
    runs = []
    for number in range(5):
        world.clock.now += 10
        runs.append(evaluate(world, RulesetNames=["other" if number == 3 else "basic"]))
    first = world.call("ListDataQualityRulesetEvaluationRuns", MaxResults=3)
    assert [one["RunId"] for one in first["Runs"]] == runs[:1:-1]
    second = world.call("ListDataQualityRulesetEvaluationRuns", MaxResults=3, NextToken=first["NextToken"])
    assert [one["RunId"] for one in second["Runs"]] == runs[1::-1]

    def found(**wanted):
        listed = world.call("ListDataQualityRulesetEvaluationRuns", Filter={"DataSource": ORDERS, **wanted})
        return [one["RunId"] for one in listed["Runs"]]

    assert found(RulesetName="other") == [runs[3]]
    assert found(StartedAfter=world.clock.now - 1) == [runs[4]]
    assert found(DataSource={"GlueTable": {"DatabaseName": "sales", "TableName": "customers"}}) == []


def result(number, **members):
    outcomes = [RuleOutcome("RowCount > 10", passed=True), RuleOutcome('IsComplete "id"', passed=False, reason="No.")]
    return Result(Source("job", "context"), f"{number}", "", 1000 * number, 1000 * number + 5, outcomes, **members)


def test_results_of_jobs_and_of_runs_are_answered(world):
    history = shared_history(ledger_url(world.service.environ))
    history.save(result(1))
    of_run = result(2, ruleset="basic", ruleset_run_id="dqrun-1", table=CatalogTable("sales", "orders"))
    history.save(of_run)
    [of_job] = [one for one in world.call("ListDataQualityResults")["Results"] if "JobName" in one]
    found = world.call("GetDataQualityResult", ResultId=of_job["ResultId"])
    assert (found["JobName"], found["EvaluationContext"], found["Score"]) == ("job", "context", 0.5)
    many = world.call("BatchGetDataQualityResult", ResultIds=[of_run.id, "none", of_job["ResultId"]])
    assert [one["RulesetName"] for one in many["Results"]] == ["basic", "context"]
    assert many["ResultsNotFound"] == ["none"]
    assert [one["Result"] for one in many["Results"][0]["RuleResults"]] == ["PASS", "FAIL"]
    assert many["Results"][0]["RulesetEvaluationRunId"] == "dqrun-1"
    assert refused(world, "GetDataQualityResult", ResultId="none")[0] == "EntityNotFoundException"
    of_table = world.call("ListDataQualityResults", Filter={"DataSource": ORDERS})["Results"]
    assert [one["ResultId"] for one in of_table] == [of_run.id]
    first = world.call("ListDataQualityResults", MaxResults=1)
    second = world.call("ListDataQualityResults", MaxResults=1, NextToken=first["NextToken"])
    assert (first["Results"][0]["ResultId"], second["Results"][0]["ResultId"]) == (of_run.id, of_job["ResultId"])
    assert "NextToken" not in second


EVENTS, CLOUDWATCH = "AWSEvents", "GraniteServiceVersion20100801"


def test_metrics_and_an_event_tell_what_a_run_has_found_if_it_asks_for_them(world):
    define(world)
    pattern = {"source": ["aws.glue-dataquality"]}
    world.call("PutRule", of=EVENTS, Name="quality", EventPattern=json.dumps(pattern))
    world.call("PutTargets", of=EVENTS, Rule="quality", Targets=[{"Id": "one", "Arn": "http://127.0.0.1:1/hook"}])
    quiet = evaluate(world)
    told = evaluate(world, AdditionalRunOptions={"CloudWatchMetricsEnabled": True})
    world.steps()
    for run_id in (quiet, told):
        end(world, run_id, result={"results": [FOUND]})
    metrics = world.call("ListMetrics", of=CLOUDWATCH, Namespace="Glue Data Quality")["Metrics"]
    assert sorted(one["MetricName"] for one in metrics) == [
        "glue.data.quality.rules.failed",
        "glue.data.quality.rules.passed",
    ]
    assert {"Name": "Ruleset", "Value": "basic"} in metrics[0]["Dimensions"]
    with world.store.changes() as changes:
        [posted] = changes.events.due(10**15, 10)
    event = json.loads(posted.body)
    assert event["detail-type"] == "Data Quality Evaluation Results Available"
    assert event["detail"]["context"]["runId"] == told
    assert (event["detail"]["state"], event["detail"]["numRulesFailed"]) == ("FAILED", 1)


class Killed(BaseException):
    """The service is killed at this point."""


@pytest.mark.parametrize("point", ["service.adding_quality_run", "service.quality_run_added"])
def test_a_service_killed_while_it_adds_a_run_has_added_it_or_not(world, monkeypatch, point):
    def reach(name):
        if name == point:
            raise Killed

    define(world)
    monkeypatch.setattr(quality_runs, "reach", reach)
    with pytest.raises(Killed):
        evaluate(world, ClientToken="t")
    monkeypatch.setattr(quality_runs, "reach", lambda _: None)
    again = evaluate(world, ClientToken="t")
    assert [one["RunId"] for one in world.call("ListDataQualityRulesetEvaluationRuns")["Runs"]] == [again]
    world.steps()
    end(world, again, result={"results": [FOUND]})
    with world.store.changes() as changes:
        assert changes.runs_in(OPEN) == []
