"""Crawlers and their crawls: what is refused, what is added, states and figures. Pure (docs/glue 11.6).

A crawl is a run whose command is a crawler, so it is started, found again, stopped and followed as runs of jobs are.
"""

from __future__ import annotations

import json
import math
import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from gluepot.core.errors import ConfigError
from gluepot.crawl.classify.custom import Custom
from gluepot.crawl.settings import NEW_FOLDERS, crawl_settings
from gluepot.service.decisions.cron import CronError, check_schedule, next_time
from gluepot.service.decisions.definitions import CRAWLER
from gluepot.service.decisions.states import OPEN, Run, State, crawl_subject
from gluepot.service.errors import invalid

SCHEDULED, NOT_SCHEDULED = "SCHEDULED", "NOT_SCHEDULED"
READY = "READY"

_TARGETS = (
    "S3Targets",
    "JdbcTargets",
    "MongoDBTargets",
    "DynamoDBTargets",
    "CatalogTargets",
    "DeltaTargets",
    "IcebergTargets",
    "HudiTargets",
)
_NOT_DEFINITION = frozenset({"Name", "Schedule", "Tags", "CatalogId"})
_LONGEST_SUMMARY = 255
_MINUTE_MS = 60_000
_OF_CRAWL = {
    State.SUCCEEDED: ("COMPLETED", "SUCCEEDED"),
    State.STOPPED: ("STOPPED", "CANCELLED"),
    **dict.fromkeys((State.FAILED, State.ERROR, State.TIMEOUT, State.EXPIRED), ("FAILED", "FAILED")),
}


@dataclass(frozen=True, slots=True)
class Crawler:
    """A crawler.

    Args:
        name: its name.
        definition: as the API takes it, without name, schedule and tags.
        schedule: `cron(...)`, or empty.
        is_scheduled: whether the schedule starts crawls.
        version: grows with each change.
        created_ms: milliseconds since 1970.
        modified_ms: milliseconds since 1970.
        next_ms: when the schedule starts a crawl next; None if it does not.
    """

    name: str
    definition: Mapping[str, Any]
    schedule: str = ""
    is_scheduled: bool = False
    version: int = 1
    created_ms: int = 0
    modified_ms: int = 0
    next_ms: int | None = None


def definition_of(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return what defines a crawler, of the members of a request, with the values that AWS adds.

    Of a role's ARN only the name stays, and a path of roles before it.
    """
    found = {name: value for name, value in given.items() if name not in _NOT_DEFINITION and value is not None}
    if "Role" in found:
        found["Role"] = str(found["Role"]).rpartition(":role/")[2]
    if "Targets" in found:
        found["Targets"] = {name: found["Targets"].get(name) or [] for name in _TARGETS}
    return found


def complete(definition: Mapping[str, Any]) -> dict[str, Any]:
    """Return a definition with AWS's defaults."""
    return {
        "Classifiers": [],
        "LineageConfiguration": {"CrawlerLineageSettings": "DISABLE"},
        "LakeFormationConfiguration": {"UseLakeFormationCredentials": False, "AccountId": ""},
        **definition,
        "RecrawlPolicy": {"RecrawlBehavior": "CRAWL_EVERYTHING", **(definition.get("RecrawlPolicy") or {})},
        "SchemaChangePolicy": {
            "UpdateBehavior": "UPDATE_IN_DATABASE",
            "DeleteBehavior": "DEPRECATE_IN_DATABASE",
            **(definition.get("SchemaChangePolicy") or {}),
        },
    }


def check(name: str, definition: Mapping[str, Any], schedule: str, now_ms: int) -> None:
    """Refuse a crawler that could not crawl.

    Raises:
        ServiceError: `InvalidInputException`.
    """
    if not definition.get("Role"):
        raise invalid("Role is missing; give any name, which is kept and not used.")
    try:
        crawl_settings({"Name": name, **definition})
    except ConfigError as error:
        raise invalid(str(error)) from None
    if schedule:
        try:
            check_schedule(schedule, _time(now_ms))
        except CronError as error:
            raise invalid(str(error)) from None


def changed(crawler: Crawler, given: Mapping[str, Any], schedule: str | None, now_ms: int) -> Crawler:
    """Return a crawler of which some members have changed.

    Raises:
        ServiceError: `InvalidInputException`.
    """
    before = crawler.definition
    definition = complete({**before, **definition_of(given)})
    only_new = before["RecrawlPolicy"]["RecrawlBehavior"] == NEW_FOLDERS
    still = definition["RecrawlPolicy"]["RecrawlBehavior"] == NEW_FOLDERS
    if only_new and still and definition["Targets"]["S3Targets"] != before["Targets"]["S3Targets"]:
        raise invalid(
            f"The S3 targets of a crawler with {NEW_FOLDERS} cannot be changed; change RecrawlBehavior first, or make"
            " another crawler."
        )
    check(crawler.name, definition, schedule or "", now_ms)
    after = replace(crawler, definition=definition, version=crawler.version + 1, modified_ms=now_ms)
    return after if schedule is None else with_schedule(after, schedule, now_ms)


def with_schedule(crawler: Crawler, schedule: str, now_ms: int) -> Crawler:
    """Return a crawler with another schedule, which starts crawls from now on; an empty one starts none."""
    return timed(replace(crawler, schedule=schedule, is_scheduled=bool(schedule), modified_ms=now_ms), now_ms)


def timed(crawler: Crawler, now_ms: int) -> Crawler:
    """Return a crawler that knows when it crawls next."""
    if not crawler.is_scheduled or not crawler.schedule:
        return replace(crawler, next_ms=None)
    found = next_time(crawler.schedule, _time(now_ms))
    return replace(crawler, next_ms=None if found is None else round(found.timestamp() * 1000))


def new_crawl(
    crawler: Crawler, classifiers: Sequence[Custom], run_id: str, now_ms: int, *, tells: bool = False, **of_trigger: Any
) -> Run:
    """Return a crawl that starts.

    Args:
        crawler: as it is now.
        classifiers: those that it names and that there are.
        run_id: of the crawl.
        now_ms: milliseconds since 1970.
        tells: whether anybody listens to changes of the catalog.
        of_trigger: `trigger`, `chain` and `workflow` of a run that a trigger starts.
    """
    request = {
        "id": run_id,
        "crawler": {"Name": crawler.name, **crawler.definition},
        "classifiers": [{one.kind: dict(one.body)} for one in classifiers],
        "tells": tells,
    }
    definition = {"Command": {"Name": CRAWLER}, "Request": request}
    subject = crawl_subject(crawler.name)
    return Run(0, run_id, subject, State.STARTING, definition, started_ms=now_ms, modified_ms=now_ms, **of_trigger)


def already_started(name: str) -> str:
    """Return the sentence of AWS for a crawler that runs."""
    return f"Crawler with name {name} has already started"


def state_of(crawls: Iterable[Run]) -> str:
    """Return the state of a crawler, by its crawls."""
    open_ones = [one for one in crawls if one.state in OPEN]
    if not open_ones:
        return READY
    return "STOPPING" if any(one.state is State.STOPPING for one in open_ones) else "RUNNING"


def history_state(crawl: Run) -> str:
    """Return the state of a crawl as ListCrawls tells it."""
    return "RUNNING" if crawl.state in OPEN else _OF_CRAWL[crawl.state][0]


def last_status(crawl: Run) -> str:
    """Return the outcome of a crawl as `LastCrawl` and conditions of triggers name it; empty while it runs."""
    return "" if crawl.state in OPEN else _OF_CRAWL[crawl.state][1]


def summary_text(crawl: Run) -> str:
    """Return `Summary` of the API: JSON text within JSON text, without names where they do not fit."""
    found: Mapping[str, Any] = crawl.result.get("summary") or {}
    if not any(found.values()):
        return ""
    text = json.dumps({kind: json.dumps(actions) for kind, actions in found.items() if actions})
    if len(text) <= _LONGEST_SUMMARY:
        return text
    counts = {kind: {verb: {"Count": one["Count"]} for verb, one in actions.items()} for kind, actions in found.items()}
    return json.dumps({kind: json.dumps(actions) for kind, actions in counts.items() if actions})


def figures_of(name: str, crawls: Sequence[Run], now_ms: int) -> dict[str, Any]:
    """Return `CrawlerMetrics` of the API.

    Args:
        name: of the crawler.
        crawls: of it, the newest first.
        now_ms: milliseconds since 1970.
    """
    ended = [one for one in crawls if one.state not in OPEN]
    secs = [(one.completed_ms - one.started_ms) / 1000 for one in ended]
    running = next((one for one in crawls if one.state in OPEN), None)
    median = statistics.median(secs) if secs else 0.0
    elapsed = (now_ms - running.started_ms) / 1000 if running else 0.0
    tables = (ended[0].result.get("tables") or {}) if ended else {}
    return {
        "CrawlerName": name,
        "TimeLeftSeconds": max(0.0, median - elapsed) if running else 0.0,
        "StillEstimating": running is not None and not secs,
        "LastRuntimeSeconds": secs[0] if secs else 0.0,
        "MedianRuntimeSeconds": median,
        "TablesCreated": tables.get("created", 0),
        "TablesUpdated": tables.get("updated", 0),
        "TablesDeleted": tables.get("deleted", 0),
    }


_TEXTS = ("CRAWL_ID", "STATE")
_FILTERED = (*_TEXTS, "START_TIME", "END_TIME", "DPU_HOUR")
_COMPARED: Mapping[str, Callable[[Any, Any], bool]] = {
    "EQ": lambda left, right: left == right,
    "NE": lambda left, right: left != right,
    "GT": lambda left, right: left > right,
    "GE": lambda left, right: left >= right,
    "LT": lambda left, right: left < right,
    "LE": lambda left, right: left <= right,
}


def check_filters(filters: Iterable[Mapping[str, str]]) -> None:
    """Refuse filters of ListCrawls that cannot be compared with a crawl.

    Raises:
        ServiceError: `InvalidInputException`.
    """
    for one in filters:
        name, operator, value = (one.get(member) for member in ("FieldName", "FilterOperator", "FieldValue"))
        if name not in _FILTERED:
            raise invalid(f"FieldName of a filter is {name}; use one of {', '.join(_FILTERED)}.")
        operators = ("EQ", "NE") if name in _TEXTS else tuple(_COMPARED)
        if operator not in operators:
            raise invalid(f"FilterOperator of {name} is {operator}; use one of {', '.join(operators)}.")
        if value is None:
            raise invalid(f"FieldValue of {name} is missing; give the value to compare with.")
        if name not in _TEXTS and not _is_number(value):
            raise invalid(f"FieldValue of {name} is {value!r}; use a number, milliseconds since 1970 for times.")


def wanted(crawl: Run, filters: Iterable[Mapping[str, str]]) -> bool:
    """Return whether a crawl fulfils the filters of ListCrawls, which `check_filters` has checked."""
    return all(_fulfils(crawl, one) for one in filters)


def _fulfils(crawl: Run, one: Mapping[str, str]) -> bool:
    name, value = one["FieldName"], one["FieldValue"]
    compared = _COMPARED[one["FilterOperator"]]
    if name in _TEXTS:
        return compared(crawl.id if name == "CRAWL_ID" else history_state(crawl), value)
    own = {"START_TIME": crawl.started_ms, "END_TIME": crawl.completed_ms}.get(name, dpu_hours(crawl))
    return compared(own, float(value))


def _is_number(value: str) -> bool:
    try:
        return math.isfinite(float(value))
    except ValueError:
        return False


def dpu_hours(crawl: Run) -> float:
    """Return what a crawl would take of AWS's measure: two DPUs, for ten minutes at least."""
    took_ms = max(0, crawl.completed_ms - crawl.started_ms)
    return 0.0 if not crawl.completed_ms else round(2 * max(took_ms, 10 * _MINUTE_MS) / (60 * _MINUTE_MS), 3)


def _time(at_ms: int) -> datetime:
    return datetime.fromtimestamp(at_ms / 1000, UTC)
