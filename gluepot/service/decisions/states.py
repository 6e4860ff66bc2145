"""A run of a job, and what follows for it from what happened. Pure functions over plain values (docs/glue 11.3)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from enum import Enum
from typing import Any

from gluepot.service.decisions.definitions import is_flex, is_stream


class State(Enum):
    """The states of a run, as the API names them."""

    WAITING = "WAITING"
    STARTING = "STARTING"
    RUNNING = "RUNNING"
    STOPPING = "STOPPING"
    STOPPED = "STOPPED"
    SUCCEEDED = "SUCCEEDED"
    FAILED = "FAILED"
    TIMEOUT = "TIMEOUT"
    ERROR = "ERROR"
    EXPIRED = "EXPIRED"


ACTIVE = (State.STARTING, State.RUNNING, State.STOPPING)
"""States in which a run counts towards the job's `MaxConcurrentRuns`."""
OPEN = (State.WAITING, *ACTIVE)
"""States that a run leaves by itself."""
_CRAWLER = "crawler\n"
EVALUATION, RECOMMENDATION = "data quality\nevaluation", "data quality\nrecommendation"
"""What stands for runs of data quality where jobs are named by their names, which have no line break."""
_ATTEMPT, _RESTART = "_attempt_", "_restart_"
_MINUTE_MS = 60_000
_HOUR_MS = 60 * _MINUTE_MS
_WEEK_MS = 7 * 24 * _HOUR_MS
_WINDOW_MS = 3 * _HOUR_MS
_WEEKDAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_FLEX_IS_FORCED_MS, _FLEX_GIVES_UP_MS = 15 * _MINUTE_MS, 20 * _MINUTE_MS


@dataclass(frozen=True, slots=True)
class Run:
    """A run of a job.

    Args:
        number: its place in the order of all runs.
        id: `jr_` and 64 hexadecimal digits; later attempts have `_attempt_N` behind it, and restarts `_restart_N`.
        job: the job's name; of a crawl, the name of the crawler as `crawl_subject` returns it.
        state: where it is.
        definition: the job's definition when the run began, with what the caller chose for this run.
        arguments: those that the caller gave for this run.
        attempt: 0, or which retry this is.
        previous_id: the run that this one repeats.
        started_ms: when it was asked for, in milliseconds since 1970.
        running_ms: when its process began; 0 before.
        modified_ms: when its state changed last.
        completed_ms: when it ended; 0 before.
        error: why it failed.
        waits_for: why it waits.
        times_out: whether it is stopped because its time is up.
        expires: whether it is stopped because its maintenance window has opened; another run goes on for it.
        delays_told: the states of which was told that the run is in them for long.
        trigger: what started it; empty for a run that a caller started.
        chain: shared by all runs that descend from one firing; a workflow run's id inside a workflow, else an id of our
            own. Empty for a run that a caller started.
        workflow: of which it is a part; empty for none.
        predecessors: the runs that met the conditions of its trigger, as `Predecessor` of the API.
        place: where its process is; empty until a service has taken it.
        result: what the process of a crawl has written down.
    """

    number: int
    id: str
    job: str
    state: State
    definition: Mapping[str, Any]
    arguments: Mapping[str, str] = field(default_factory=dict)
    attempt: int = 0
    previous_id: str = ""
    started_ms: int = 0
    running_ms: int = 0
    modified_ms: int = 0
    completed_ms: int = 0
    error: str = ""
    waits_for: str = ""
    times_out: bool = False
    expires: bool = False
    delays_told: Sequence[str] = ()
    trigger: str = ""
    chain: str = ""
    workflow: str = ""
    predecessors: Sequence[Mapping[str, str]] = ()
    place: str = ""
    result: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, number: int, run_id: str, job: str, state: State, details: Mapping[str, Any]) -> Run:
        """Return the run that `details` describes. Members that a newer version wrote are left out."""
        known = {one.name for one in fields(cls)}
        return cls(number, run_id, job, state, **{name: value for name, value in details.items() if name in known})

    def details(self) -> dict[str, Any]:
        """Return all but the columns, for JSON."""
        return {
            one.name: getattr(self, one.name)
            for one in fields(self)
            if one.name not in {"number", "id", "job", "state", "place"}
        }

    @property
    def timeout_secs(self) -> int:
        """How long it may run; 0 for as long as it takes."""
        return int(self.definition.get("Timeout", 0)) * 60


@dataclass(frozen=True, slots=True)
class Ended:
    """How the process of a run ended.

    Args:
        at_ms: when, in milliseconds since 1970.
        exit_code: its exit code; negative for a signal; None if the process left no trace of its end.
        error: what its log, or who gave it up, says about a failure.
        result: what it has written down.
    """

    at_ms: int
    exit_code: int | None
    error: str = ""
    result: Mapping[str, Any] = field(default_factory=dict)


def crawl_subject(crawler: str) -> str:
    """Return what stands for a crawler where jobs are named by their names, which have no line break."""
    return f"{_CRAWLER}{crawler}"


def crawler_of(subject: str) -> str | None:
    """Return the name of the crawler that a subject stands for; None if it is the name of a job."""
    return subject.removeprefix(_CRAWLER) if subject.startswith(_CRAWLER) else None


def subject_of(one: Mapping[str, Any]) -> str:
    """Return what an action or a condition of a trigger is about: the name of a job, or `crawl_subject`."""
    return crawl_subject(one["CrawlerName"]) if "CrawlerName" in one else str(one.get("JobName", ""))


def began(run: Run, at_ms: int) -> Run:
    """Return the run after its process began."""
    if run.state is not State.STARTING:
        return run
    return replace(run, state=State.RUNNING, running_ms=at_ms, modified_ms=at_ms)


def asked_to_stop(run: Run, now_ms: int) -> Run:
    """Return the run after somebody asked to stop it. One that waits has nothing to stop."""
    if run.state is State.WAITING:
        return replace(run, state=State.STOPPED, modified_ms=now_ms, completed_ms=now_ms)
    if run.state is State.STOPPING:
        return replace(run, expires=False)
    return replace(run, state=State.STOPPING, modified_ms=now_ms)


def out_of_time(run: Run, now_ms: int) -> Run:
    """Return the run after its time was up."""
    return replace(asked_to_stop(run, now_ms), times_out=True)


def expiring(run: Run, now_ms: int) -> Run:
    """Return the run after its maintenance window opened."""
    return replace(asked_to_stop(run, now_ms), expires=True)


def in_places(starting: Sequence[Run], running: int, most: int | None) -> tuple[list[Run], list[Run]]:
    """Return which runs the service starts now, and which have to wait.

    Args:
        starting: runs that have no process yet, the oldest first; those of the execution class FLEX come last.
        running: how many runs have a process.
        most: how many may have one; None for any number.
    """
    ordered = sorted(starting, key=lambda one: is_flex(one.definition))
    places = len(ordered) if most is None else max(0, most - running)
    return ordered[:places], ordered[places:]


def late(run: Run, now_ms: int) -> bool:
    """Return whether a run has used up its time."""
    limit_ms = run.timeout_secs * 1000
    return run.state is State.RUNNING and 0 < limit_ms <= now_ms - run.running_ms


def delayed(run: Run, now_ms: int) -> bool:
    """Return whether to tell now that a run takes longer than `NotifyDelayAfter`: once for each of its states."""
    after_mins = (run.definition.get("NotificationProperty") or {}).get("NotifyDelayAfter")
    if after_mins is None or run.state not in ACTIVE or run.state.value in run.delays_told:
        return False
    return now_ms - run.started_ms > int(after_mins) * _MINUTE_MS


def in_maintenance(run: Run, now_ms: int) -> bool:
    """Return whether a stream has to start anew: its weekly window has opened since it began.

    Streams that end within a week by their timeout are let run.
    """
    window = run.definition.get("MaintenanceWindow")
    if not window or run.state is not State.RUNNING or not is_stream(run.definition):
        return False
    if 0 < run.timeout_secs * 1000 <= _WEEK_MS:
        return False
    return run.running_ms < _opened_ms(window, now_ms) <= now_ms < _opened_ms(window, now_ms) + _WINDOW_MS


def _opened_ms(window: str, now_ms: int) -> int:
    """Return when a weekly window, such as `Sun:10` in UTC, opened last."""
    day, _, hour = window.partition(":")
    # 1970 began on a Thursday.
    opens_ms = ((_WEEKDAYS.index(day.lower()) - _WEEKDAYS.index("thu")) % 7 * 24 + int(hour)) * _HOUR_MS
    return now_ms - (now_ms - opens_ms) % _WEEK_MS


def ended(run: Run, end: Ended) -> Run:
    """Return the run after its process ended."""
    state, error = _outcome(run, end)
    at_ms = end.at_ms
    return replace(run, state=state, error=error, modified_ms=at_ms, completed_ms=at_ms, result=end.result)


def _outcome(run: Run, end: Ended) -> tuple[State, str]:
    if end.exit_code == 0 and run.state is not State.STOPPING:
        return State.SUCCEEDED, ""
    if run.times_out:
        return State.TIMEOUT, f"The run took longer than its timeout of {run.timeout_secs // 60} minutes."
    if run.expires:
        return State.EXPIRED, ""
    if run.state is State.STOPPING:
        return State.STOPPED, ""
    if end.exit_code is None:
        vanished = "The process of the run ended without a trace; it was killed, or the machine went down."
        return State.FAILED, end.error or vanished
    if end.exit_code < 0:
        return State.FAILED, f"The process of the run was killed by signal {-end.exit_code}."
    return State.FAILED, end.error or f"Command failed with exit code {end.exit_code}"


def continued(run: Run, now_ms: int) -> Run | None:
    """Return the run that goes on for one that has ended; None if there is none.

    What failed is tried again `MaxRetries` times: `ID_attempt_1` and so on. A stream that has expired starts anew:
    `ID_restart_1` and so on, or `ID_attempt_1_restart_1`.
    """
    attempt, restart = run.attempt, 0
    if run.state is State.FAILED and run.attempt < int(run.definition.get("MaxRetries", 0)):
        attempt += 1
    elif run.state is State.EXPIRED:
        restart = int(run.id.partition(_RESTART)[2] or 0) + 1
    else:
        return None
    first = first_id(run.id)
    return replace(
        run,
        number=0,
        id=first + (f"{_ATTEMPT}{attempt}" if attempt else "") + (f"{_RESTART}{restart}" if restart else ""),
        state=State.STARTING,
        attempt=attempt,
        previous_id=run.id,
        started_ms=now_ms,
        running_ms=0,
        modified_ms=now_ms,
        completed_ms=0,
        error="",
        expires=False,
        delays_told=(),
        place="",
    )


def first_id(run_id: str) -> str:
    """Return the id that all attempts and restarts of a run begin with: that of the first one."""
    return run_id.partition(_RESTART)[0].partition(_ATTEMPT)[0]


def settled(run: Run) -> bool:
    """Return whether a run has its final outcome: it has ended, and no other run goes on for it."""
    return run.state not in OPEN and continued(run, 0) is None


def for_job_limit(run: Run) -> Run:
    """Return a run that waits because the job's limit is reached."""
    return _waiting(run, f"The limit of {most_concurrent(run.definition)} runs of the job at a time is reached.")


def for_service_limit(run: Run, most: int | None) -> Run:
    """Return a run that waits because the service's limit is reached."""
    return _waiting(run, f"The limit of {most} runs of the service at a time is reached (`gluepot serve --max-runs`).")


def _waiting(run: Run, reason: str) -> Run:
    return replace(run, state=State.WAITING, waits_for=reason)


@dataclass(frozen=True, slots=True)
class Queue:
    """What becomes of runs that wait.

    Args:
        starting: those that start now.
        given_up: those that have waited for too long.
    """

    starting: list[Run]
    given_up: list[Run]


def admitted(waiting: Sequence[Run], active: Mapping[str, int], places: int | None, now_ms: int) -> Queue:
    """Return which waiting runs start now, and which give up.

    The oldest starts first. Runs of the execution class FLEX come after all others for the first 15 minutes, and fail
    when they have waited for 20.

    Args:
        waiting: runs that wait, the oldest first.
        active: how many runs of each job are active.
        places: how many runs may start; None for any number.
        now_ms: milliseconds since 1970.
    """
    counts = dict(active)
    free = math.inf if places is None else places
    starting, given_up = [], []
    for run in sorted(waiting, key=lambda one: _is_patient(one, now_ms)):
        if free > 0 and counts.get(run.job, 0) < most_concurrent(run.definition):
            counts[run.job] = counts.get(run.job, 0) + 1
            free -= 1
            starting.append(replace(run, state=State.STARTING, waits_for="", modified_ms=now_ms))
        elif is_flex(run.definition) and now_ms - run.started_ms > _FLEX_GIVES_UP_MS:
            error = f"The run waited for {_FLEX_GIVES_UP_MS // _MINUTE_MS} minutes. {run.waits_for}"
            given_up.append(
                replace(run, state=State.FAILED, error=error, waits_for="", modified_ms=now_ms, completed_ms=now_ms)
            )
    return Queue(starting, given_up)


def _is_patient(run: Run, now_ms: int) -> bool:
    return is_flex(run.definition) and now_ms - run.started_ms < _FLEX_IS_FORCED_MS


def with_limit_of(run: Run, definition: Mapping[str, Any] | None) -> Run:
    """Return a run that waits for the limit that its job has now; None if there is no such job any more."""
    if definition is None:
        return run
    return replace(run, definition={**run.definition, "ExecutionProperty": definition["ExecutionProperty"]})


def most_concurrent(definition: Mapping[str, Any]) -> int:
    """Return how many runs of a job may be active at a time."""
    return int(definition.get("ExecutionProperty", {}).get("MaxConcurrentRuns", 1))


def effective_arguments(run: Run) -> dict[str, str]:
    """Return the arguments that the script gets.

    The caller's win over the job's defaults, and the job's non-overridable ones win over both.
    """
    return {
        **run.definition.get("DefaultArguments", {}),
        **run.arguments,
        **run.definition.get("NonOverridableArguments", {}),
    }
