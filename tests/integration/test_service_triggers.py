"""Unmodified boto3 against a running service: triggers and workflows, with scripts that do nothing."""

import json
import os
import time

import pytest

from gluepot.core.clock import SystemClock
from gluepot.service.server import ServeOptions, service
from tests.service_answers import client_of

SECS = 120


@pytest.fixture(scope="module")
def glue(tmp_path_factory):
    environ = {**os.environ, "GLUEPOT_STATE": str(tmp_path_factory.mktemp("service"))}
    with service(ServeOptions(port=0), environ, SystemClock()) as running:
        yield client_of(running)


@pytest.fixture
def define(glue, tmp_path):
    """Define a job whose script has some lines."""

    def make(name, *lines, **definition):
        path = tmp_path / f"{name}.py"
        path.write_text("\n".join(lines) + "\n")
        glue.create_job(Name=name, Role="any", Command={"Name": "glueetl", "ScriptLocation": str(path)}, **definition)

    return make


def awaited(look, done):
    until = time.monotonic() + SECS
    while not done(found := look()):
        assert time.monotonic() < until, found
        time.sleep(0.1)
    return found


def test_a_trigger_fires_and_another_follows(glue, define):
    for name in ("first", "second"):
        define(name, "")
    glue.create_trigger(Name="go", Type="ON_DEMAND", Actions=[{"JobName": "first"}])
    glue.create_trigger(
        Name="then",
        Type="CONDITIONAL",
        Predicate={"Conditions": [{"LogicalOperator": "EQUALS", "JobName": "first", "State": "SUCCEEDED"}]},
        Actions=[{"JobName": "second"}],
        StartOnCreation=True,
    )
    assert glue.get_trigger(Name="then")["Trigger"]["State"] == "ACTIVATED"
    glue.start_trigger(Name="go")
    [run] = awaited(
        lambda: glue.get_job_runs(JobName="second")["JobRuns"],
        lambda runs: runs and runs[0]["JobRunState"] == "SUCCEEDED",
    )
    [first] = glue.get_job_runs(JobName="first")["JobRuns"]
    assert (run["TriggerName"], first["TriggerName"]) == ("then", "go")
    assert run["PredecessorRuns"] == [{"JobName": "first", "RunId": first["Id"]}]


def test_the_jobs_of_a_workflow_find_their_run_and_tell_each_other_values(glue, define, tmp_path):
    # In the words of the scripts that people have: the names come as arguments, the values by the API.
    head = (
        "import sys, json, boto3",
        "from awsglue.utils import getResolvedOptions",
        "args = getResolvedOptions(sys.argv, ['WORKFLOW_NAME', 'WORKFLOW_RUN_ID'])",
        "run = {'Name': args['WORKFLOW_NAME'], 'RunId': args['WORKFLOW_RUN_ID']}",
        "glue = boto3.client('glue')",
    )
    define("produce", *head, "glue.put_workflow_run_properties(**run, RunProperties={'rows': '7'})")
    define(
        "consume",
        *head,
        "found = glue.get_workflow_run_properties(**run)['RunProperties']",
        f"open({str(tmp_path / 'found')!r}, 'w').write(json.dumps(found))",
    )
    glue.create_workflow(Name="pair", DefaultRunProperties={"day": "monday"})
    glue.create_trigger(Name="pair-go", Type="ON_DEMAND", WorkflowName="pair", Actions=[{"JobName": "produce"}])
    glue.create_trigger(
        Name="pair-then",
        Type="CONDITIONAL",
        WorkflowName="pair",
        Predicate={"Conditions": [{"LogicalOperator": "EQUALS", "JobName": "produce", "State": "SUCCEEDED"}]},
        Actions=[{"JobName": "consume"}],
        StartOnCreation=True,
    )
    run_id = glue.start_workflow_run(Name="pair", RunProperties={"day": "friday"})["RunId"]
    run = awaited(
        lambda: glue.get_workflow_run(Name="pair", RunId=run_id, IncludeGraph=True)["Run"],
        lambda run: run["Status"] != "RUNNING",
    )
    assert (run["Status"], run["Statistics"]["SucceededActions"]) == ("COMPLETED", 2), run
    assert json.loads((tmp_path / "found").read_text()) == {"day": "friday", "rows": "7"}
    assert {node["Name"] for node in run["Graph"]["Nodes"]} == {"pair-go", "produce", "pair-then", "consume"}
    assert glue.get_workflow(Name="pair")["Workflow"]["LastRun"]["WorkflowRunId"] == run_id


def test_a_run_of_a_workflow_is_stopped(glue, define):
    define("slow", "import time", "time.sleep(60)")
    glue.create_workflow(Name="slow", MaxConcurrentRuns=1)
    glue.create_trigger(Name="slow-go", Type="ON_DEMAND", WorkflowName="slow", Actions=[{"JobName": "slow"}])
    run_id = glue.start_workflow_run(Name="slow")["RunId"]
    with pytest.raises(glue.exceptions.ConcurrentRunsExceededException):
        glue.start_workflow_run(Name="slow")
    with pytest.raises(glue.exceptions.ConcurrentRunsExceededException):
        glue.start_trigger(Name="slow-go")
    glue.stop_workflow_run(Name="slow", RunId=run_id)
    awaited(lambda: glue.get_workflow_run(Name="slow", RunId=run_id)["Run"], lambda run: run["Status"] == "STOPPED")
    with pytest.raises(glue.exceptions.IllegalWorkflowStateException):
        glue.stop_workflow_run(Name="slow", RunId=run_id)
    assert glue.get_job_runs(JobName="slow")["JobRuns"][0]["JobRunState"] == "STOPPED"


def test_refusals_are_the_exceptions_of_the_client(glue, define):
    define("known", "")
    with pytest.raises(glue.exceptions.InvalidInputException, match="every 5 minutes"):
        glue.create_trigger(
            Name="hasty", Type="SCHEDULED", Schedule="cron(* * * * ? *)", Actions=[{"JobName": "known"}]
        )
    with pytest.raises(glue.exceptions.EntityNotFoundException):
        glue.create_trigger(Name="lost", Type="ON_DEMAND", Actions=[{"JobName": "unknown"}])
    with pytest.raises(glue.exceptions.EntityNotFoundException):
        glue.start_workflow_run(Name="unknown")
    glue.create_trigger(Name="dup", Type="ON_DEMAND", Actions=[{"JobName": "known"}])
    with pytest.raises(glue.exceptions.AlreadyExistsException):
        glue.create_trigger(Name="dup", Type="ON_DEMAND", Actions=[{"JobName": "known"}])
    names = [one["Name"] for page in glue.get_paginator("get_triggers").paginate() for one in page["Triggers"]]
    assert "dup" in names
