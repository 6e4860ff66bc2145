"""What follows for a run from what happened."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gluepot.service.states import (
    ACTIVE,
    OPEN,
    Ended,
    Run,
    State,
    admitted,
    asked_to_stop,
    began,
    effective_arguments,
    ended,
    late,
    retried,
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
    second = retried(first, 10)
    assert (second.id, second.attempt, second.previous_id, second.state) == (
        "jr_1_attempt_1",
        1,
        "jr_1",
        State.STARTING,
    )
    third = retried(ended(second, Ended(12, 1)), 13)
    assert (third.id, third.previous_id) == ("jr_1_attempt_2", "jr_1_attempt_1")
    assert retried(ended(third, Ended(15, 1)), 16) is None


@pytest.mark.parametrize("state", [state for state in State if state is not State.FAILED])
def test_nothing_else_is_tried_again(state):
    assert retried(replace(RUNNING, state=state), 10) is None


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
    chosen = admitted(runs, active, 5)
    for job in set(waiting):
        mine = [run.number for run in chosen if run.job == job]
        free = max(0, most.get(job, 1) - active.get(job, 0))
        assert mine == [run.number for run in runs if run.job == job][:free]
    assert all(run.state is State.STARTING for run in chosen)


def test_a_run_is_kept_as_json_and_a_newer_versions_members_are_left_out():
    assert Run.of(1, "jr_1", "daily", State.STARTING, {**RUN.details(), "newer": 1}) == RUN


def test_open_runs_are_those_that_end_by_themselves():
    assert set(OPEN) - set(ACTIVE) == {State.WAITING}
