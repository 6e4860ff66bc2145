"""Crawlers and their crawls (docs/glue 11.6)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from gluepot.core.failpoints import reach
from gluepot.service.context import Service, secs
from gluepot.service.controllers.firing import start_crawl
from gluepot.service.decisions.crawls import (
    NOT_SCHEDULED,
    READY,
    SCHEDULED,
    Crawler,
    already_started,
    changed,
    check,
    check_filters,
    complete,
    definition_of,
    dpu_hours,
    figures_of,
    history_state,
    last_status,
    state_of,
    summary_text,
    timed,
    wanted,
    with_schedule,
)
from gluepot.service.decisions.log_streams import CRAWLERS
from gluepot.service.decisions.states import OPEN, Run, State, asked_to_stop, crawl_subject, crawler_of
from gluepot.service.errors import ServiceError, invalid, not_found, taken
from gluepot.service.operations.tags import check_tags
from gluepot.service.paging import cut, number_of, page_by_name, size_of
from gluepot.service.store.database import Changes
from gluepot.service.store.definitions import Kind

_PAGE, _PAGE_OF_CRAWLS, _MOST_CRAWLS = 100, 20, 100
# Of these the figures are made, and among them is the last one that has ended.
_RECENT = 50


def create_crawler(service: Service, request: Mapping[str, Any]) -> dict[str, Any]:
    """Define a crawler. Its schedule, if it has one, starts crawls from now on."""
    name, now_ms, schedule = request["Name"], service.now_ms(), request.get("Schedule") or ""
    definition = complete(definition_of(request))
    check(name, definition, schedule, now_ms)
    check_tags(request.get("Tags", {}))
    crawler = Crawler(name, definition, created_ms=now_ms, modified_ms=now_ms)
    with service.store.changes() as changes:
        changes.alone()
        if changes.crawlers.get(name) is not None:
            raise taken(f"Crawler with name {name} already exists.")
        _check_classifiers(changes, crawler)
        changes.crawlers.save(with_schedule(crawler, schedule, now_ms))
        changes.tag(service.arn("crawler", name), request.get("Tags", {}))
    return {}


def update_crawler(service: Service, request: Mapping[str, Any]) -> dict[str, Any]:
    """Change the members of a crawler that the request has."""
    with service.store.changes() as changes:
        changes.alone()
        crawler = _idle(changes, request["Name"])
        after = changed(crawler, request, request.get("Schedule"), service.now_ms())
        _check_classifiers(changes, after)
        changes.crawlers.save(after)
    return {}


def delete_crawler(service: Service, request: Mapping[str, Any]) -> dict[str, Any]:
    """Delete a crawler. Its tables stay, and so do its crawls."""
    with service.store.changes() as changes:
        changes.alone()
        crawler = _idle(changes, request["Name"])
        changes.crawlers.delete(crawler.name)
        changes.untag(service.arn("crawler", crawler.name))
    return {}


def get_crawler(service: Service, request: Mapping[str, Any]) -> dict[str, Any]:
    """Return one crawler with its state and its last crawl."""
    with service.store.changes() as changes:
        return {"Crawler": _answer(changes, crawler_named(changes, request["Name"]), service.now_ms())}


def get_crawlers(service: Service, request: Mapping[str, Any]) -> dict[str, Any]:
    """Return a page of crawlers, in the order of their names."""
    with service.store.changes() as changes:
        found, rest = page_by_name(changes.crawlers.all(), lambda one: one.name, request, _PAGE)
        return {"Crawlers": [_answer(changes, one, service.now_ms()) for one in found], **rest}


def batch_get_crawlers(service: Service, request: Mapping[str, Any]) -> dict[str, Any]:
    """Return several crawlers, and which names there are not."""
    with service.store.changes() as changes:
        found = {name: changes.crawlers.get(name) for name in request["CrawlerNames"]}
        return {
            "Crawlers": [_answer(changes, one, service.now_ms()) for one in found.values() if one is not None],
            "CrawlersNotFound": [name for name, one in found.items() if one is None],
        }


def list_crawlers(service: Service, request: Mapping[str, Any]) -> dict[str, Any]:
    """Return a page of the names of crawlers; with `Tags`, of those that have all of these tags."""
    tags = request.get("Tags", {}).items()
    with service.store.changes() as changes:
        names = [one.name for one in changes.crawlers.all()]
        if tags:
            names = [name for name in names if tags <= changes.tags(service.arn("crawler", name)).items()]
    found, rest = page_by_name(names, str, request, _PAGE)
    return {"CrawlerNames": found, **rest}


def start_crawler(service: Service, request: Mapping[str, Any]) -> dict[str, Any]:
    """Start a crawl, whatever the schedule says."""
    with service.store.changes() as changes:
        changes.alone()
        crawler = crawler_named(changes, request["Name"])
        if start_crawl(changes, crawler, service.now_ms()) is None:
            raise ServiceError("CrawlerRunningException", already_started(crawler.name))
        reach("service.adding_crawl")
    reach("service.crawl_added")
    service.wake()
    return {}


def stop_crawler(service: Service, request: Mapping[str, Any]) -> dict[str, Any]:
    """Stop the crawl of a crawler. What it has found is not written."""
    with service.store.changes() as changes:
        crawler = crawler_named(changes, request["Name"])
        crawl = next((one for one in _crawls(changes, crawler) if one.state in OPEN), None)
        if crawl is None:
            raise ServiceError("CrawlerNotRunningException", f"Crawler with name {crawler.name} isn't running")
        if crawl.state is State.STOPPING:
            raise ServiceError("CrawlerStoppingException", f"Crawler with name {crawler.name} is stopping already")
        changes.change_run(asked_to_stop(crawl, service.now_ms()))
    service.wake()
    return {}


def get_crawler_metrics(service: Service, request: Mapping[str, Any]) -> dict[str, Any]:
    """Return what crawlers did last, and how long that takes them; of all crawlers if none is named."""
    wanted_names = request.get("CrawlerNameList") or ()
    with service.store.changes() as changes:
        those = [one for one in changes.crawlers.all() if not wanted_names or one.name in wanted_names]
        found, rest = page_by_name(those, lambda one: one.name, request, _PAGE)
        figures = [figures_of(one.name, _crawls(changes, one), service.now_ms()) for one in found]
    return {"CrawlerMetricsList": figures, **rest}


def list_crawls(service: Service, request: Mapping[str, Any]) -> dict[str, Any]:
    """Return a page of the crawls of a crawler, the newest first."""
    most, before = size_of(request, _PAGE_OF_CRAWLS), number_of(request.get("NextToken"))
    if most > _MOST_CRAWLS:
        raise invalid(f"MaxResults is {most}; use 1 to {_MOST_CRAWLS}.")
    filters = request.get("Filters") or ()
    check_filters(filters)
    found: list[Run] = []
    with service.store.changes() as changes:
        crawler = crawler_named(changes, request["CrawlerName"])
        while len(found) <= most:
            some = changes.runs(crawl_subject(crawler.name), before, _RECENT)
            found += [one for one in some if _is_of(one, crawler) and wanted(one, filters)]
            if len(some) < _RECENT:
                break
            before = some[-1].number
    page, rest = cut(found, most, lambda one: str(one.number))
    return {"Crawls": [_history(one) for one in page], **rest}


def start_crawler_schedule(service: Service, request: Mapping[str, Any]) -> dict[str, Any]:
    """Let the schedule of a crawler start crawls from now on."""
    with service.store.changes() as changes:
        crawler = crawler_named(changes, request["CrawlerName"])
        if not crawler.schedule:
            raise ServiceError("NoScheduleException", f"Crawler {crawler.name} has no schedule; give it one.")
        if crawler.is_scheduled:
            raise ServiceError("SchedulerRunningException", f"The schedule of crawler {crawler.name} runs already")
        changes.crawlers.save(timed(replace(crawler, is_scheduled=True), service.now_ms()))
    service.wake()
    return {}


def stop_crawler_schedule(service: Service, request: Mapping[str, Any]) -> dict[str, Any]:
    """Let the schedule of a crawler start no more crawls. One that runs goes on."""
    with service.store.changes() as changes:
        crawler = crawler_named(changes, request["CrawlerName"])
        if not crawler.is_scheduled:
            raise ServiceError("SchedulerNotRunningException", f"The schedule of crawler {crawler.name} doesn't run")
        changes.crawlers.save(timed(replace(crawler, is_scheduled=False), service.now_ms()))
    return {}


def update_crawler_schedule(service: Service, request: Mapping[str, Any]) -> dict[str, Any]:
    """Give a crawler another schedule; an empty one removes it."""
    schedule, now_ms = request.get("Schedule") or "", service.now_ms()
    with service.store.changes() as changes:
        crawler = crawler_named(changes, request["CrawlerName"])
        check(crawler.name, crawler.definition, schedule, now_ms)
        changes.crawlers.save(with_schedule(crawler, schedule, now_ms))
    service.wake()
    return {}


def crawler_named(changes: Changes, name: str) -> Crawler:
    """Return a crawler.

    Raises:
        ServiceError: `EntityNotFoundException`.
    """
    found = changes.crawlers.get(name)
    if found is None:
        raise not_found(f"Crawler {name} not found.")
    return found


def crawl_answer(crawl: Run) -> dict[str, Any]:
    """Return a crawl as `Crawl` of a workflow's graph."""
    running = "CANCELLING" if crawl.state is State.STOPPING else "RUNNING"
    ended = "ERROR" if crawl.state is State.ERROR else last_status(crawl)
    answer: dict[str, Any] = {
        "State": ended or running,
        "StartedOn": secs(crawl.started_ms),
        "LogGroup": CRAWLERS,
        "LogStream": crawler_of(crawl.job),
    }
    if crawl.completed_ms:
        answer["CompletedOn"] = secs(crawl.completed_ms)
    return answer | _error(crawl)


def _idle(changes: Changes, name: str) -> Crawler:
    crawler = crawler_named(changes, name)
    if changes.count(crawl_subject(name), OPEN):
        raise ServiceError("CrawlerRunningException", f"Crawler with name {name} is running; stop it, or wait.")
    return crawler


def _check_classifiers(changes: Changes, crawler: Crawler) -> None:
    for name in crawler.definition.get("Classifiers") or ():
        if changes.definitions.get(Kind.CLASSIFIER, name) is None:
            raise invalid(f"Classifier {name} not found; create it first.")


def _crawls(changes: Changes, crawler: Crawler) -> list[Run]:
    """Return the newest crawls of a crawler, without those of a deleted one of the same name."""
    return [one for one in changes.runs(crawl_subject(crawler.name), None, _RECENT) if _is_of(one, crawler)]


def _is_of(crawl: Run, crawler: Crawler) -> bool:
    return crawl.started_ms >= crawler.created_ms


def _answer(changes: Changes, crawler: Crawler, now_ms: int) -> dict[str, Any]:
    crawls = _crawls(changes, crawler)
    state = state_of(crawls)
    answer: dict[str, Any] = {
        "Name": crawler.name,
        **crawler.definition,
        "State": state,
        "CrawlElapsedTime": 0 if state == READY else now_ms - crawls[0].started_ms,
        "CreationTime": secs(crawler.created_ms),
        "LastUpdated": secs(crawler.modified_ms),
        "Version": crawler.version,
    }
    if crawler.schedule:
        word = SCHEDULED if crawler.is_scheduled else NOT_SCHEDULED
        answer["Schedule"] = {"ScheduleExpression": crawler.schedule, "State": word}
    last = next((one for one in crawls if one.state not in OPEN), None)
    if last is not None:
        told = {"Status": last_status(last), "StartTime": secs(last.started_ms)}
        answer["LastCrawl"] = told | _error(last) | _log(last)
    return answer


def _history(crawl: Run) -> dict[str, Any]:
    answer = {
        "CrawlId": crawl.id,
        "State": history_state(crawl),
        "StartTime": secs(crawl.started_ms),
        **_error(crawl),
        **_log(crawl),
        "DPUHour": dpu_hours(crawl),
    }
    if crawl.completed_ms:
        answer["EndTime"] = secs(crawl.completed_ms)
    if summary := summary_text(crawl):
        answer["Summary"] = summary
    return answer


def _log(crawl: Run) -> dict[str, Any]:
    return {"LogGroup": CRAWLERS, "LogStream": crawler_of(crawl.job), "MessagePrefix": crawl.id}


def _error(crawl: Run) -> dict[str, str]:
    return {"ErrorMessage": crawl.error[:2048]} if crawl.error else {}
