"""Definitions of jobs (docs/glue 11.2)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gluepot.service.context import Service, secs
from gluepot.service.decisions.definitions import capacity, complete
from gluepot.service.errors import ServiceError, invalid, not_found, taken
from gluepot.service.operations.batches import names_in
from gluepot.service.operations.bookmarks import forget_deleted
from gluepot.service.operations.tags import check_tags
from gluepot.service.paging import cut, position_of, size_of
from gluepot.service.store.database import Changes, Job

_PAGE = 100
# The answer tells the capacity instead, with the values that follow from these.
_CAPACITY = frozenset({"MaxCapacity", "AllocatedCapacity", "WorkerType", "NumberOfWorkers"})


def create_job(service: Service, request: Mapping[str, Any]) -> dict[str, Any]:
    """Define a job."""
    definition = complete(_definition(request))
    check_tags(request.get("Tags", {}))
    name, now_ms = request["Name"], service.now_ms()
    with service.store.changes() as changes:
        if (there := changes.job(name)) is not None:
            if there.definition == definition:
                raise taken(f"Job with name: {name} already exists")
            raise ServiceError(
                "IdempotentParameterMismatchException",
                f"Job {name} already submitted with different configuration; use UpdateJob to change it.",
            )
        changes.save_job(Job(name, definition, now_ms, now_ms))
        changes.tag(service.arn("job", name), request.get("Tags", {}))
    return {"Name": name}


def update_job(service: Service, request: Mapping[str, Any]) -> dict[str, Any]:
    """Replace a definition. What the request leaves out gets its default, but for the Glue version, which stays."""
    name, update = request["JobName"], _definition(request["JobUpdate"])
    with service.store.changes() as changes:
        there = job_of(changes, name)
        version = there.definition["GlueVersion"]
        if lacking := [one for one in ("Command", "Role") if one not in update]:
            raise invalid(
                f"JobUpdate has no {' and no '.join(lacking)}. UpdateJob replaces the whole definition"
                f"{_reset(there.definition, update)}. Send Command, Role and all other members that the job shall keep."
            )
        definition = complete({"GlueVersion": version, **update})
        changes.save_job(Job(name, definition, there.created_ms, service.now_ms()))
    return {"JobName": name}


def _reset(there: Mapping[str, Any], update: Mapping[str, Any]) -> str:
    """Return which members of a definition an update that leaves them out would reset, for a sentence."""
    required = {one: there[one] for one in ("Command", "Role", "GlueVersion")}
    after = complete({**required, **update})
    names = sorted(one for one, value in there.items() if one not in update and after.get(one) != value)
    return f", so it would have reset {', '.join(names)}" if names else ""


def delete_job(service: Service, request: Mapping[str, Any]) -> dict[str, Any]:
    """Delete a definition and reset the job's bookmark; a job that is not there is no error."""
    name = request["JobName"]
    with service.store.changes() as changes:
        known = changes.job(name) is not None
    if known:
        forget_deleted(service, name)
    with service.store.changes() as changes:
        changes.delete_job(name)
        changes.untag(service.arn("job", name))
    return {"JobName": name}


def get_job(service: Service, request: Mapping[str, Any]) -> dict[str, Any]:
    """Return one job."""
    with service.store.changes() as changes:
        return {"Job": _answer(job_of(changes, request["JobName"]))}


def get_jobs(service: Service, request: Mapping[str, Any]) -> dict[str, Any]:
    """Return a page of jobs, in the order of their names."""
    found, rest = _page(service, request)
    return {"Jobs": [_answer(job) for job in found], **rest}


def list_jobs(service: Service, request: Mapping[str, Any]) -> dict[str, Any]:
    """Return a page of the names of jobs; with `Tags`, of those that have all of these tags."""
    found, rest = _page(service, request)
    wanted = request.get("Tags", {}).items()
    with service.store.changes() as changes:
        names = [job.name for job in found if wanted <= changes.tags(service.arn("job", job.name)).items()]
    return {"JobNames": names, **rest}


def batch_get_jobs(service: Service, request: Mapping[str, Any]) -> dict[str, Any]:
    """Return several jobs, and which names there are not."""
    with service.store.changes() as changes:
        found = {name: changes.job(name) for name in names_in(request, "JobNames")}
    return {
        "Jobs": [_answer(job) for job in found.values() if job is not None],
        "JobsNotFound": [name for name, job in found.items() if job is None],
    }


def job_of(changes: Changes, name: str) -> Job:
    """Return a job.

    Raises:
        ServiceError: `EntityNotFoundException`.
    """
    found = changes.job(name)
    if found is None:
        raise not_found(f"Job {name} not found.")
    return found


def _definition(request: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in request.items() if name not in {"Name", "Tags"} and value is not None}


def _page(service: Service, request: Mapping[str, Any]) -> tuple[list[Job], dict[str, str]]:
    most = size_of(request, _PAGE)
    with service.store.changes() as changes:
        found = changes.jobs(position_of(request.get("NextToken")), most + 1)
    return cut(found, most, lambda one: one.name)


def _answer(job: Job) -> dict[str, Any]:
    return {
        "Name": job.name,
        **{name: value for name, value in job.definition.items() if name not in _CAPACITY},
        **capacity(job.definition),
        "CreatedOn": secs(job.created_ms),
        "LastModifiedOn": secs(job.modified_ms),
    }
