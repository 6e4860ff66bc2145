"""Collects everything that the page shows of a job, from memory."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields
from itertools import islice
from typing import Any

from gluepot.engine.write_totals import WrittenFile
from gluepot.ops.page import charts, origins
from gluepot.ops.page.checks import CheckedContext, LatestChecks
from gluepot.ops.page.history import Batch, FromBatch, History, QueryHistory
from gluepot.ops.page.log_tail import LogLine, LogTail
from gluepot.ops.page.origins import Setting
from gluepot.ops.page.records import Read, RecordReader
from gluepot.ops.page.verdict import WORST_FIRST, Verdict, verdict
from gluepot.streaming.advisor.advice import Advice
from gluepot.streaming.observe.status import QueryStatus
from gluepot.streaming.query.session import StreamSession
from gluepot.streaming.settings import StreamSettings

SHOWN_BATCHES = 12
SHOWN_FILES = 8
SHOWN_CHANGES = 12
SHOWN_POSITIONS = 16
SHOWN_LINES = 40
PHASES = ("plan", "fetch", "parse", "transform", "write", "publish", "commit")

_QUERY_DEFAULTS = {one.name: one.default for one in fields(StreamSettings) if one.default is not MISSING}


@dataclass(frozen=True, slots=True)
class Observed:
    """The parts of a job that the page shows and may change.

    Args:
        name: name of the job.
        run_id: shortened id of the run.
        streams: the session whose queries are shown, paused and stopped.
        history: the newest batches of these queries.
        log: the newest log lines.
        settings: settings of the run and the job.
        version: names and versions of the software.
        advice: returns the newest advice on a query, or None before the first; None if there is no advisor.
        records: reads rejected records.
        checks: the newest results of data quality checks.
    """

    name: str
    run_id: str
    streams: StreamSession
    history: History
    log: LogTail
    settings: Sequence[Setting]
    version: Mapping[str, str]
    advice: Callable[[str], Advice | None] | None = None
    records: RecordReader = field(default_factory=RecordReader)
    checks: LatestChecks = field(default_factory=LatestChecks)


@dataclass(frozen=True, slots=True)
class Tab:
    """An entry in the list of queries."""

    name: str
    verdict: Verdict
    newest: Batch | None


@dataclass(frozen=True, slots=True)
class Phase:
    """One phase of a batch.

    Args:
        name: name of the phase.
        secs: time of the phase; for phases in tasks, the sum over tasks.
        share: share of all phases, 0 to 1.
        before: sum of the shares of the phases before it.
    """

    name: str
    secs: float
    share: float
    before: float


@dataclass(frozen=True, slots=True)
class RejectsFile:
    """A file of rejected records, and its first records; None while they are being read."""

    at: FromBatch[WrittenFile]
    read: Read | None


@dataclass(frozen=True, slots=True)
class View:
    """The content of the page.

    The fields from `query` to `advice` describe the chosen query; `query` is None if there is none yet. Log lines and
    checks are those of the whole job.
    """

    job: Observed
    now_epoch: float
    stopping: bool
    tabs: Sequence[Tab]
    query: QueryStatus | None
    verdict: Verdict
    pausing: bool
    history: QueryHistory
    batch: Batch | None
    phases: Sequence[Phase]
    recent: Sequence[Batch]
    rejects: Sequence[RejectsFile]
    query_settings: Sequence[Setting]
    advice: Advice | None
    log: Sequence[LogLine]
    checks: Sequence[CheckedContext]

    @property
    def series(self) -> Mapping[str, Sequence[Any]]:
        """The points of the charts."""
        return charts.series(self.history.batches)

    @property
    def commit_age_secs(self) -> float | None:
        """Time since the last commit; None before the first."""
        if self.query is None or self.query.last_commit_epoch is None:
            return None
        return max(0.0, self.now_epoch - self.query.last_commit_epoch)


NO_QUERY = Verdict("quiet", "Starting", "The script has started no streaming query yet.")


def view(job: Observed, wanted: str | None = None, batch_id: int | None = None) -> View:
    """Return the content of the page.

    Args:
        job: the job to show.
        wanted: name of the query; if it is None or unknown, the query in the worst state is shown.
        batch_id: the batch whose phases to show; if it is None or no longer remembered, the newest.
    """
    now_epoch, stopping = job.streams.clock.epoch(), job.streams.stop.is_set()
    queries = job.streams.status.queries()
    tabs = [_tab(job, one, now_epoch, stopping=stopping) for one in queries]
    chosen = _chosen(queries, tabs, wanted)
    name = "" if chosen is None else chosen.query
    history = job.history.of(name)
    batch = next((one for one in history.batches if one.batch_id == batch_id), history.newest)
    return View(
        job=job,
        now_epoch=now_epoch,
        stopping=stopping,
        tabs=tabs,
        query=chosen,
        verdict=next((one.verdict for one in tabs if one.name == name), NO_QUERY),
        pausing=job.streams.pauses.hold(name),
        history=history,
        batch=batch,
        phases=phases(batch),
        recent=list(reversed(history.batches))[:SHOWN_BATCHES],
        rejects=[RejectsFile(one, job.records.first_of(one.what)) for one in reversed(history.rejects)],
        query_settings=origins.changed_first(origins.of_query(chosen.settings, _QUERY_DEFAULTS)) if chosen else [],
        advice=job.advice(name) if job.advice is not None else None,
        log=list(islice(job.log.newest_first(), SHOWN_LINES)),
        checks=job.checks.newest_first(),
    )


def phases(batch: Batch | None) -> list[Phase]:
    """Return the phases of a batch in the order in which records pass them; empty if their times are not known."""
    if batch is None or not (whole := sum(batch.phase_secs.values())):
        return []
    names = sorted(batch.phase_secs, key=lambda name: (PHASES.index(name) if name in PHASES else len(PHASES), name))
    found, before = [], 0.0
    for name in names:
        part = batch.phase_secs[name] / whole
        found.append(Phase(name, batch.phase_secs[name], part, before))
        before += part
    return found


def _tab(job: Observed, query: QueryStatus, now_epoch: float, *, stopping: bool) -> Tab:
    history = job.history.of(query.query)
    pausing = job.streams.pauses.hold(query.query)
    found = verdict(query, history.batches, now_epoch, stopping=stopping, pausing=pausing)
    return Tab(query.query, found, history.newest)


def _chosen(queries: Sequence[QueryStatus], tabs: Sequence[Tab], wanted: str | None) -> QueryStatus | None:
    by_name = {one.query: one for one in queries}
    if wanted in by_name:
        return by_name[wanted]
    worst = min(tabs, key=lambda tab: WORST_FIRST.index(tab.verdict.mood), default=None)
    return None if worst is None else by_name[worst.name]
