"""Triggers (docs/glue 11.7)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gluepot.core.failpoints import reach
from gluepot.service.context import Service
from gluepot.service.controllers.firing import fire_by_call, workflow_of
from gluepot.service.decisions.triggers import (
    CONDITIONAL,
    ON_DEMAND,
    Trigger,
    TriggerState,
    check_definition,
    redefined,
    started,
    stopped,
)
from gluepot.service.decisions.workflows import first_trigger
from gluepot.service.errors import ServiceError, invalid, not_found, taken
from gluepot.service.operations.batches import names_in
from gluepot.service.operations.crawlers import crawler_named
from gluepot.service.operations.jobs import job_of
from gluepot.service.operations.tags import check_tags
from gluepot.service.paging import page_by_name
from gluepot.service.store.database import Changes

_PAGE = 100
_NOT_DEFINITION = frozenset({"Name", "WorkflowName", "StartOnCreation", "Tags"})


def create_trigger(service: Service, request: Mapping[str, Any]) -> dict[str, Any]:
    """Define a trigger. With `StartOnCreation` it fires by itself from now on."""
    name, workflow, now_ms = request["Name"], request.get("WorkflowName") or "", service.now_ms()
    definition = _definition(request)
    check_definition(definition, workflow, now_ms)
    check_tags(request.get("Tags", {}))
    if request.get("StartOnCreation") and definition["Type"] == ON_DEMAND:
        raise invalid("StartOnCreation is for triggers that fire by themselves; leave it out for ON_DEMAND.")
    trigger = Trigger(name, workflow, TriggerState.CREATED, definition, now_ms, now_ms)
    with service.store.changes() as changes:
        if (there := changes.triggers.get(name)) is not None:
            if (there.workflow, there.definition) == (workflow, definition):
                raise taken(f"Trigger with name {name} already exists.")
            raise ServiceError(
                "IdempotentParameterMismatchException",
                f"Trigger {name} already submitted with different configuration; use UpdateTrigger to change it.",
            )
        _check_references(changes, trigger)
        if workflow:
            workflow_of(changes, workflow)
            first = first_trigger(changes.triggers.of_workflow(workflow))
            if first is not None and definition["Type"] != CONDITIONAL:
                raise invalid(f"The workflow {workflow} is started by the trigger {first.name} already.")
        changes.triggers.save(started(trigger, now_ms) if request.get("StartOnCreation") else trigger)
        changes.tag(service.arn("trigger", name), request.get("Tags", {}))
    service.wake()
    return {"Name": name}


def update_trigger(service: Service, request: Mapping[str, Any]) -> dict[str, Any]:
    """Replace a definition as a whole. Type, workflow and state stay."""
    now_ms = service.now_ms()
    with service.store.changes() as changes:
        there = trigger_of(changes, request["Name"])
        definition = {"Type": there.type, **_definition(request["TriggerUpdate"])}
        check_definition(definition, there.workflow, now_ms)
        trigger = redefined(there, definition, now_ms)
        _check_references(changes, trigger)
        changes.triggers.save(trigger)
    service.wake()
    return {"Trigger": answer_of(trigger)}


def delete_trigger(service: Service, request: Mapping[str, Any]) -> dict[str, Any]:
    """Delete a trigger; one that is not there is no error."""
    name = request["Name"]
    with service.store.changes() as changes:
        changes.triggers.delete(name)
        changes.untag(service.arn("trigger", name))
    return {"Name": name}


def get_trigger(service: Service, request: Mapping[str, Any]) -> dict[str, Any]:
    """Return one trigger."""
    with service.store.changes() as changes:
        return {"Trigger": answer_of(trigger_of(changes, request["Name"]))}


def get_triggers(service: Service, request: Mapping[str, Any]) -> dict[str, Any]:
    """Return a page of triggers, in the order of their names."""
    found, rest = _page(service, request)
    return {"Triggers": [answer_of(trigger) for trigger in found], **rest}


def list_triggers(service: Service, request: Mapping[str, Any]) -> dict[str, Any]:
    """Return a page of the names of triggers; with `Tags`, of those that have all of these tags."""
    found, rest = _page(service, request)
    return {"TriggerNames": [trigger.name for trigger in found], **rest}


def batch_get_triggers(service: Service, request: Mapping[str, Any]) -> dict[str, Any]:
    """Return several triggers, and which names there are not."""
    with service.store.changes() as changes:
        found = {name: changes.triggers.get(name) for name in names_in(request, "TriggerNames")}
    return {
        "Triggers": [answer_of(trigger) for trigger in found.values() if trigger is not None],
        "TriggersNotFound": [name for name, trigger in found.items() if trigger is None],
    }


def start_trigger(service: Service, request: Mapping[str, Any]) -> dict[str, Any]:
    """Let a trigger fire by itself from now on, or fire an on-demand one now."""
    now_ms = service.now_ms()
    with service.store.changes() as changes:
        changes.alone()
        trigger = trigger_of(changes, request["Name"])
        if trigger.type == ON_DEMAND:
            fire_by_call(changes, trigger, now_ms)
            reach("service.firing_by_call")
        else:
            changes.triggers.save(started(trigger, now_ms))
    reach("service.trigger_started")
    service.wake()
    return {"Name": trigger.name}


def stop_trigger(service: Service, request: Mapping[str, Any]) -> dict[str, Any]:
    """Let a trigger no longer fire by itself."""
    with service.store.changes() as changes:
        trigger = trigger_of(changes, request["Name"])
        changes.triggers.save(stopped(trigger))
    return {"Name": trigger.name}


def trigger_of(changes: Changes, name: str) -> Trigger:
    """Return a trigger.

    Raises:
        ServiceError: `EntityNotFoundException`.
    """
    found = changes.triggers.get(name)
    if found is None:
        raise not_found(f"Trigger {name} not found.")
    return found


def answer_of(trigger: Trigger) -> dict[str, Any]:
    """Return a trigger as `Trigger` of the API."""
    named = {"WorkflowName": trigger.workflow} if trigger.workflow else {}
    return {"Name": trigger.name, **named, "State": trigger.state.value, **trigger.definition}


def _definition(request: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in request.items() if name not in _NOT_DEFINITION and value is not None}


def _check_references(changes: Changes, trigger: Trigger) -> None:
    """Refuse names of jobs and crawlers that there are not."""
    for one in (*trigger.actions, *trigger.conditions):
        if "CrawlerName" in one:
            crawler_named(changes, one["CrawlerName"])
        else:
            job_of(changes, one["JobName"])


def _page(service: Service, request: Mapping[str, Any]) -> tuple[list[Trigger], dict[str, str]]:
    with service.store.changes() as changes:
        found = changes.triggers.all()
        wanted = request.get("Tags", {}).items()
        if wanted:
            found = [one for one in found if wanted <= changes.tags(service.arn("trigger", one.name)).items()]
    if (job := request.get("DependentJobName")) is not None:
        # The API has it so: if no trigger starts the job, all triggers are returned.
        found = [one for one in found if one.starts(job)] or found
    return page_by_name(found, lambda one: one.name, request, _PAGE)
