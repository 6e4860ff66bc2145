"""What the console shows of crawlers and their crawls."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from gluepot.core.masking import mask, mask_text
from gluepot.core.plural import counted
from gluepot.service.console.log_pages import address_of, run_or_crawl, tail
from gluepot.service.console.page import ROWS, Page, Query, Reader, more
from gluepot.service.console.values import Facts, StateWord, facts, pretty, short_id, state_word, url
from gluepot.service.decisions.crawls import NOT_SCHEDULED, READY, SCHEDULED, figures_of, history_state
from gluepot.service.decisions.log_streams import CRAWLERS, OUTPUT, text_of
from gluepot.service.decisions.states import OPEN, Run, State, crawl_subject
from gluepot.service.operations.crawlers import crawler_named
from gluepot.service.paging import cut, number_of

_CRAWLERS = ("Crawlers", url("crawlers"))
_STREAM = "output"
_RECENT_CRAWLS = 20
# A crawl may have made a million partitions.
_MOST_NAMES = 200
_VERBS = {"ADD": "Added", "UPDATE": "Changed", "DELETE": "Removed"}


def crawlers(reader: Reader, query: Query) -> Page:
    """Return a page of the crawlers, each with its last crawl."""
    found = reader.call("GetCrawlers", MaxResults=ROWS, NextToken=query.get("page"))
    rows = [_crawler_row(mask(one)) for one in found["Crawlers"]]
    values = {"crawlers": rows, "more": more("crawlers", found, query)}
    return Page("crawlers.html", "Crawlers", "crawlers", values, polls=True)


def crawler(reader: Reader, query: Query) -> Page:
    """Return a crawler with its settings and a page of its crawls."""
    name = query.get("name", "")
    found = mask(reader.call("GetCrawler", Name=name)["Crawler"])
    with reader.service.store.changes() as changes:
        created_ms, next_ms = (one := crawler_named(changes, name)).created_ms, one.next_ms
        newest = changes.runs(crawl_subject(name), number_of(query.get("page")), ROWS + 1)
    # A crawler of the same name, which was deleted, may have left older ones.
    crawls, rest = cut([one for one in newest if one.started_ms >= created_ms], ROWS, lambda one: str(one.number))
    now_ms = reader.now_ms
    values = {
        "row": _crawler_row(found),
        "next_ms": next_ms,
        "facts": _crawler_facts(found),
        "targets": targets_of(found["Targets"]),
        "typical_secs": figures_of(name, crawls[:_RECENT_CRAWLS], now_ms)["MedianRuntimeSeconds"] or None,
        "crawls": [crawl_row(one, now_ms) for one in crawls],
        "times": [("Created", found["CreationTime"] * 1000), ("Last modified", found["LastUpdated"] * 1000)],
        "json": pretty(found),
        "more": more("crawler", rest, query, name=name),
    }
    return Page("crawler.html", name, "crawlers", values, polls=True, path=[_CRAWLERS])


def crawl(reader: Reader, query: Query) -> Page:
    """Return a crawl: what it changed, and its log."""
    name = query.get("crawler", "")
    with reader.service.store.changes() as changes:
        found = run_or_crawl(changes, {**query, "crawler": name})
    goes_on = found.state in OPEN
    values = {
        "row": crawl_row(found, reader.now_ms),
        "crawler": name,
        "crawler_link": url("crawler", name=name),
        "stopping": found.state is State.STOPPING,
        "trigger_link": url("trigger", name=found.trigger) if found.trigger else "",
        "changes": changes_of(found.result.get("summary") or {}),
        "of": address_of(found),
        "stream": _STREAM,
        "log_group": f"{CRAWLERS}/{name}",
        "piece": tail(reader, found, _STREAM),
        "goes_on": goes_on,
        "has_logs": goes_on or reader.service.logs.has(text_of(found, OUTPUT)),
    }
    above = [_CRAWLERS, (name, url("crawler", name=name))]
    return Page("crawl.html", short_id(found.id), "crawlers", values, goes_on, above)


@dataclass(frozen=True, slots=True)
class CrawlRow:
    """A crawl in a list.

    Args:
        id: the whole id.
        short: the begin of its id.
        link: to its page.
        state: where it is.
        started_ms: when it was asked for.
        ended_ms: when it ended; None before.
        took_secs: how long it has taken.
        started_by: its trigger; empty for a caller and for the crawler's schedule.
        changed: what it changed, in words.
        error: why it failed.
        goes_on: whether it can be stopped.
    """

    id: str
    short: str
    link: str
    state: StateWord
    started_ms: int
    ended_ms: int | None
    took_secs: float
    started_by: str
    changed: str
    error: str
    goes_on: bool


def crawl_row(one: Run, now_ms: int) -> CrawlRow:
    """Return a crawl as a list shows it."""
    state = "STOPPING" if one.state is State.STOPPING else history_state(one)
    return CrawlRow(
        one.id,
        short_id(one.id),
        url("crawl", **address_of(one)),
        state_word(state),
        one.started_ms,
        one.completed_ms or None,
        ((one.completed_ms or now_ms) - one.started_ms) / 1000,
        one.trigger,
        ", ".join(f"{what} {verb.lower()}" for verb, what, *_ in changes_of(one.result.get("summary"))),
        mask_text(one.error),
        one.state in OPEN,
    )


def changes_of(summary: Mapping[str, Any] | None) -> list[tuple[str, str, int, list[str]]]:
    """Return what a crawl changed: the verb, how many of what, their number, and the first of their names."""
    return [
        (_VERBS.get(verb, verb), counted(one["Count"], kind.lower()), one["Count"], list(one["Details"][:_MOST_NAMES]))
        for kind, actions in (summary or {}).items()
        for verb, one in actions.items()
        if one["Count"]
    ]


def targets_of(targets: Mapping[str, Iterable[Mapping[str, Any]]]) -> list[tuple[str, str, str]]:
    """Return the targets of a crawler: their kind, where they are, and what is left out of them."""
    found = []
    for kind, ones in targets.items():
        for one in ones:
            places = [one[name] for name in ("ConnectionName", "DatabaseName", "Path", "Name") if one.get(name)]
            lists = [*one.get("Paths", ()), *one.get("DeltaTables", ()), *one.get("Tables", ())]
            where = ": ".join(filter(None, (" ".join(places), ", ".join(lists))))
            found.append((kind.removesuffix("Targets"), where, ", ".join(one.get("Exclusions", ()))))
    return found


def _crawler_row(found: Mapping[str, Any]) -> dict[str, Any]:
    schedule, last = found.get("Schedule", {}), found.get("LastCrawl")
    return {
        "name": found["Name"],
        "link": url("crawler", name=found["Name"]),
        "state": StateWord("Ready", "quiet") if found["State"] == READY else state_word(found["State"]),
        "runs": found["State"] != READY,
        "stopping": found["State"] == "STOPPING",
        "schedule": schedule.get("ScheduleExpression", ""),
        "is_scheduled": schedule.get("State") == SCHEDULED,
        "is_paused": schedule.get("State") == NOT_SCHEDULED,
        "targets": [where for _, where, _ in targets_of(found["Targets"])],
        "database": found.get("DatabaseName", ""),
        "last": None if last is None else (state_word(last["Status"]), last["StartTime"] * 1000),
        "error": "" if last is None else mask_text(last.get("ErrorMessage", "")),
    }


def _crawler_facts(found: Mapping[str, Any]) -> Facts:
    changes = found["SchemaChangePolicy"]
    return facts(
        ("Database", found.get("DatabaseName")),
        ("Names of tables begin with", found.get("TablePrefix")),
        ("What is crawled", found["RecrawlPolicy"]["RecrawlBehavior"]),
        ("Tables that have changed", changes["UpdateBehavior"]),
        ("Tables that are gone", changes["DeleteBehavior"]),
        ("Classifiers", ", ".join(found.get("Classifiers") or ())),
        ("Role", found.get("Role")),
        ("Description", found.get("Description")),
    )
