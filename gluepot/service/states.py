"""A run of a job, and what follows for it from what happened. Pure functions over plain values (docs/glue 11.3)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from enum import Enum
from typing import Any


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


@dataclass(frozen=True, slots=True)
class Run:
    """A run of a job.

    Args:
        number: its place in the order of all runs.
        id: `jr_` and 64 hexadecimal digits; later attempts have `_attempt_N` behind it.
        job: the job's name.
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
        trigger: what started it; empty for a run that a caller started.
        chain: shared by all runs that descend from one firing; a workflow run's id inside a workflow, else an id of our
            own. Empty for a run that a caller started.
        workflow: of which it is a part; empty for none.
        predecessors: the runs that met the conditions of its trigger, as `Predecessor` of the API.
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
    trigger: str = ""
    chain: str = ""
    workflow: str = ""
    predecessors: Sequence[Mapping[str, str]] = ()

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
            if one.name not in {"number", "id", "job", "state"}
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
        error: what its log says about a failure.
    """

    at_ms: int
    exit_code: int | None
    error: str = ""


def began(run: Run, at_ms: int) -> Run:
    """Return the run after its process began."""
    if run.state is not State.STARTING:
        return run
    return replace(run, state=State.RUNNING, running_ms=at_ms, modified_ms=at_ms)


def asked_to_stop(run: Run, now_ms: int) -> Run:
    """Return the run after somebody asked to stop it. One that waits has nothing to stop."""
    if run.state is State.WAITING:
        return replace(run, state=State.STOPPED, modified_ms=now_ms, completed_ms=now_ms)
    return replace(run, state=State.STOPPING, modified_ms=now_ms)


def late(run: Run, now_ms: int) -> bool:
    """Return whether a run has used up its time."""
    limit_ms = run.timeout_secs * 1000
    return run.state is State.RUNNING and 0 < limit_ms <= now_ms - run.running_ms


def ended(run: Run, end: Ended) -> Run:
    """Return the run after its process ended."""
    state, error = _outcome(run, end)
    return replace(run, state=state, error=error, modified_ms=end.at_ms, completed_ms=end.at_ms)


def _outcome(run: Run, end: Ended) -> tuple[State, str]:
    if end.exit_code == 0 and run.state is not State.STOPPING:
        return State.SUCCEEDED, ""
    if run.times_out:
        return State.TIMEOUT, f"The run took longer than its timeout of {run.timeout_secs // 60} minutes."
    if run.state is State.STOPPING:
        return State.STOPPED, ""
    if end.exit_code is None:
        return State.FAILED, "The process of the run ended without a trace; it was killed, or the machine went down."
    if end.exit_code < 0:
        return State.FAILED, f"The process of the run was killed by signal {-end.exit_code}."
    return State.FAILED, end.error or f"Command failed with exit code {end.exit_code}"


def retried(run: Run, now_ms: int) -> Run | None:
    """Return the next attempt of a run; None if it needs none or has had all of them.

    Only what failed is tried again. A later attempt has the id of the first one and `_attempt_N`.
    """
    if run.state is not State.FAILED or run.attempt >= int(run.definition.get("MaxRetries", 0)):
        return None
    first = run.id.partition("_attempt_")[0]
    return replace(
        run,
        number=0,
        id=f"{first}_attempt_{run.attempt + 1}",
        state=State.STARTING,
        attempt=run.attempt + 1,
        previous_id=run.id,
        started_ms=now_ms,
        running_ms=0,
        modified_ms=now_ms,
        completed_ms=0,
        error="",
    )


def settled(run: Run) -> bool:
    """Return whether a run has its final outcome: it has ended, and it will not be tried again."""
    return run.state not in OPEN and retried(run, 0) is None


def queued(run: Run) -> Run:
    """Return a run that has to wait, because the job's limit is reached."""
    limit = f"{most_concurrent(run.definition)} runs of the job at a time"
    return replace(run, state=State.WAITING, waits_for=f"The limit of {limit} is reached.")


def admitted(waiting: Sequence[Run], active: Mapping[str, int], now_ms: int) -> list[Run]:
    """Return the waiting runs that may start now, the oldest first.

    Args:
        waiting: runs that wait, the oldest first.
        active: how many runs of each job are active.
        now_ms: milliseconds since 1970.
    """
    counts = dict(active)
    chosen = []
    for run in waiting:
        if counts.get(run.job, 0) < most_concurrent(run.definition):
            counts[run.job] = counts.get(run.job, 0) + 1
            chosen.append(replace(run, state=State.STARTING, waits_for="", modified_ms=now_ms))
    return chosen


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
