"""Fires triggers and moves runs of workflows on, each firing in one transaction with the runs that it starts.

Four things fire a trigger: a call, its schedule, the end of runs, and events. A firing is a row whose key is the
trigger and the occasion, so that two controllers cannot both fire it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any
from uuid import uuid4

from gluepot.core.failpoints import reach
from gluepot.core.logging import get_logger
from gluepot.crawl.classify.custom import Custom
from gluepot.service.context import new_id
from gluepot.service.controllers.publishing import publish
from gluepot.service.decisions.crawls import Crawler, new_crawl, timed
from gluepot.service.decisions.definitions import is_quality_run
from gluepot.service.decisions.quality_runs import quality_data
from gluepot.service.decisions.states import ACTIVE, OPEN, Run, asked_to_stop, crawl_subject, settled, subject_of
from gluepot.service.decisions.triggers import (
    GRACE_MS,
    FiredBy,
    Trigger,
    missed,
    scheduled,
    takes_events,
    to_fire,
    triggered,
    triggered_crawl,
    would_fire,
)
from gluepot.service.decisions.workflows import (
    Status,
    Workflow,
    WorkflowRun,
    concurrent_runs_exceeded,
    first_trigger,
    full,
    node_id,
    node_of,
    over,
    resumption,
    warning_about,
)
from gluepot.service.errors import ServiceError, invalid, not_found
from gluepot.service.events.batches import Batch, Waiting, batch_of, properties_of
from gluepot.service.events.envelopes import Origin, news_of_end
from gluepot.service.store.database import Changes, Store
from gluepot.service.store.definitions import Kind

log = get_logger(__name__)


def move_on(store: Store, origin: Origin, now_ms: int) -> bool:
    """Fire what is due, follow the runs that have ended, and end the runs of workflows that are over.

    Args:
        store: the database.
        origin: of the events that tell the ends of runs.
        now_ms: milliseconds since 1970.

    Returns:
        Whether something was done.

    Raises:
        TransientError: the database does not answer.
    """
    with store.changes() as changes:
        due = changes.triggers.due(now_ms)
    for trigger in due:
        with store.changes() as changes:
            changes.alone()
            fire_by_schedule(changes, trigger.name, now_ms)
            reach("service.firing_by_schedule")
        reach("service.fired_by_schedule")
    with store.changes() as changes:
        crawlers = changes.crawlers.due(now_ms)
    for crawler in crawlers:
        with store.changes() as changes:
            changes.alone()
            crawl_by_schedule(changes, crawler.name, now_ms)
            reach("service.crawling_by_schedule")
    with store.changes() as changes:
        changes.alone()
        followed = changes.runs_to_follow()
        for run in followed:
            follow(changes, run, origin, now_ms)
            reach("service.following")
        _end_workflow_runs(changes, now_ms)
        reach("service.ending_workflows")
    reach("service.followed")
    with store.changes() as changes:
        changes.alone()
        fired = [fire_by_events(changes, name, events, now_ms) for name, events in changes.events.waiting().items()]
        if any(fired):
            reach("service.firing_by_events")
    return bool(due or crawlers or followed or any(fired))


def fire_by_schedule(changes: Changes, name: str, now_ms: int) -> None:
    """Fire a trigger whose time has come, unless it came too long ago, and note when it fires next."""
    trigger = changes.triggers.get(name)
    if trigger is None or trigger.next_ms is None or trigger.next_ms > now_ms:
        return
    changes.triggers.save(scheduled(trigger, now_ms))
    if missed(trigger, now_ms):
        log.warning("trigger_missed_its_time", trigger=name, at_ms=trigger.next_ms)
    elif changes.triggers.note_firing(name, str(trigger.next_ms), now_ms):
        log.info("trigger_fired", trigger=name)
        if trigger.workflow:
            _start_by_itself(changes, trigger.workflow, now_ms)
        else:
            _start_actions(changes, trigger.actions, FiredBy(name, new_id("tf_")), now_ms)


def fire_by_call(changes: Changes, trigger: Trigger, now_ms: int) -> None:
    """Fire an on-demand trigger. One of a workflow starts a run of the workflow.

    Raises:
        ServiceError: `ConcurrentRunsExceededException`, because the workflow has as many runs as it may.
    """
    if trigger.workflow:
        start_workflow_run(changes, trigger.workflow, {}, now_ms)
        return
    chain = new_id("tf_")
    changes.triggers.note_firing(trigger.name, chain, now_ms)
    _start_actions(changes, trigger.actions, FiredBy(trigger.name, chain), now_ms)


def fire_by_events(changes: Changes, name: str, waiting: Sequence[Waiting], now_ms: int) -> bool:
    """Fire a trigger for which enough events have come, or have waited long enough; return whether it fired.

    An event fires a trigger once, because it is removed in the same transaction. A trigger that was deleted or stopped
    meanwhile, or whose workflow was deleted, loses its events.

    Args:
        changes: the transaction.
        name: the trigger's name.
        waiting: all events that wait for it, the oldest first.
        now_ms: milliseconds since 1970.
    """
    trigger = changes.triggers.get(name)
    if trigger is None or not takes_events(trigger) or changes.workflows.get(trigger.workflow) is None:
        log.warning("events_dropped", trigger=name, events=len(waiting))
        changes.events.forget(waiting)
        return False
    rest = list(waiting)
    while batch := batch_of(trigger.definition.get("EventBatchingCondition"), rest, now_ms):
        changes.events.forget(batch.events)
        rest = rest[len(batch.events) :]
        log.info("trigger_fired", trigger=name, events=len(batch.events))
        _start_by_itself(changes, trigger.workflow, now_ms, batch)
    return len(rest) < len(waiting)


def follow(changes: Changes, ended: Run, origin: Origin, now_ms: int) -> None:
    """Tell the end of a run, and fire the triggers that waited for it."""
    changes.mark_followed(ended.id)
    for news in news_of_end(ended, origin.account):
        publish(changes, news, origin, now_ms)
    if is_quality_run(ended.definition):
        changes.metrics.add(list(quality_data(ended, origin.account, now_ms)))
    if not ended.chain or not settled(ended):
        return
    runs = changes.runs_of_chain(ended.chain)
    if ended.workflow:
        of = changes.workflows.run(ended.chain)
        if of is None or of.status is not Status.RUNNING:
            return
        triggers, runs = of.triggers, [*carried_runs(changes, of), *runs]
    else:
        triggers = changes.triggers.of_workflow("")
    for trigger, predecessors in to_fire(triggers, ended, runs):
        if changes.triggers.note_firing(trigger.name, ended.chain, now_ms):
            log.info("trigger_fired", trigger=trigger.name)
            by = FiredBy(trigger.name, ended.chain, ended.workflow, predecessors)
            _start_actions(changes, trigger.actions, by, now_ms)
    for trigger in would_fire(triggers, ended, runs):
        log.warning(
            "trigger_inactive", trigger=trigger.name, workflow=trigger.workflow, hint="call StartTrigger for it"
        )


def start_workflow_run(changes: Changes, name: str, properties: Mapping[str, str], now_ms: int) -> WorkflowRun:
    """Start a run of a workflow.

    Args:
        changes: the transaction.
        name: the workflow's name.
        properties: put over the workflow's default ones.
        now_ms: milliseconds since 1970.

    Raises:
        ServiceError: `EntityNotFoundException`; `InvalidInputException`, because no trigger starts it;
            `ConcurrentRunsExceededException`, because it has as many runs as it may.
    """
    workflow = workflow_of(changes, name)
    run, first = _new_run(changes, workflow, properties, now_ms)
    _check_limit(changes, workflow)
    _begin(changes, run, first, now_ms)
    return run


def stop_workflow_run(changes: Changes, run: WorkflowRun, now_ms: int) -> None:
    """Ask the jobs of a run of a workflow to stop. No trigger fires for it any more.

    Raises:
        ServiceError: `IllegalWorkflowStateException`, because it does not run.
    """
    if run.status is not Status.RUNNING:
        raise ServiceError("IllegalWorkflowStateException", f"The run {run.id} is {run.status.value}, not RUNNING.")
    changes.workflows.change_run(replace(run, status=Status.STOPPING))
    for one in changes.runs_of_chain(run.id):
        if one.state in OPEN:
            changes.change_run(asked_to_stop(one, now_ms))


def resume_workflow_run(
    changes: Changes, run: WorkflowRun, node_ids: Sequence[str], now_ms: int
) -> tuple[WorkflowRun, list[str]]:
    """Start a run that repeats some jobs of another run, and all that follows from them.

    Returns:
        The new run, and the nodes that it starts with.

    Raises:
        ServiceError: `IllegalWorkflowStateException`, `InvalidInputException` or `ConcurrentRunsExceededException`.
    """
    workflow = workflow_of(changes, run.workflow)
    before = runs_of(changes, run)
    wanted = resumption(run, before, node_ids)
    _check_limit(changes, workflow)
    resumed = WorkflowRun(
        0,
        new_id("wr_"),
        run.workflow,
        Status.RUNNING,
        run.triggers,
        run.properties,
        now_ms,
        previous_id=run.id,
        carried=[one.id for one in wanted.carried],
    )
    changes.workflows.add_run(resumed)
    starter = {one.job: one.trigger for one in before}
    for job in wanted.restarted:
        trigger = next(one for one in run.triggers if one.name == starter[job])
        # It has fired in this run, too: jobs that follow from each other in a circle do not fire it again.
        changes.triggers.note_firing(trigger.name, resumed.id, now_ms)
        actions = [action for action in trigger.actions if subject_of(action) == job]
        _start_actions(changes, actions, FiredBy(trigger.name, resumed.id, run.workflow), now_ms)
    return resumed, [node_id(run.workflow, *node_of(job)) for job in wanted.restarted]


def workflow_of(changes: Changes, name: str) -> Workflow:
    """Return a workflow.

    Raises:
        ServiceError: `EntityNotFoundException`.
    """
    found = changes.workflows.get(name)
    if found is None:
        raise not_found(f"Workflow {name} not found.")
    return found


def runs_of(changes: Changes, run: WorkflowRun) -> list[Run]:
    """Return the runs of jobs of a run of a workflow, with those that it carries on, the oldest first."""
    return [*carried_runs(changes, run), *changes.runs_of_chain(run.id)]


def carried_runs(changes: Changes, run: WorkflowRun) -> list[Run]:
    """Return the runs of jobs that a resumed run does not repeat."""
    return [found for one in run.carried if (found := changes.run(one)) is not None]


def _start_by_itself(changes: Changes, name: str, now_ms: int, batch: Batch | None = None) -> None:
    """Start a run of a workflow that no caller asked for; beyond the workflow's limit it is in ERROR."""
    workflow = changes.workflows.get(name)
    if workflow is None:
        log.warning("workflow_of_trigger_not_found", workflow=name)
        return
    run, first = _new_run(changes, workflow, properties_of(batch) if batch else {}, now_ms)
    if batch:
        run = replace(run, event_condition=batch.condition)
    if full(workflow, changes.workflows.count_unfinished(name)):
        error = concurrent_runs_exceeded(name)
        changes.workflows.add_run(replace(run, status=Status.ERROR, completed_ms=now_ms, error=error))
    else:
        _begin(changes, run, first, now_ms)


def _new_run(
    changes: Changes, workflow: Workflow, properties: Mapping[str, str], now_ms: int
) -> tuple[WorkflowRun, Trigger]:
    triggers = changes.triggers.of_workflow(workflow.name)
    first = first_trigger(triggers)
    if first is None:
        raise invalid(f"The workflow {workflow.name} has no trigger that starts it; add one that is not CONDITIONAL.")
    properties = {**workflow.definition.get("DefaultRunProperties", {}), **properties}
    return WorkflowRun(0, new_id("wr_"), workflow.name, Status.RUNNING, triggers, properties, now_ms), first


def _check_limit(changes: Changes, workflow: Workflow) -> None:
    if full(workflow, changes.workflows.count_unfinished(workflow.name)):
        raise ServiceError("ConcurrentRunsExceededException", concurrent_runs_exceeded(workflow.name))


def _begin(changes: Changes, run: WorkflowRun, first: Trigger, now_ms: int) -> None:
    changes.workflows.add_run(run)
    if warning := warning_about(run.triggers):
        log.warning("workflow_triggers_inactive", workflow=run.workflow, run=run.id, warning=warning)
    changes.triggers.note_firing(first.name, run.id, now_ms)
    _start_actions(changes, first.actions, FiredBy(first.name, run.id, run.workflow), now_ms)


def _start_actions(changes: Changes, actions: Iterable[Mapping[str, Any]], by: FiredBy, now_ms: int) -> None:
    for action in actions:
        if "CrawlerName" in action:
            changes.add_run(_triggered_crawl(changes, action, by, now_ms))
            continue
        job = changes.job(action["JobName"])
        active = changes.count(action["JobName"], ACTIVE)
        definition = None if job is None else job.definition
        changes.add_run(triggered(action, definition, active, by, new_id("jr_"), now_ms))


def _triggered_crawl(changes: Changes, action: Mapping[str, Any], by: FiredBy, now_ms: int) -> Run:
    name = action["CrawlerName"]
    crawler = changes.crawlers.get(name)
    known = [] if crawler is None else classifiers_of(changes, crawler)
    going_on = changes.count(crawl_subject(name), OPEN)
    tells = changes.events.has_rules()
    return triggered_crawl(action, crawler, known, going_on, by, str(uuid4()), now_ms, tells=tells)


def start_crawl(changes: Changes, crawler: Crawler, now_ms: int) -> Run | None:
    """Start a crawl that no trigger starts; return None if the crawler runs already."""
    if changes.count(crawl_subject(crawler.name), OPEN):
        return None
    known, tells = classifiers_of(changes, crawler), changes.events.has_rules()
    crawl = new_crawl(crawler, known, str(uuid4()), now_ms, tells=tells)
    changes.add_run(crawl)
    return crawl


def classifiers_of(changes: Changes, crawler: Crawler) -> list[Custom]:
    """Return the classifiers of a crawler that there are, in its order."""
    found = (changes.definitions.get(Kind.CLASSIFIER, name) for name in crawler.definition.get("Classifiers") or ())
    return [Custom(*next(iter(one.body.items()))) for one in found if one is not None]


def crawl_by_schedule(changes: Changes, name: str, now_ms: int) -> None:
    """Start a crawl whose time has come, unless it came too long ago or the crawler runs, and note the next time."""
    crawler = changes.crawlers.get(name)
    if crawler is None or crawler.next_ms is None or crawler.next_ms > now_ms:
        return
    changes.crawlers.save(timed(crawler, now_ms))
    if now_ms - crawler.next_ms > GRACE_MS:
        log.warning("crawler_missed_its_time", crawler=name, at_ms=crawler.next_ms)
    elif start_crawl(changes, crawler, now_ms) is None:
        log.warning("crawler_runs_already", crawler=name, at_ms=crawler.next_ms)


def _end_workflow_runs(changes: Changes, now_ms: int) -> None:
    for run in changes.workflows.unfinished():
        if not changes.chain_goes_on(run.id):
            changes.workflows.change_run(over(run, now_ms))
            log.info("workflow_run_ended", workflow=run.workflow, run=run.id)
