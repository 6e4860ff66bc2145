"""Triggers in simulated time, and the functions that decide about them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gluepot.service.decisions.states import Run, State, settled
from gluepot.service.decisions.triggers import FiredBy, Trigger, TriggerState, met, to_fire, triggered
from gluepot.service.errors import ServiceError

DAILY = "cron(15 12 * * ? *)"
MINUTES = 60.0


def refused(world, operation, **request):
    with pytest.raises(ServiceError) as found:
        world.call(operation, **request)
    return found.value


def on_schedule(world, name="at-a-quarter", job="load", schedule=DAILY, **more):
    world.call(
        "CreateTrigger",
        Name=name,
        Type="SCHEDULED",
        Schedule=schedule,
        Actions=[{"JobName": job}],
        StartOnCreation=True,
        **more,
    )


def on_demand(world, name, *jobs, **more):
    world.call("CreateTrigger", Name=name, Type="ON_DEMAND", Actions=[{"JobName": job} for job in jobs], **more)


def when(world, name, conditions, *jobs, logical="AND", **more):
    world.call(
        "CreateTrigger",
        Name=name,
        Type="CONDITIONAL",
        Predicate={
            "Logical": logical,
            "Conditions": [
                {"LogicalOperator": "EQUALS", "JobName": job, "State": state} for job, state in conditions.items()
            ],
        },
        Actions=[{"JobName": job} for job in jobs],
        **{"StartOnCreation": True, **more},
    )


def test_a_schedule_starts_a_run_at_its_time_each_day(world):
    world.job("load")
    on_schedule(world)
    world.steps(14 * MINUTES)
    assert world.states("load") == []
    world.steps(1 * MINUTES)
    assert world.states("load") == ["RUNNING"]
    assert world.runs("load")[0]["TriggerName"] == "at-a-quarter"
    world.end("load")
    world.steps(23 * 60 * MINUTES)
    assert world.states("load") == ["SUCCEEDED"]
    world.steps(60 * MINUTES)
    assert world.states("load") == ["SUCCEEDED", "RUNNING"]


def test_two_controllers_fire_a_schedule_once(world):
    world.job("load", ExecutionProperty={"MaxConcurrentRuns": 5})
    on_schedule(world)
    other = world.another_controller()
    world.clock.now += 15 * MINUTES
    with world.store.changes() as changes:
        due = changes.triggers.due(round(world.clock.now * 1000))
    world.controller.step()
    with world.store.changes() as changes:  # the other one has seen the same time, but comes later
        changes.triggers.save(due[0])
    other.step()
    assert world.states("load") == ["STARTING"]


def test_a_time_that_the_service_missed_is_not_made_up_for(world):
    world.job("load")
    on_schedule(world)
    world.steps(60 * MINUTES)
    assert world.states("load") == []
    world.steps((23 * 60 + 15) * MINUTES)
    assert world.states("load") == ["RUNNING"]


def test_a_trigger_fires_by_itself_only_while_it_is_activated(world):
    world.job("load")
    world.call("CreateTrigger", Name="daily", Type="SCHEDULED", Schedule=DAILY, Actions=[{"JobName": "load"}])

    def state():
        return world.call("GetTrigger", Name="daily")["Trigger"]["State"]

    assert state() == "CREATED"
    world.steps(15 * MINUTES)
    assert world.states("load") == []
    world.call("StartTrigger", Name="daily")
    assert state() == "ACTIVATED"
    world.call("StopTrigger", Name="daily")
    assert state() == "DEACTIVATED"
    world.steps(24 * 60 * MINUTES)
    assert world.states("load") == []
    world.call("StartTrigger", Name="daily")
    update = {"Schedule": "cron(20 12 * * ? *)", "Actions": [{"JobName": "load"}]}
    assert world.call("UpdateTrigger", Name="daily", TriggerUpdate=update)["Trigger"]["State"] == "ACTIVATED"
    world.steps(4 * MINUTES)
    assert world.states("load") == []
    world.steps(1 * MINUTES)
    assert world.states("load") == ["RUNNING"]


def test_starting_a_trigger_again_does_not_skip_a_time_that_is_due(world):
    world.job("load")
    on_schedule(world)
    world.clock.now += 15 * MINUTES
    world.call("StartTrigger", Name="at-a-quarter")
    world.steps()
    assert world.states("load") == ["RUNNING"]


def test_an_action_overrides_arguments_and_timeout(world):
    world.job("load", DefaultArguments={"--day": "monday", "--kept": "yes"}, NonOverridableArguments={"--fixed": "1"})
    action = {"JobName": "load", "Arguments": {"--day": "friday", "--fixed": "2", "--new": "x"}, "Timeout": 7}
    world.call("CreateTrigger", Name="now", Type="ON_DEMAND", Actions=[action])
    world.call("StartTrigger", Name="now")
    assert world.call("GetTrigger", Name="now")["Trigger"]["State"] == "CREATED"
    world.steps()
    run = world.runs("load")[0]
    found = [world.argument(run["Id"], name) for name in ("--day", "--kept", "--fixed", "--new", "--WORKFLOW_NAME")]
    assert found == ["friday", "yes", "1", "x", None]
    assert (run["Timeout"], run["TriggerName"], run["PredecessorRuns"]) == (7, "now", [])


def test_beyond_the_limit_a_run_fails_and_of_a_deleted_job_it_is_an_error(world):
    world.job("load", MaxRetries=3)
    on_demand(world, "now", "load")
    world.call("StartTrigger", Name="now")
    world.call("StartTrigger", Name="now")
    world.steps()
    assert world.states("load") == ["RUNNING", "FAILED"]
    assert world.runs("load")[1]["ErrorMessage"] == "Concurrent runs exceeded for load"
    world.call("DeleteJob", JobName="load")
    world.call("StartTrigger", Name="now")
    world.steps()
    assert world.states("load") == ["RUNNING", "FAILED", "ERROR"]
    assert world.runs("load")[2]["ErrorMessage"] == "Job load not found."


def test_a_job_with_a_queue_waits_instead(world):
    world.job("load", JobRunQueuingEnabled=True)
    on_demand(world, "now", "load")
    world.call("StartTrigger", Name="now")
    world.call("StartTrigger", Name="now")
    world.steps()
    assert world.states("load") == ["RUNNING", "WAITING"]
    world.processes.stop(world.runs("load")[0]["Id"])  # its process is killed
    world.steps()
    assert world.states("load") == ["FAILED", "RUNNING"]


def test_a_chain_goes_on_when_all_conditions_are_met(world):
    for name in ("extract", "count", "load"):
        world.job(name)
    on_demand(world, "begin", "extract", "count")
    when(world, "then", {"extract": "SUCCEEDED", "count": "SUCCEEDED"}, "load")
    world.call("StartTrigger", Name="begin")
    world.steps()
    world.end("extract")
    assert world.states("load") == []
    world.end("count")
    assert world.states("load") == ["RUNNING"]
    run = world.runs("load")[0]
    assert run["TriggerName"] == "then"
    assert run["PredecessorRuns"] == [
        {"JobName": name, "RunId": world.runs(name)[0]["Id"]} for name in ("extract", "count")
    ]


def test_any_condition_fires_once_in_a_chain(world):
    for name in ("extract", "count", "load"):
        world.job(name)
    on_demand(world, "begin", "extract", "count")
    when(world, "then", {"extract": "SUCCEEDED", "count": "SUCCEEDED"}, "load", logical="ANY")
    for times in (1, 2):
        world.call("StartTrigger", Name="begin")
        world.steps()
        world.end("count")
        world.end("extract")
        world.end("load")
        assert world.states("load") == ["SUCCEEDED"] * times


def test_runs_that_a_caller_started_and_those_of_other_chains_do_not_count(world):
    for name in ("extract", "count", "load"):
        world.job(name)
    on_demand(world, "one", "extract")
    on_demand(world, "other", "count")
    when(world, "then", {"extract": "SUCCEEDED", "count": "SUCCEEDED"}, "load")
    world.call("StartJobRun", JobName="extract")
    world.call("StartJobRun", JobName="count")
    world.steps()
    world.end("extract")
    world.end("count")
    for name in ("one", "other"):
        world.call("StartTrigger", Name=name)
    world.steps()
    world.end("extract")
    world.end("count")
    assert world.states("load") == []


def test_a_condition_looks_at_the_outcome_after_all_attempts(world):
    world.job("extract", MaxRetries=1)
    world.job("repair")
    world.job("load")
    on_demand(world, "begin", "extract")
    when(world, "on-failure", {"extract": "FAILED"}, "repair")
    when(world, "on-success", {"extract": "SUCCEEDED"}, "load")
    world.call("StartTrigger", Name="begin")
    world.steps()
    world.end("extract", 1)
    assert (world.states("repair"), world.states("extract")) == ([], ["FAILED", "RUNNING"])
    world.end("extract")
    assert (world.states("repair"), world.states("load")) == ([], ["RUNNING"])


def test_a_run_that_was_stopped_while_it_waited_and_one_beyond_the_limit_meet_conditions(world):
    world.job("load", JobRunQueuingEnabled=True)
    world.job("full")
    world.job("after")
    on_demand(world, "begin", "load", "full")
    when(world, "stopped", {"load": "STOPPED", "full": "FAILED"}, "after")
    world.call("StartJobRun", JobName="load")
    world.call("StartJobRun", JobName="full")
    world.call("StartTrigger", Name="begin")
    world.steps()
    assert (world.states("load"), world.states("full")) == (["RUNNING", "WAITING"], ["RUNNING", "FAILED"])
    world.call("BatchStopJobRun", JobName="load", JobRunIds=[world.runs("load")[1]["Id"]])
    world.steps()
    assert world.states("after") == ["RUNNING"]


def test_triggers_are_listed_by_the_job_that_they_start(world):
    for name in ("load", "other"):
        world.job(name)
    for number in range(3):
        on_demand(world, f"t{number}", "load", Tags={"number": str(number)})
    on_demand(world, "z", "other")
    first = world.call("ListTriggers", MaxResults=2)
    assert first["TriggerNames"] == ["t0", "t1"]
    second = world.call("ListTriggers", MaxResults=2, NextToken=first["NextToken"])
    assert (second["TriggerNames"], "NextToken" in second) == (["t2", "z"], False)
    found = world.call("GetTriggers", DependentJobName="other")["Triggers"]
    assert [one["Name"] for one in found] == ["z"]
    assert len(world.call("GetTriggers", DependentJobName="nothing")["Triggers"]) == 4
    assert world.call("ListTriggers", Tags={"number": "1"})["TriggerNames"] == ["t1"]
    batch = world.call("BatchGetTriggers", TriggerNames=["z", "y"])
    assert ([one["Name"] for one in batch["Triggers"]], batch["TriggersNotFound"]) == (["z"], ["y"])
    arn = "arn:aws:glue:us-east-1:000000000000:trigger/t1"
    assert world.call("GetTags", ResourceArn=arn)["Tags"] == {"number": "1"}
    world.call("DeleteTrigger", Name="t1")
    world.call("DeleteTrigger", Name="t1")
    assert refused(world, "GetTrigger", Name="t1").code == "EntityNotFoundException"


CONDITION = {"JobName": "load", "State": "SUCCEEDED", "LogicalOperator": "EQUALS"}


@pytest.mark.parametrize(
    ("changes", "code", "reason"),
    [
        ({"Type": "SCHEDULED"}, "InvalidInputException", "needs Schedule"),
        ({"Type": "SCHEDULED", "Schedule": "cron(* * * * ? *)"}, "InvalidInputException", "every 5 minutes"),
        ({"Type": "SCHEDULED", "Schedule": "cron(0 0 30 2 ? *)"}, "InvalidInputException", "never fires"),
        ({"Type": "CONDITIONAL"}, "InvalidInputException", "needs Predicate"),
        ({"Type": "CONDITIONAL", "Predicate": {"Conditions": [CONDITION] * 2}}, "InvalidInputException", "Logical"),
        (
            {"Type": "CONDITIONAL", "Predicate": {"Conditions": [{**CONDITION, "State": "RUNNING"}]}},
            "InvalidInputException",
            "waits for RUNNING",
        ),
        (
            {"Type": "CONDITIONAL", "Predicate": {"Conditions": [{"JobName": "load"}]}},
            "InvalidInputException",
            "JobName and State",
        ),
        ({"Type": "EVENT"}, "InvalidInputException", "needs WorkflowName"),
        ({"StartOnCreation": True}, "InvalidInputException", "StartOnCreation"),
        ({"Actions": []}, "InvalidInputException", "Actions is empty"),
        ({"Actions": [{}]}, "InvalidInputException", "either JobName or CrawlerName"),
        ({"Actions": [{"CrawlerName": "c"}] * 3}, "InvalidInputException", "2 crawlers"),
        ({"Actions": [{"CrawlerName": "c"}]}, "EntityNotFoundException", "Crawler c not found"),
        ({"Actions": [{"JobName": "other"}]}, "EntityNotFoundException", "Job other not found"),
        ({"WorkflowName": "none"}, "EntityNotFoundException", "Workflow none not found"),
        ({"Type": "SOMETIMES"}, "ValidationException", "enum"),
        ({"Name": "there"}, "AlreadyExistsException", "already exists"),
        ({"Name": "there", "Description": "x"}, "IdempotentParameterMismatchException", "different configuration"),
    ],
)
def test_what_is_refused(world, changes, code, reason):
    world.job("load")
    on_demand(world, "there", "load")
    request = {"Name": "new", "Type": "ON_DEMAND", "Actions": [{"JobName": "load"}], **changes}
    found = refused(world, "CreateTrigger", **request)
    assert found.code == code
    assert reason in found.message


JOBS = st.sampled_from("abc")
STATES = st.sampled_from(["SUCCEEDED", "FAILED", "STOPPED"])
CONDITIONS = st.lists(st.tuples(JOBS, STATES), min_size=1, max_size=4)
OUTCOMES = st.frozensets(st.tuples(JOBS, STATES))


def predicate(logical, conditions):
    return {"Logical": logical, "Conditions": [{"JobName": job, "State": state} for job, state in conditions]}


@given(CONDITIONS, OUTCOMES, OUTCOMES)
def test_a_predicate_that_is_met_stays_met_and_all_means_each(conditions, outcomes, more):
    every, one = predicate("AND", conditions), predicate("ANY", conditions)
    assert met(every, outcomes) == (set(conditions) <= outcomes)
    assert met(one, outcomes) == bool(set(conditions) & outcomes)
    for either in (every, one):
        assert met(either, outcomes | more) or not met(either, outcomes)


def run(job, state, attempt=0, retries=0):
    return Run(0, f"jr_{job}_{attempt}", job, state, {"MaxRetries": retries}, attempt=attempt)


@given(
    st.lists(st.builds(run, JOBS, st.sampled_from(State), st.integers(0, 2), st.integers(0, 2)), max_size=6), CONDITIONS
)
def test_only_final_outcomes_fire_triggers_that_watch_the_job(runs, conditions):
    definition = {"Type": "CONDITIONAL", "Predicate": predicate("AND", conditions), "Actions": [{"JobName": "x"}]}
    trigger = Trigger("t", "", TriggerState.ACTIVATED, definition)
    idle = Trigger("idle", "", TriggerState.DEACTIVATED, definition)
    for ended in filter(settled, runs):
        fired = to_fire([trigger, idle], ended, runs)
        reached = {(one.job, one.state.value) for one in runs if settled(one)}
        expected = ended.job in {job for job, _ in conditions} and set(conditions) <= reached
        assert [one.name for one, _ in fired] == (["t"] if expected else [])
        for _, predecessors in fired:
            assert all((one.job, one.state.value) in conditions for one in predecessors)


def test_a_run_that_cannot_be_made_is_in_error():
    definition = {"Command": {"Name": "glueetl", "ScriptLocation": "/job.py"}, "Role": "any"}
    made = triggered({"JobName": "load", "Timeout": 100_000}, definition, 0, FiredBy("t", "c"), "jr_1", 1)
    assert (made.state, "Timeout is 100000" in made.error) == (State.ERROR, True)
