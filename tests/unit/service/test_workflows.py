"""Workflows in simulated time, and the functions that decide about them."""

import pytest
import structlog
from hypothesis import given
from hypothesis import strategies as st

from gluepot.service.decisions.triggers import Trigger, TriggerState
from gluepot.service.decisions.workflows import downstream, graph, node_id, warning_about
from tests.unit.service.test_triggers import on_demand, on_schedule, refused, when

MINUTES = 60.0


@pytest.fixture
def log_lines():
    """The lines of the log, by their event."""
    with structlog.testing.capture_logs() as lines:
        yield lambda event: [line for line in lines if line["event"] == event]


@pytest.fixture
def nightly(world):
    """A workflow: extract, then load and count side by side, then report if both succeed."""
    for name in ("extract", "load", "count", "report"):
        world.job(name)
    world.call("CreateWorkflow", Name="nightly", DefaultRunProperties={"day": "monday", "kept": "yes"})
    on_demand(world, "begin", "extract", WorkflowName="nightly")
    when(world, "both", {"extract": "SUCCEEDED"}, "load", "count", WorkflowName="nightly")
    when(world, "last", {"load": "SUCCEEDED", "count": "SUCCEEDED"}, "report", WorkflowName="nightly")
    return world


def start(world, **more):
    run_id = world.call("StartWorkflowRun", Name="nightly", **more)["RunId"]
    world.steps()
    return run_id


def shown(world, run_id, graph=False):
    return world.call("GetWorkflowRun", Name="nightly", RunId=run_id, IncludeGraph=graph)["Run"]


def nodes(run):
    return {node["Name"]: node for node in run["Graph"]["Nodes"]}


def numbers(run):
    return {name.removesuffix("Actions"): number for name, number in run["Statistics"].items() if number}


def test_a_run_goes_through_its_graph_to_the_end(nightly):
    run_id = start(nightly, RunProperties={"day": "friday"})
    extract = nightly.runs("extract")[0]
    assert nightly.argument(extract["Id"], "--WORKFLOW_NAME") == "nightly"
    assert nightly.argument(extract["Id"], "--WORKFLOW_RUN_ID") == run_id
    assert extract["TriggerName"] == "begin"
    assert numbers(shown(nightly, run_id)) == {"Total": 4, "Running": 1}
    nightly.end("extract")
    nightly.end("load")
    nightly.end("count")
    run = shown(nightly, run_id)
    assert (run["Status"], numbers(run)) == ("RUNNING", {"Total": 4, "Running": 1, "Succeeded": 3})
    nightly.end("report")
    run = shown(nightly, run_id, graph=True)
    assert (run["Status"], numbers(run)) == ("COMPLETED", {"Total": 4, "Succeeded": 4})
    assert run["WorkflowRunProperties"] == {"day": "friday", "kept": "yes"}
    assert run["CompletedOn"] >= run["StartedOn"]
    assert [one["JobRunState"] for one in nodes(run)["report"]["JobDetails"]["JobRuns"]] == ["SUCCEEDED"]
    assert nightly.call("GetWorkflow", Name="nightly")["Workflow"]["LastRun"]["WorkflowRunId"] == run_id


def test_a_failure_ends_the_run_without_what_follows(nightly):
    run_id = start(nightly)
    nightly.end("extract")
    nightly.end("load", 1)
    nightly.end("count")
    run = shown(nightly, run_id)
    assert (run["Status"], numbers(run)) == ("COMPLETED", {"Total": 4, "Succeeded": 2, "Failed": 1})
    assert nightly.states("report") == []


def test_the_graph_has_triggers_jobs_and_edges_between_them(nightly):
    workflow = nightly.call("GetWorkflow", Name="nightly", IncludeGraph=True)["Workflow"]
    names = {node["UniqueId"]: node["Name"] for node in workflow["Graph"]["Nodes"]}
    edges = {(names[edge["SourceId"]], names[edge["DestinationId"]]) for edge in workflow["Graph"]["Edges"]}
    assert edges == {
        ("begin", "extract"),
        ("extract", "both"),
        ("both", "load"),
        ("both", "count"),
        ("load", "last"),
        ("count", "last"),
        ("last", "report"),
    }
    assert nodes(workflow)["both"]["TriggerDetails"]["Trigger"]["WorkflowName"] == "nightly"
    assert nodes(workflow)["load"]["JobDetails"] == {"JobRuns": []}
    assert "Graph" not in nightly.call("GetWorkflow", Name="nightly")["Workflow"]


def test_a_run_keeps_the_triggers_that_it_began_with(nightly):
    run_id = start(nightly)
    nightly.call("DeleteTrigger", Name="both")
    nightly.end("extract")
    assert nightly.states("load") == ["RUNNING"]
    assert set(nodes(shown(nightly, run_id, graph=True))) >= {"both", "load"}


def test_a_trigger_that_is_deleted_after_it_fired_does_not_fire_again_in_the_same_run(nightly):
    when(
        nightly,
        "first-one",
        {"load": "SUCCEEDED", "count": "SUCCEEDED"},
        "report",
        logical="ANY",
        WorkflowName="nightly",
    )
    nightly.call("DeleteTrigger", Name="last")
    start(nightly)
    nightly.end("extract")
    nightly.end("load")
    nightly.call("DeleteTrigger", Name="first-one")
    nightly.end("count")
    assert len(nightly.runs("report")) == 1


def test_triggers_inside_and_outside_do_not_mix(nightly):
    nightly.job("outside")
    when(nightly, "watcher", {"extract": "SUCCEEDED"}, "outside")
    on_demand(nightly, "by-hand", "extract")
    start(nightly)
    nightly.end("extract")
    assert (nightly.states("outside"), nightly.states("load")) == ([], ["RUNNING"])
    nightly.call("StartTrigger", Name="by-hand")
    nightly.steps()
    nightly.end("extract")
    assert (nightly.states("outside"), nightly.states("load")) == (["RUNNING"], ["RUNNING"])


def test_a_run_is_stopped_with_its_jobs(nightly):
    run_id = start(nightly)
    nightly.call("StopWorkflowRun", Name="nightly", RunId=run_id)
    assert shown(nightly, run_id)["Status"] == "STOPPING"
    nightly.steps()
    run = shown(nightly, run_id)
    assert (run["Status"], numbers(run)) == ("STOPPED", {"Total": 4, "Stopped": 1})
    again = refused(nightly, "StopWorkflowRun", Name="nightly", RunId=run_id)
    assert again.code == "IllegalWorkflowStateException"


def test_nothing_starts_in_a_run_that_is_being_stopped(nightly):
    run_id = start(nightly)
    nightly.end("extract")
    nightly.call("StopWorkflowRun", Name="nightly", RunId=run_id)
    nightly.end("load")
    nightly.end("count")
    assert shown(nightly, run_id)["Status"] == "STOPPED"
    assert nightly.states("report") == []


def test_properties_are_merged_and_the_defaults_stay(nightly):
    run_id = start(nightly)
    names = {"Name": "nightly", "RunId": run_id}
    nightly.call("PutWorkflowRunProperties", **names, RunProperties={"day": "sunday", "rows": "7"})
    properties = nightly.call("GetWorkflowRunProperties", **names)["RunProperties"]
    assert properties == {"day": "sunday", "kept": "yes", "rows": "7"}
    workflow = nightly.call("GetWorkflow", Name="nightly")["Workflow"]
    assert workflow["DefaultRunProperties"] == {"day": "monday", "kept": "yes"}


def test_beyond_its_limit_a_call_is_refused_and_a_schedule_makes_a_run_in_error(world):
    world.job("load", ExecutionProperty={"MaxConcurrentRuns": 5})
    world.call("CreateWorkflow", Name="nightly", MaxConcurrentRuns=1)
    on_schedule(world, WorkflowName="nightly")
    first = start(world)
    assert refused(world, "StartWorkflowRun", Name="nightly").code == "ConcurrentRunsExceededException"
    world.steps(15 * MINUTES)
    runs = world.call("GetWorkflowRuns", Name="nightly")["Runs"]
    assert [one["Status"] for one in runs] == ["ERROR", "RUNNING"]
    assert runs[0]["ErrorMessage"] == "Concurrent runs exceeded for workflow: nightly."
    world.end("load")
    assert shown(world, first)["Status"] == "COMPLETED"
    world.steps(24 * 60 * MINUTES)
    page = world.call("GetWorkflowRuns", Name="nightly", MaxResults=2)
    assert [one["Status"] for one in page["Runs"]] == ["RUNNING", "ERROR"]
    rest = world.call("GetWorkflowRuns", Name="nightly", MaxResults=2, NextToken=page["NextToken"])
    assert [one["WorkflowRunId"] for one in rest["Runs"]] == [first]
    assert world.runs("load")[-1]["TriggerName"] == "at-a-quarter"


def test_starting_its_first_trigger_starts_a_run_of_the_workflow(nightly):
    nightly.call("StartTrigger", Name="begin")
    nightly.steps()
    runs = nightly.call("GetWorkflowRuns", Name="nightly")["Runs"]
    assert [one["Status"] for one in runs] == ["RUNNING"]


def test_a_run_is_resumed_from_the_node_that_failed(nightly):
    first = start(nightly)
    nightly.end("extract")
    nightly.end("count")
    nightly.end("load", 1)
    old = shown(nightly, first, graph=True)
    failed = nodes(old)["load"]["UniqueId"]
    names = {"Name": "nightly", "RunId": first}
    answer = nightly.call("ResumeWorkflowRun", **names, NodeIds=[failed])
    assert answer["NodeIds"] == [failed]
    nightly.steps()
    assert [len(nightly.runs(job)) for job in ("extract", "load", "count", "report")] == [1, 2, 1, 0]
    nightly.end("load")
    assert nightly.states("report") == ["RUNNING"]
    predecessors = {one["JobName"] for one in nightly.runs("report")[0]["PredecessorRuns"]}
    assert predecessors == {"load", "count"}
    nightly.end("report")
    run = shown(nightly, answer["RunId"], graph=True)
    assert (run["Status"], run["PreviousRunId"]) == ("COMPLETED", first)
    assert numbers(run) == {"Total": 4, "Succeeded": 4}
    assert [one["Id"] for one in nodes(run)["extract"]["JobDetails"]["JobRuns"]] == [nightly.runs("extract")[0]["Id"]]


def test_a_resumed_run_can_be_resumed(nightly):
    run_id = start(nightly)
    nightly.end("extract")
    nightly.end("count")
    for _ in range(2):
        nightly.end("load", 1)
        load = node_id("nightly", "JOB", "load")
        run_id = nightly.call("ResumeWorkflowRun", Name="nightly", RunId=run_id, NodeIds=[load])["RunId"]
        nightly.steps()
    nightly.end("load")
    nightly.end("report")
    assert numbers(shown(nightly, run_id)) == {"Total": 4, "Succeeded": 4}
    assert [len(nightly.runs(job)) for job in ("extract", "count", "load", "report")] == [1, 1, 3, 1]


def test_a_node_that_follows_from_another_selected_one_starts_in_its_turn(nightly):
    run_id = start(nightly)
    nightly.end("extract")
    nightly.end("count")
    nightly.end("load", 1)
    wanted = [node_id("nightly", "JOB", name) for name in ("load", "extract")]
    answer = nightly.call("ResumeWorkflowRun", Name="nightly", RunId=run_id, NodeIds=wanted)
    assert answer["NodeIds"] == [wanted[1]]
    nightly.steps()
    assert [len(nightly.runs(job)) for job in ("extract", "load", "count")] == [2, 1, 1]
    nightly.end("extract")
    assert [len(nightly.runs(job)) for job in ("extract", "load", "count")] == [2, 2, 2]


def test_what_cannot_be_resumed(nightly):
    run_id = start(nightly)
    names = {"Name": "nightly", "RunId": run_id}
    load, trigger = node_id("nightly", "JOB", "load"), node_id("nightly", "TRIGGER", "begin")
    assert refused(nightly, "ResumeWorkflowRun", **names, NodeIds=[load]).code == "IllegalWorkflowStateException"
    nightly.end("extract", 1)
    for nodes_given in ([load], [trigger], []):
        assert refused(nightly, "ResumeWorkflowRun", **names, NodeIds=nodes_given).code == "InvalidInputException"


def test_workflows_are_defined_listed_and_deleted(world):
    world.call("CreateWorkflow", Name="a", Description="first", MaxConcurrentRuns=2, Tags={"team": "data"})
    world.call("CreateWorkflow", Name="b")
    assert refused(world, "CreateWorkflow", Name="a").code == "AlreadyExistsException"
    assert refused(world, "CreateWorkflow", Name="c", MaxConcurrentRuns=0).code == "InvalidInputException"
    assert world.call("ListWorkflows")["Workflows"] == ["a", "b"]
    found = world.call("BatchGetWorkflows", Names=["b", "none"], IncludeGraph=True)
    assert [one["Name"] for one in found["Workflows"]] == ["b"]
    assert found["Workflows"][0]["Graph"] == {"Nodes": [], "Edges": []}
    assert found["MissingWorkflows"] == ["none"]
    arn = "arn:aws:glue:us-east-1:000000000000:workflow/a"
    assert world.call("GetTags", ResourceArn=arn)["Tags"] == {"team": "data"}
    world.call("UpdateWorkflow", Name="a", Description="second")
    workflow = world.call("GetWorkflow", Name="a")["Workflow"]
    assert (workflow["Description"], "MaxConcurrentRuns" in workflow) == ("second", False)
    assert refused(world, "StartWorkflowRun", Name="a").code == "InvalidInputException"
    for _ in range(2):
        world.call("DeleteWorkflow", Name="a")
    for operation in ("GetWorkflow", "StartWorkflowRun", "GetWorkflowRuns", "UpdateWorkflow"):
        assert refused(world, operation, Name="a").code == "EntityNotFoundException"
    missing = refused(world, "GetWorkflowRun", Name="b", RunId="wr_none")
    assert missing.code == "EntityNotFoundException"


def test_a_workflow_has_one_trigger_that_starts_it(nightly):
    found = refused(
        nightly, "CreateTrigger", Name="second", Type="EVENT", WorkflowName="nightly", Actions=[{"JobName": "load"}]
    )
    assert (found.code, "begin" in found.message) == ("InvalidInputException", True)


def test_a_trigger_of_a_deleted_workflow_starts_nothing(world):
    world.job("load")
    world.call("CreateWorkflow", Name="nightly")
    on_schedule(world, WorkflowName="nightly")
    world.call("DeleteWorkflow", Name="nightly")
    world.steps(15 * MINUTES)
    assert world.states("load") == []


def test_a_service_that_died_between_two_steps_goes_on(nightly):
    run_id = start(nightly)
    nightly.end("extract")
    nightly.controller = nightly.another_controller()
    for name in ("load", "count", "report"):
        nightly.end(name)
    assert shown(nightly, run_id)["Status"] == "COMPLETED"


JOBS = st.sampled_from("abcdef")


def conditional(name, watched, started):
    conditions = [{"JobName": job, "State": "SUCCEEDED"} for job in watched]
    definition = {
        "Type": "CONDITIONAL",
        "Predicate": {"Logical": "ANY", "Conditions": conditions},
        "Actions": [{"JobName": job} for job in started],
    }
    return Trigger(name, "w", TriggerState.ACTIVATED, definition)


GRAPHS = st.lists(
    st.tuples(st.lists(JOBS, min_size=1, max_size=3), st.lists(JOBS, min_size=1, max_size=3)), max_size=6
).map(lambda pairs: [conditional(f"t{at}", *pair) for at, pair in enumerate(pairs)])


@given(GRAPHS, st.sets(JOBS), st.sets(JOBS))
def test_what_is_downstream_is_closed_and_grows_with_its_origin(triggers, jobs, more):
    found = downstream(triggers, jobs)
    assert downstream(triggers, found) <= found
    assert found <= downstream(triggers, jobs | more)
    direct = {action["JobName"] for one in triggers if any(one.watches(job) for job in jobs) for action in one.actions}
    assert direct <= found
    assert downstream(triggers, jobs | more) == found | downstream(triggers, more)


@given(GRAPHS)
def test_each_edge_of_a_graph_leads_from_a_node_to_another(triggers):
    found = graph("w", triggers, {one.name: {} for one in triggers}, {})
    ids = [node["UniqueId"] for node in found["Nodes"]]
    assert len(ids) == len(set(ids))
    for edge in found["Edges"]:
        assert {edge["SourceId"], edge["DestinationId"]} <= set(ids)
        assert edge["SourceId"] != edge["DestinationId"]


NEVER_STARTED = "The conditional trigger later was never started, so it starts nothing; call StartTrigger for it."


def test_a_conditional_trigger_that_was_never_started_is_named_in_the_run_and_in_the_log(nightly, log_lines):
    when(nightly, "later", {"report": "SUCCEEDED"}, "count", WorkflowName="nightly", StartOnCreation=False)
    run_id = start(nightly)
    assert (shown(nightly, run_id)["Status"], shown(nightly, run_id)["ErrorMessage"]) == ("RUNNING", NEVER_STARTED)
    for job in ("extract", "load", "count", "report"):
        nightly.end(job)
    last = nightly.call("GetWorkflow", Name="nightly")["Workflow"]["LastRun"]
    assert (last["Status"], last["ErrorMessage"]) == ("COMPLETED", NEVER_STARTED)
    assert [line["warning"] for line in log_lines("workflow_triggers_inactive")] == [NEVER_STARTED]
    assert [line["trigger"] for line in log_lines("trigger_inactive")] == ["later"]
    nightly.call("StartTrigger", Name="later")
    assert "ErrorMessage" not in shown(nightly, start(nightly))


def test_a_trigger_that_a_person_has_stopped_is_no_oversight(nightly):
    nightly.call("StopTrigger", Name="last")
    assert "ErrorMessage" not in shown(nightly, start(nightly))


def test_the_end_of_a_chain_outside_of_a_workflow_is_in_the_log(world, log_lines):
    for name in ("first", "second", "third"):
        world.job(name)
    on_demand(world, "begin", "first")
    when(world, "next", {"first": "SUCCEEDED"}, "second", StartOnCreation=False)
    when(world, "other", {"third": "SUCCEEDED"}, "second", StartOnCreation=False)
    world.call("StartTrigger", Name="begin")
    world.steps()
    world.end("first")
    assert [line["trigger"] for line in log_lines("trigger_inactive")] == ["next"]


def test_several_triggers_are_one_sentence():
    triggers = [Trigger(name, "w", TriggerState.CREATED, {"Type": "CONDITIONAL"}, 0, 0) for name in "abc"]
    assert warning_about(triggers).startswith("The conditional triggers a, b and c were never started")
    assert warning_about([]) == ""


def test_a_workflow_that_is_created_again_does_not_have_the_runs_of_the_old_one(world):
    world.job("load")
    world.call("CreateWorkflow", Name="nightly")
    world.call("CreateTrigger", Name="start", Type="ON_DEMAND", WorkflowName="nightly", Actions=[{"JobName": "load"}])
    world.call("StartWorkflowRun", Name="nightly")
    world.steps()
    world.end("load")
    world.call("DeleteWorkflow", Name="nightly")
    world.clock.now += 1
    world.call("CreateWorkflow", Name="nightly")
    assert world.call("GetWorkflowRuns", Name="nightly")["Runs"] == []
    assert "LastRun" not in world.call("GetWorkflow", Name="nightly")["Workflow"]
    run_id = world.call("StartWorkflowRun", Name="nightly")["RunId"]
    assert [run["WorkflowRunId"] for run in world.call("GetWorkflowRuns", Name="nightly")["Runs"]] == [run_id]
