"""Definitions of jobs: what is refused, what is added, what capacity they stand for (docs/glue 10.1 and 11.2)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gluepot.core.glue_version import DEFAULT, PROFILES
from gluepot.core.glue_workers import WORKER_TYPES
from gluepot.service.errors import invalid

_STREAMING, PYTHON_SHELL = "gluestreaming", "pythonshell"
CRAWLER = "crawler"
"""The command of crawls, which no job can have."""
QUALITY = "data quality"
"""The command of evaluations and recommendations of data quality, which no job can have."""
NOT_OF_JOBS = (CRAWLER, QUALITY)
COMMANDS = ("glueetl", _STREAMING, PYTHON_SHELL)
_SHELL_DPUS = (0.0625, 1.0)
_OF_RUN = (
    "Timeout",
    "MaxCapacity",
    "AllocatedCapacity",
    "WorkerType",
    "NumberOfWorkers",
    "SecurityConfiguration",
    "NotificationProperty",
    "ExecutionClass",
    "JobRunQueuingEnabled",
    "ExecutionRoleSessionPolicy",
)
_NEWER_CAPACITY = frozenset({"MaxCapacity", "WorkerType", "NumberOfWorkers"})
_NOT_HERE = {
    "glueray": "Ray jobs cannot run here; make it a glueetl job, or run it on a Ray cluster.",
}
_DEFAULT_DPUS = 10.0
_WORKER_OF_A_DPU = "G.1X"
_MOST_RETRIES = 10
_MOST_MINUTES = 7 * 24 * 60
_MINUTES_BEFORE_GLUE_5, _MINUTES = 2880, 480


def complete(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return a definition with the values that AWS Glue adds.

    Args:
        given: `Job` of the API as CreateJob and UpdateJob take it, without name and tags; checked against the model.

    Raises:
        ServiceError: `InvalidInputException` for what AWS Glue refuses and what cannot run here.
    """
    given = _without_old_capacity(given)
    command = given.get("Command", {})
    kind = command.get("Name", "")
    if kind not in COMMANDS:
        raise invalid(_NOT_HERE.get(kind) or f"Command.Name is {kind!r}; use one of {', '.join(COMMANDS)}.")
    if not command.get("ScriptLocation"):
        raise invalid("Command.ScriptLocation is missing; give the S3 location or the path of the script.")
    if not given.get("Role"):
        raise invalid("Role is missing; give any name, which is kept and not used.")
    version = given.get("GlueVersion", DEFAULT)
    if version not in PROFILES and kind != PYTHON_SHELL:
        raise invalid(f"GlueVersion is {version!r}; use one of {', '.join(PROFILES)}.")
    _check_limits(given)
    _check_capacity(given)
    if given.get("ExecutionClass") == "FLEX" and kind != "glueetl":
        raise invalid(f"ExecutionClass is FLEX, which is for glueetl jobs; leave it out for {kind}.")
    return {
        "JobMode": "SCRIPT",
        "JobRunQueuingEnabled": False,
        "MaxRetries": 0,
        **given,
        "GlueVersion": version,
        "ExecutionProperty": {"MaxConcurrentRuns": 1, **given.get("ExecutionProperty", {})},
        **_default_timeout(given, kind, version),
    }


def chosen_for_run(request: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a request, or an action of a trigger, chooses for one run other than the job has it."""
    return {name: request[name] for name in _OF_RUN if request.get(name) is not None}


def for_run(definition: Mapping[str, Any], overrides: Mapping[str, Any]) -> dict[str, Any]:
    """Return the definition that one run has.

    Args:
        definition: of the job.
        overrides: what the caller of StartJobRun chose; of the members of the definition.

    Raises:
        ServiceError: `InvalidInputException` for a choice that the job could not have, either.
    """
    chosen = dict(definition)
    if {"AllocatedCapacity", "MaxCapacity"} <= overrides.keys():
        raise invalid("Please set only Allocated Capacity or Max Capacity.")
    overrides = _without_old_capacity(overrides)
    if "MaxCapacity" in overrides:
        chosen = {name: value for name, value in chosen.items() if name not in {"WorkerType", "NumberOfWorkers"}}
    elif "WorkerType" in overrides or "NumberOfWorkers" in overrides:
        chosen.pop("MaxCapacity", None)
    return complete({**chosen, **overrides})


def _without_old_capacity(given: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return members with `MaxCapacity` for `AllocatedCapacity`, its older name. It counts if nothing newer is given.

    Raises:
        ServiceError: `InvalidInputException`, because the capacity is less than 1.
    """
    if "AllocatedCapacity" not in given:
        return given
    dpus = given["AllocatedCapacity"]
    rest = {name: value for name, value in given.items() if name != "AllocatedCapacity"}
    if not _NEWER_CAPACITY.isdisjoint(rest):
        return rest
    if dpus < 1:
        raise invalid(f"AllocatedCapacity is {dpus}; use 1 or more.")
    return {**rest, "MaxCapacity": float(dpus)}


def is_python_shell(definition: Mapping[str, Any]) -> bool:
    """Return whether a job runs without Spark. Runs of jobs that were deleted have an empty definition."""
    return bool(definition.get("Command", {}).get("Name") == PYTHON_SHELL)


def is_crawl(definition: Mapping[str, Any]) -> bool:
    """Return whether a run is a crawl."""
    return bool(definition.get("Command", {}).get("Name") == CRAWLER)


def is_quality_run(definition: Mapping[str, Any]) -> bool:
    """Return whether a run evaluates or recommends rules of data quality."""
    return bool(definition.get("Command", {}).get("Name") == QUALITY)


def is_of_job(definition: Mapping[str, Any]) -> bool:
    """Return whether a run is one of a job. Runs of jobs that were deleted have an empty definition."""
    return definition.get("Command", {}).get("Name") not in NOT_OF_JOBS


def is_stream(definition: Mapping[str, Any]) -> bool:
    """Return whether a job runs until somebody stops it."""
    return bool(definition.get("Command", {}).get("Name") == _STREAMING)


def is_flex(definition: Mapping[str, Any]) -> bool:
    """Return whether runs of a job start after those of others."""
    return bool(definition.get("ExecutionClass") == "FLEX")


def capacity(definition: Mapping[str, Any]) -> dict[str, Any]:
    """Return the members of an answer that tell a job's size."""
    workers = definition.get("NumberOfWorkers")
    if workers is None:
        usual = _SHELL_DPUS[0] if is_python_shell(definition) else _DEFAULT_DPUS
        dpus = float(definition.get("MaxCapacity", usual))
        return {"MaxCapacity": dpus, "AllocatedCapacity": int(dpus)}
    dpus = workers * WORKER_TYPES[definition["WorkerType"]].dpus
    return {
        "MaxCapacity": float(dpus),
        "AllocatedCapacity": int(dpus),
        "WorkerType": definition["WorkerType"],
        "NumberOfWorkers": workers,
    }


def workers_of(definition: Mapping[str, Any]) -> tuple[str, int]:
    """Return type and number of the workers of a Spark job. One that has a capacity only has workers of one DPU."""
    if "NumberOfWorkers" in definition:
        return definition["WorkerType"], definition["NumberOfWorkers"]
    return _WORKER_OF_A_DPU, max(1, round(capacity(definition)["MaxCapacity"]))


def _default_timeout(given: Mapping[str, Any], kind: str, version: str) -> dict[str, int]:
    if "Timeout" in given or kind == _STREAMING:
        return {}
    return {"Timeout": _MINUTES_BEFORE_GLUE_5 if float(version) < 5 else _MINUTES}


def _check_limits(given: Mapping[str, Any]) -> None:
    for name, value, least, most in (
        ("MaxRetries", given.get("MaxRetries", 0), 0, _MOST_RETRIES),
        ("Timeout", given.get("Timeout", 1), 1, _MOST_MINUTES - 1),
        (
            "ExecutionProperty.MaxConcurrentRuns",
            given.get("ExecutionProperty", {}).get("MaxConcurrentRuns", 1),
            1,
            None,
        ),
    ):
        if value < least or (most is not None and value > most):
            wanted = f"{least} to {most}" if most is not None else f"{least} or more"
            raise invalid(f"{name} is {value}; use {wanted}.")


def _check_capacity(given: Mapping[str, Any]) -> None:
    kind, workers = given.get("WorkerType"), given.get("NumberOfWorkers")
    if is_python_shell(given):
        if kind is not None or workers is not None:
            raise invalid("A Python shell job has no workers; leave out WorkerType and NumberOfWorkers.")
        if given.get("MaxCapacity", _SHELL_DPUS[0]) not in _SHELL_DPUS:
            raise invalid(f"MaxCapacity is {given['MaxCapacity']}; a Python shell job has 0.0625 or 1.")
    if (kind is not None or workers is not None) and "MaxCapacity" in given:
        raise invalid("Please do not set Max Capacity if using Worker Type and Number of Workers.")
    if (kind is None) != (workers is None):
        raise invalid("WorkerType and NumberOfWorkers belong together; give both or neither.")
    if kind is not None and kind not in WORKER_TYPES:
        raise invalid(f"WorkerType is {kind!r}; use one of {', '.join(WORKER_TYPES)}.")
    if workers is not None and workers < 1:
        raise invalid(f"NumberOfWorkers is {workers}; use 1 or more.")
