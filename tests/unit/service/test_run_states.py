"""What follows for a run from what happened."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gluepot.service.decisions.states import (
    ACTIVE,
    OPEN,
    Ended,
    Run,
    State,
    admitted,
    asked_to_stop,
    began,
    continued,
    delayed,
    effective_arguments,
    ended,
    expiring,
    for_service_limit,
    in_maintenance,
    in_places,
    late,
    settled,
)

RUN = Run(1, "jr_1", "daily", State.STARTING, {"MaxRetries": 2, "Timeout": 5}, started_ms=1000)
RUNNING = began(RUN, 2000)


def test_a_run_runs_from_the_begin_of_its_process():
    assert (RUNNING.state, RUNNING.running_ms) == (State.RUNNING, 2000)
    stopping = asked_to_stop(RUN, 1500)
    assert began(stopping, 2000) == stopping


@pytest.mark.parametrize(
    ("run", "end", "state", "error"),
    [
        (RUNNING, Ended(9, 0), State.SUCCEEDED, ""),
        (RUNNING, Ended(9, 1, "ValueError: no"), State.FAILED, "ValueError: no"),
        (RUNNING, Ended(9, 3), State.FAILED, "Command failed with exit code 3"),
        (RUNNING, Ended(9, -9), State.FAILED, "The process of the run was killed by signal 9."),
        (
            RUNNING,
            Ended(9, None),
            State.FAILED,
            "The process of the run ended without a trace; it was killed, or the machine went down.",
        ),
        (asked_to_stop(RUNNING, 5), Ended(9, 143), State.STOPPED, ""),
        (asked_to_stop(RUNNING, 5), Ended(9, 0), State.STOPPED, ""),
        (
            replace(asked_to_stop(RUNNING, 5), times_out=True),
            Ended(9, 143),
            State.TIMEOUT,
            "The run took longer than its timeout of 5 minutes.",
        ),
    ],
)
def test_the_end_of_a_process_is_the_end_of_its_run(run, end, state, error):
    done = ended(run, end)
    assert (done.state, done.error, done.completed_ms) == (state, error, 9)


def test_what_failed_is_tried_again_as_often_as_the_job_says():
    first = ended(RUNNING, Ended(9, 1))
    second = continued(first, 10)
    assert (second.id, second.attempt, second.previous_id, second.state) == (
        "jr_1_attempt_1",
        1,
        "jr_1",
        State.STARTING,
    )
    third = continued(ended(second, Ended(12, 1)), 13)
    assert (third.id, third.previous_id) == ("jr_1_attempt_2", "jr_1_attempt_1")
    assert continued(ended(third, Ended(15, 1)), 16) is None


@pytest.mark.parametrize("state", sorted({*State} - {State.FAILED, State.EXPIRED}, key=str))
def test_nothing_else_is_tried_again(state):
    assert continued(replace(RUNNING, state=state), 10) is None


def test_a_run_is_late_when_its_minutes_have_passed_since_it_runs():
    assert not late(RUNNING, 2000 + 5 * 60_000 - 1)
    assert late(RUNNING, 2000 + 5 * 60_000)
    assert not late(replace(RUNNING, definition={}), 10**12)
    assert not late(replace(RUNNING, state=State.STOPPING), 10**12)


def test_a_run_that_waits_stops_at_once():
    stopped = asked_to_stop(replace(RUN, state=State.WAITING), 7)
    assert (stopped.state, stopped.completed_ms) == (State.STOPPED, 7)


def test_the_callers_arguments_win_but_for_those_that_the_job_keeps():
    definition = {
        "DefaultArguments": {"--a": "default", "--b": "default", "--c": "default"},
        "NonOverridableArguments": {"--c": "fixed"},
    }
    run = replace(RUN, definition=definition, arguments={"--b": "mine", "--c": "mine", "--d": "mine"})
    assert effective_arguments(run) == {"--a": "default", "--b": "mine", "--c": "fixed", "--d": "mine"}


@given(
    st.lists(st.sampled_from(["a", "b", "c"]), max_size=12),
    st.dictionaries(st.sampled_from(["a", "b"]), st.integers(0, 3)),
    st.dictionaries(st.sampled_from(["a", "b", "c"]), st.integers(1, 4)),
)
def test_no_job_gets_more_runs_than_it_may_have_and_none_is_passed_over(waiting, active, most):
    runs = [
        replace(
            RUN,
            number=number,
            job=job,
            state=State.WAITING,
            definition={"ExecutionProperty": {"MaxConcurrentRuns": most.get(job, 1)}},
        )
        for number, job in enumerate(waiting)
    ]
    chosen = admitted(runs, active, None, 5).starting
    for job in set(waiting):
        mine = [run.number for run in chosen if run.job == job]
        free = max(0, most.get(job, 1) - active.get(job, 0))
        assert mine == [run.number for run in runs if run.job == job][:free]
    assert all(run.state is State.STARTING for run in chosen)


MINUTE_MS = 60_000
HOUR_MS = 60 * MINUTE_MS
MONDAY_MS = 1_772_409_600_000  # 2 March 2026, midnight


def waiting(number, *, flex=False, since_ms=0):
    definition = {"ExecutionClass": "FLEX" if flex else "STANDARD"}
    run = replace(RUN, number=number, job=f"job {number}", state=State.WAITING, definition=definition)
    return replace(run, started_ms=since_ms)


@pytest.mark.parametrize(
    ("now_ms", "order"),
    [(14 * MINUTE_MS, [2, 3, 1]), (15 * MINUTE_MS, [1, 2, 3])],
    ids=["flex comes last", "flex is forced after 15 minutes"],
)
def test_runs_of_the_class_flex_let_others_pass_for_a_while(now_ms, order):
    runs = [waiting(1, flex=True), waiting(2), waiting(3)]
    queue = admitted(runs, {"other": 2}, 2, now_ms)
    assert [run.number for run in queue.starting] == order[:2]
    assert queue.given_up == []


def test_a_run_of_the_class_flex_gives_up_after_20_minutes_and_others_never():
    runs = [for_service_limit(waiting(1, flex=True), 1), waiting(2)]
    queue = admitted(runs, {"other": 1}, 0, 21 * MINUTE_MS)
    assert queue.starting == []
    [given_up] = queue.given_up
    assert (given_up.number, given_up.state, given_up.completed_ms) == (1, State.FAILED, 21 * MINUTE_MS)
    assert given_up.error == (
        "The run waited for 20 minutes. The limit of 1 runs of the service at a time is reached (`gluepot serve"
        " --max-runs`)."
    )


@given(st.lists(st.booleans(), max_size=8), st.integers(0, 5), st.none() | st.integers(1, 5))
def test_the_service_starts_no_more_runs_than_it_may(flex, running, most):
    runs = [waiting(number, flex=one) for number, one in enumerate(flex)]
    start, wait = in_places(runs, running, most)
    assert sorted(run.number for run in (*start, *wait)) == list(range(len(runs)))
    assert len(start) == (len(runs) if most is None else min(len(runs), max(0, most - running)))
    assert [run.number for run in (*start, *wait)] == sorted(range(len(runs)), key=lambda number: flex[number])


STREAM = replace(
    RUNNING,
    definition={"Command": {"Name": "gluestreaming"}, "MaintenanceWindow": "Mon:10"},
    running_ms=MONDAY_MS + 9 * HOUR_MS,
)


@pytest.mark.parametrize(
    ("run", "hour", "due"),
    [
        (STREAM, 9.99, False),
        (STREAM, 10, True),
        (STREAM, 12.99, True),
        (STREAM, 13, False),
        (STREAM, 7 * 24 + 9.99, False),
        (STREAM, 7 * 24 + 10, True),
        (replace(STREAM, running_ms=MONDAY_MS + 10 * HOUR_MS), 11, False),
        (replace(STREAM, state=State.STOPPING), 10, False),
        (replace(STREAM, definition={**STREAM.definition, "MaintenanceWindow": "Sun:23"}), 10, False),
        (replace(STREAM, definition={**STREAM.definition, "MaintenanceWindow": "Sun:23"}), 6 * 24 + 23, True),
        (replace(STREAM, definition={**STREAM.definition, "Timeout": 7 * 24 * 60}), 10, False),
        (replace(STREAM, definition={**STREAM.definition, "Timeout": 7 * 24 * 60 + 1}), 10, True),
        (replace(STREAM, definition={**STREAM.definition, "Command": {"Name": "glueetl"}}), 10, False),
        (replace(STREAM, definition={"Command": {"Name": "gluestreaming"}}), 10, False),
    ],
)
def test_a_stream_starts_anew_once_in_its_weekly_window(run, hour, due):
    assert in_maintenance(run, MONDAY_MS + round(hour * HOUR_MS)) is due


def test_a_stream_that_has_expired_goes_on_as_another_run():
    done = ended(expiring(STREAM, 5), Ended(9, 0))
    assert (done.state, settled(done)) == (State.EXPIRED, False)
    second = continued(done, 10)
    assert (second.id, second.state, second.previous_id, second.expires) == (
        "jr_1_restart_1",
        State.STARTING,
        "jr_1",
        False,
    )
    third = continued(ended(expiring(second, 11), Ended(12, 0)), 13)
    assert third.id == "jr_1_restart_2"
    failed = continued(ended(replace(third, definition={"MaxRetries": 1}), Ended(14, 1)), 15)
    assert failed.id == "jr_1_attempt_1"
    assert continued(ended(expiring(failed, 16), Ended(17, 0)), 18).id == "jr_1_attempt_1_restart_1"


def test_a_stream_that_somebody_stops_while_it_expires_stays_stopped():
    done = ended(asked_to_stop(expiring(STREAM, 5), 6), Ended(9, 0))
    assert (done.state, settled(done)) == (State.STOPPED, True)


def test_a_delay_is_told_once_for_each_state():
    run = replace(RUN, definition={"NotificationProperty": {"NotifyDelayAfter": 2}}, started_ms=0)
    assert not delayed(run, 2 * MINUTE_MS)
    assert delayed(run, 2 * MINUTE_MS + 1)
    told = replace(run, delays_told=["STARTING"])
    assert not delayed(told, 5 * MINUTE_MS)
    assert delayed(began(told, 5 * MINUTE_MS), 5 * MINUTE_MS)
    assert not delayed(ended(told, Ended(9, 0)), 5 * MINUTE_MS)
    assert not delayed(RUN, 5 * MINUTE_MS)


def test_a_run_is_kept_as_json_and_a_newer_versions_members_are_left_out():
    assert Run.of(1, "jr_1", "daily", State.STARTING, {**RUN.details(), "newer": 1}) == RUN


def test_open_runs_are_those_that_end_by_themselves():
    assert set(OPEN) - set(ACTIVE) == {State.WAITING}
