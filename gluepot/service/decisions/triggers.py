"""Triggers: what is refused, when conditions are met, and the runs that a firing starts. Pure (docs/glue 11.7)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from enum import Enum
from typing import Any

from gluepot.crawl.classify.custom import Custom
from gluepot.service.decisions.crawls import Crawler, already_started, last_status, new_crawl
from gluepot.service.decisions.cron import CronError, check_schedule, next_time
from gluepot.service.decisions.definitions import chosen_for_run, for_run, is_crawl
from gluepot.service.decisions.states import Run, State, for_job_limit, most_concurrent, settled, subject_of
from gluepot.service.errors import ServiceError, invalid

SCHEDULED, CONDITIONAL, ON_DEMAND, EVENT = "SCHEDULED", "CONDITIONAL", "ON_DEMAND", "EVENT"
WATCHED_STATES = ("SUCCEEDED", "STOPPED", "FAILED", "TIMEOUT")
"""States of runs that a condition can wait for."""
WATCHED_CRAWLS = ("SUCCEEDED", "FAILED", "CANCELLED")
_MOST_CRAWLERS = 2
# A service that was down or busy for longer than this does not make up for the time that it missed.
GRACE_MS = 60_000


class TriggerState(Enum):
    """The states of a trigger, as the API names them. Those that AWS passes through are left out."""

    CREATED = "CREATED"
    ACTIVATED = "ACTIVATED"
    DEACTIVATED = "DEACTIVATED"


@dataclass(frozen=True, slots=True)
class Trigger:
    """A trigger.

    Args:
        name: its name.
        workflow: of which it is a part; empty for none.
        state: whether it fires by itself.
        definition: `Type`, `Schedule`, `Predicate`, `Actions` and more, as `Trigger` of the API.
        created_ms: milliseconds since 1970.
        modified_ms: milliseconds since 1970.
        next_ms: when its schedule fires next; None if it does not.
    """

    name: str
    workflow: str
    state: TriggerState
    definition: Mapping[str, Any]
    created_ms: int = 0
    modified_ms: int = 0
    next_ms: int | None = None

    @property
    def type(self) -> str:
        """Its type, as the API names it."""
        return str(self.definition["Type"])

    @property
    def actions(self) -> Sequence[Mapping[str, Any]]:
        """What it starts."""
        found: Sequence[Mapping[str, Any]] = self.definition["Actions"]
        return found

    @property
    def conditions(self) -> Sequence[Mapping[str, Any]]:
        """What it waits for."""
        found: Sequence[Mapping[str, Any]] = self.definition.get("Predicate", {}).get("Conditions", ())
        return found

    def starts(self, job: str) -> bool:
        """Return whether it starts a job, or a crawler by its `crawl_subject`."""
        return any(subject_of(action) == job for action in self.actions)

    def watches(self, job: str) -> bool:
        """Return whether one of its conditions is about a job, or a crawler by its `crawl_subject`."""
        return any(subject_of(condition) == job for condition in self.conditions)


@dataclass(frozen=True, slots=True)
class FiredBy:
    """Why runs start.

    Args:
        trigger: the trigger's name.
        chain: as `Run` has it.
        workflow: as `Run` has it.
        predecessors: the runs that met the conditions.
    """

    trigger: str
    chain: str
    workflow: str = ""
    predecessors: Sequence[Run] = ()

    @property
    def jobs(self) -> list[dict[str, str]]:
        """The runs of jobs that met the conditions, as `Predecessor` of the API, which has no crawls."""
        return [{"JobName": one.job, "RunId": one.id} for one in self.predecessors if not is_crawl(one.definition)]


def check_definition(given: Mapping[str, Any], workflow: str, now_ms: int) -> None:
    """Refuse a trigger that AWS Glue refuses.

    Args:
        given: `Trigger` of the API, checked against the model.
        workflow: of which it is a part; empty for none.
        now_ms: milliseconds since 1970.

    Raises:
        ServiceError: `InvalidInputException`.
    """
    match given["Type"]:
        case "SCHEDULED":
            _check_schedule(given.get("Schedule"), now_ms)
        case "CONDITIONAL":
            _check_predicate(given.get("Predicate", {}))
        case "EVENT" if not workflow:
            raise invalid("An EVENT trigger needs WorkflowName; events start workflows.")
    actions = given.get("Actions", ())
    if not actions:
        raise invalid("Actions is empty; name at least one job that the trigger starts.")
    for action in actions:
        if ("JobName" in action) == ("CrawlerName" in action):
            raise invalid("An action needs either JobName or CrawlerName.")
    if sum("CrawlerName" in action for action in actions) > _MOST_CRAWLERS:
        raise invalid(f"A trigger can start {_MOST_CRAWLERS} crawlers; use another trigger for the others.")


def _check_schedule(schedule: str | None, now_ms: int) -> None:
    if not schedule:
        raise invalid("A SCHEDULED trigger needs Schedule, such as cron(15 12 * * ? *).")
    try:
        check_schedule(schedule, _time(now_ms))
    except CronError as error:
        raise invalid(str(error)) from None


def _check_predicate(predicate: Mapping[str, Any]) -> None:
    conditions = predicate.get("Conditions", ())
    if not conditions:
        raise invalid("A CONDITIONAL trigger needs Predicate with at least one condition.")
    if len(conditions) > 1 and "Logical" not in predicate:
        raise invalid("Predicate has several conditions; say with Logical whether ANY or all (AND) are needed.")
    for condition in conditions:
        about = {name for name in ("JobName", "State", "CrawlerName", "CrawlState") if name in condition}
        if about not in ({"JobName", "State"}, {"CrawlerName", "CrawlState"}):
            raise invalid("A condition needs either JobName and State or CrawlerName and CrawlState.")
        state, allowed = (
            (condition["State"], WATCHED_STATES) if "State" in condition else (condition["CrawlState"], WATCHED_CRAWLS)
        )
        if state not in allowed:
            raise invalid(f"A condition waits for {state}; use one of {', '.join(allowed)}.")


def started(trigger: Trigger, now_ms: int) -> Trigger:
    """Return a trigger that fires by itself from now on. An on-demand trigger never does."""
    if trigger.type == ON_DEMAND or trigger.state is TriggerState.ACTIVATED:
        return trigger
    return scheduled(replace(trigger, state=TriggerState.ACTIVATED), now_ms)


def stopped(trigger: Trigger) -> Trigger:
    """Return a trigger that no longer fires by itself."""
    if trigger.type == ON_DEMAND:
        return trigger
    return replace(trigger, state=TriggerState.DEACTIVATED, next_ms=None)


def takes_events(trigger: Trigger) -> bool:
    """Return whether events fire a trigger: one of the type EVENT that nobody has stopped."""
    return trigger.type == EVENT and trigger.state is not TriggerState.DEACTIVATED


def redefined(trigger: Trigger, definition: Mapping[str, Any], now_ms: int) -> Trigger:
    """Return a trigger with another definition. A time that is due is not skipped if the schedule stays."""
    changed = replace(trigger, definition=definition, modified_ms=now_ms)
    if definition.get("Schedule") == trigger.definition.get("Schedule"):
        return changed
    return scheduled(changed, now_ms)


def scheduled(trigger: Trigger, now_ms: int) -> Trigger:
    """Return a trigger that knows when it fires next."""
    if trigger.type != SCHEDULED or trigger.state is not TriggerState.ACTIVATED:
        return replace(trigger, next_ms=None)
    found = next_time(trigger.definition["Schedule"], _time(now_ms))
    return replace(trigger, next_ms=None if found is None else round(found.timestamp() * 1000))


def missed(trigger: Trigger, now_ms: int) -> bool:
    """Return whether the time at which a trigger should have fired is too long ago."""
    return trigger.next_ms is not None and now_ms - trigger.next_ms > GRACE_MS


def met(predicate: Mapping[str, Any], outcomes: AbstractSet[tuple[str, str]]) -> bool:
    """Return whether the conditions of a predicate are met.

    Args:
        predicate: `Predicate` of the API.
        outcomes: the jobs and crawlers, and the final states that their runs have reached.
    """
    each = (_waited_for(condition) in outcomes for condition in predicate["Conditions"])
    return any(each) if predicate.get("Logical") == "ANY" else all(each)


def to_fire(triggers: Iterable[Trigger], ended: Run, runs: Iterable[Run]) -> list[tuple[Trigger, list[Run]]]:
    """Return the triggers that the end of a run fires, each with the runs that met its conditions.

    Args:
        triggers: those that may fire.
        ended: the run, which has its final outcome.
        runs: all runs of the same chain.
    """
    final = [run for run in runs if settled(run)]
    outcomes = set(map(_reached, final))
    return [
        (trigger, _that_met(trigger, final))
        for trigger in triggers
        if trigger.type == CONDITIONAL
        and trigger.state is TriggerState.ACTIVATED
        and trigger.watches(ended.job)
        and met(trigger.definition["Predicate"], outcomes)
    ]


def never_started(triggers: Iterable[Trigger]) -> list[Trigger]:
    """Return the conditional triggers that nobody has started since they were created, so that they start nothing."""
    return [one for one in triggers if one.type == CONDITIONAL and one.state is TriggerState.CREATED]


def would_fire(triggers: Iterable[Trigger], ended: Run, runs: Iterable[Run]) -> list[Trigger]:
    """Return the triggers that were never started and that the end of a run would fire otherwise; see `to_fire`."""
    if not (inactive := never_started(triggers)):
        return []
    active = [replace(one, state=TriggerState.ACTIVATED) for one in inactive]
    return [trigger for trigger, _ in to_fire(active, ended, runs)]


def _that_met(trigger: Trigger, final: Iterable[Run]) -> list[Run]:
    wanted = set(map(_waited_for, trigger.conditions))
    return [run for run in final if _reached(run) in wanted]


def _waited_for(condition: Mapping[str, Any]) -> tuple[str, str]:
    return subject_of(condition), str(condition.get("CrawlState") or condition.get("State"))


def _reached(run: Run) -> tuple[str, str]:
    return run.job, last_status(run) if is_crawl(run.definition) else run.state.value


def triggered(
    action: Mapping[str, Any], definition: Mapping[str, Any] | None, active: int, by: FiredBy, run_id: str, now_ms: int
) -> Run:
    """Return the run that an action of a trigger starts.

    It is in ERROR if it cannot start at all, FAILED beyond the job's limit, and waits there if the job has a queue.

    Args:
        action: `Action` of the API, with the name of a job.
        definition: of the job; None if there is no such job any more.
        active: how many runs of the job are active.
        by: why it starts.
        run_id: its id.
        now_ms: milliseconds since 1970.
    """
    run = Run(
        0,
        run_id,
        action["JobName"],
        State.STARTING,
        definition or {},
        action.get("Arguments", {}),
        started_ms=now_ms,
        modified_ms=now_ms,
        trigger=by.trigger,
        chain=by.chain,
        workflow=by.workflow,
        predecessors=by.jobs,
    )
    if definition is None:
        return _not_started(run, State.ERROR, f"Job {run.job} not found.", now_ms)
    try:
        run = replace(run, definition=for_run(definition, chosen_for_run(action)))
    except ServiceError as refused:
        return _not_started(run, State.ERROR, refused.message, now_ms)
    if active < most_concurrent(run.definition):
        return run
    if run.definition["JobRunQueuingEnabled"]:
        return for_job_limit(run)
    return _not_started(run, State.FAILED, f"Concurrent runs exceeded for {run.job}", now_ms)


def triggered_crawl(
    action: Mapping[str, Any],
    crawler: Crawler | None,
    classifiers: Sequence[Custom],
    crawls: int,
    by: FiredBy,
    run_id: str,
    now_ms: int,
    *,
    tells: bool = False,
) -> Run:
    """Return the crawl that an action of a trigger starts.

    It is in ERROR if there is no such crawler any more, and FAILED if the crawler runs already.

    Args:
        action: `Action` of the API, with the name of a crawler.
        crawler: None if there is none of this name.
        classifiers: of the crawler.
        crawls: how many crawls of it go on.
        by: why it starts.
        run_id: its id.
        now_ms: milliseconds since 1970.
        tells: whether anybody listens to changes of the catalog.
    """
    name = action["CrawlerName"]
    there = crawler or Crawler(name, {})
    of_trigger = {"trigger": by.trigger, "chain": by.chain, "workflow": by.workflow, "predecessors": by.jobs}
    run = new_crawl(there, classifiers, run_id, now_ms, tells=tells, **of_trigger)
    if crawler is None:
        return _not_started(run, State.ERROR, f"Crawler {name} not found.", now_ms)
    return _not_started(run, State.FAILED, already_started(name), now_ms) if crawls else run


def _not_started(run: Run, state: State, why: str, now_ms: int) -> Run:
    # Without retries: another attempt at once would meet the same limit.
    definition = {**run.definition, "MaxRetries": 0}
    return replace(run, state=state, definition=definition, error=why, completed_ms=now_ms)


def _time(at_ms: int) -> datetime:
    return datetime.fromtimestamp(at_ms / 1000, UTC)
