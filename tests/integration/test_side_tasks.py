"""What goes on beside the batches may fail, for a batch or for ever: each batch is committed once all the same.

Two streams of one record a batch stand for all of it. In the first, each thing fails in one batch; in the second, it
fails from that batch on.
"""

from __future__ import annotations

import io
import threading
from collections import Counter
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import wraps
from typing import Any

import pytest
from kafka import KafkaProducer
from prometheus_client import CollectorRegistry
from rich.console import Console
from structlog.testing import capture_logs

import gluepot.job.compacting
import gluepot.streaming.advisor.log
import gluepot.streaming.query.run
from gluepot.bookmarks import jobrun
from gluepot.bookmarks.ledger import Ledger, Owner, RunStart, open_ledger
from gluepot.bookmarks.ledger.lease import Heartbeat
from gluepot.connectors.kafka.admin import KafkaAdmin
from gluepot.core.clock import FakeClock, SystemClock
from gluepot.job.compacting import compacting
from gluepot.job.lineage.emitter import Lineage
from gluepot.job.lineage.events import Names, Versions
from gluepot.job.live import LiveView
from gluepot.ops.cloudwatch import GlueNames
from gluepot.ops.page.history import History
from gluepot.servers.topics import create_topic
from gluepot.streaming.advisor import AdviceLog, AdvisorSettings
from gluepot.streaming.count_ahead.speculation import Speculation
from gluepot.streaming.micro_batch.frames import BatchFrame
from gluepot.streaming.micro_batch.inputs import Inputs
from gluepot.streaming.observe.metrics import StreamMetrics
from gluepot.streaming.observe.status import JobStatus
from gluepot.streaming.query import ledger_positions, session
from gluepot.streaming.query.session import Drain, StreamSession
from gluepot.streaming.query.throttling import Throttling
from gluepot.streaming.scaling import Scaler
from tests.e2e.jobs import wait_until
from tests.integration.conftest import Job, Topic

QUERY = "beside"
"""The folder of the checkpoint, after which the query is named."""


class Injected(Exception):
    """None of the errors that Gluepot knows of."""


class Listener:
    """Whom OpenLineage's events go to, and any other that is told of batches."""

    def hear(self, _: object) -> None:
        """Take it in."""


class Farm:
    """Workers that come and go."""

    def workers(self) -> int:
        return 2

    def ordered(self) -> int:
        return 2

    def scale_to(self, workers: int) -> None: ...


class Watcher(Listener):
    """Somebody else's, which has no name of its own."""


AT_START, MOST, ADVICE, NUMBERS = 0, 1, 3, 5
"""The batches in which things begin to fail: without numbers there is no advice, without advice nothing to follow."""
BATCHES = 7
SIDE_TASKS = [
    # The name in the metric, where the error is raised, and from which batch on.
    ("shuffle_partitions", gluepot.streaming.query.run, "suit_batches", AT_START),
    ("metrics", StreamMetrics, "announce", AT_START),
    ("metrics", StreamMetrics, "failure", AT_START),
    ("metrics", StreamMetrics, "retry", AT_START),
    ("metrics", StreamMetrics, "observe", MOST),
    ("metrics", StreamMetrics, "advise", MOST),
    ("metrics", StreamMetrics, "group_commits", MOST),
    ("capacity", gluepot.streaming.query.run, "capacity_of", MOST),
    ("ledger_positions", Ledger, "mirror", MOST),
    ("lag", Inputs, "backlog", MOST),
    ("lag", StreamMetrics, "lag", MOST),
    ("group_commits", KafkaAdmin, "commit_group", MOST),
    ("status", JobStatus, "tell", MOST),
    ("statistics", gluepot.streaming.query.run, "by_kind", NUMBERS),
    ("lineage", Inputs, "datasets", MOST),
    ("lineage", Listener, "hear", MOST),
    ("advice_log", gluepot.streaming.advisor.log, "observed", ADVICE),
    ("scaling", Scaler, "follow", MOST),
    ("page", History, "update", MOST),
    ("cloudwatch_names", GlueNames, "update", MOST),
    ("live_view", LiveView, "update", MOST),
    ("compaction", gluepot.job.compacting, "compact", MOST),
    ("throttled_reads", Throttling, "look", MOST),
    ("speculation", Speculation, "end", MOST),
    ("release_rows", BatchFrame, "release", MOST),
    ("test_side_tasks", Watcher, "hear", MOST),
]

ASKED_BY_THE_CLOCK = {"lag", "look"}
"""Of these there may be one in a stream that ends after some seconds."""


@dataclass
class Faults:
    """Raises at the places that are to fail at this moment."""

    forever: bool
    active: set[Any] = field(default_factory=set)
    hits: Counter[Any] = field(default_factory=Counter)

    def inject(self, patched: pytest.MonkeyPatch) -> None:
        for one in SIDE_TASKS:
            _, owner, place, _ = one
            patched.setattr(owner, place, self._faulty(one, getattr(owner, place)))

    def _faulty(self, one, original):
        @wraps(original)
        def call(*given, **named):
            if one in self.active:
                self.hits[one] += 1
                raise Injected(f"injected into {one[2]}")
            return original(*given, **named)

        return call

    def turn_to(self, batch_id: int) -> None:
        """Have those fail whose batch this is, once those of the batch before have failed."""
        wait_until(lambda: all(self.hits[one] for one in self.active), "an error in every thing that is to fail")
        due = {one for one in SIDE_TASKS if one[3] == batch_id}
        self.active = (self.active | due) if self.forever else due


@dataclass
class Outcome:
    """What came of a stream."""

    faults: Faults
    calls: list[int]
    rows: list[Any]
    manifests: int
    registry: CollectorRegistry
    logs: list[Any]

    def failures(self, task: str) -> float:
        labels = {"job": "test", "query": QUERY, "task": task}
        return self.registry.get_sample_value("gluepot_side_task_failures_total", labels) or 0.0


@pytest.fixture(scope="module", params=["in one batch", "for ever"])
def outcome(request, kafka, glue_context, tmp_path_factory):
    folder = tmp_path_factory.mktemp("beside")
    faults = Faults(forever=request.param == "for ever")
    job, topic = Job(glue_context, folder), _topic(kafka)
    calls, registry = [], CollectorRegistry()

    def function(frame, batch_id):
        if batch_id or calls:
            faults.turn_to(batch_id)
        calls.append(batch_id)
        if len(calls) == 1:
            raise Injected("the first attempt fails, too")
        job.copy(frame, batch_id)

    with ExitStack() as stack:
        logs = stack.enter_context(capture_logs())
        patched = stack.enter_context(pytest.MonkeyPatch.context())
        faults.inject(patched)
        faults.active = {one for one in SIDE_TASKS if one[3] == AT_START}
        patched.setattr(ledger_positions, "EVERY_SECS", 0.0)
        stack.enter_context(_bookmarks(folder, patched))
        streams = StreamSession(job="test", drain=Drain(max_batches=BATCHES), metrics=StreamMetrics(registry, "test"))
        _watch(streams, folder, stack)
        session.install(streams)
        stack.callback(session.install, StreamSession())
        options = topic.options(
            maxOffsetsPerTrigger="1", **{"kafka.group.id": topic.name, "commitGroupOffsets": "true"}
        )
        glue_context.forEachBatch(
            frame=glue_context.create_data_frame.from_options(connection_type="kafka", connection_options=options),
            batch_function=function,
            options={"windowSize": "0 seconds", "checkpointLocation": str(folder / QUERY)},
        )
    manifests = len(list((job.table / "_gluepot/commits").rglob("[!.]*.json")))
    return Outcome(faults, calls, job.rows("n"), manifests, registry, logs)


def _topic(kafka):
    producer = KafkaProducer(bootstrap_servers=kafka, acks="all")
    topic = Topic(kafka, f"beside-{threading.get_native_id()}-{id(producer)}", producer)
    create_topic(kafka, topic.name, 1, None)
    topic.send_json(*({"n": n} for n in range(BATCHES)))
    producer.close()
    return topic


def _bookmarks(folder, patched):
    """Let the job of this process have bookmarks, in which streams note where they stand."""
    stack = ExitStack()
    ledger = open_ledger(f"sqlite:///{folder}/ledger.db", SystemClock())
    stack.callback(ledger.close)
    run = ledger.begin(RunStart("test", "jr_1", "enable"), Owner("h", 1), None)
    marks = jobrun.Bookmarks(ledger, run, Heartbeat(ledger, run, ttl_secs=3600))
    stack.callback(marks.heartbeat.stop)
    patched.setattr(jobrun, "_current", jobrun.JobRun("test", "jr_1", None, marks))
    return stack


def _watch(streams, folder, stack):
    """Have everything that a run may have beside its batches."""
    failed, clock, settings = streams.side_task_failed, FakeClock(), AdvisorSettings()
    farm = Farm()
    followers = [Scaler(farm, settings, clock).follow, streams.metrics.advise]
    advice = AdviceLog(folder / "advice.jsonl", farm.workers, settings, followers=followers, failed=failed)
    lineage = Lineage(Listener().hear, Names("gluepot", "test", "jr_1"), Versions("1", "4"), clock, failed)
    lineage.began()
    stack.callback(lineage.ended, [], [], None)
    live = stack.enter_context(LiveView(Console(file=io.StringIO()), SystemClock()))
    compaction = stack.enter_context(compacting(1, clock, failed))
    names = GlueNames("test", "jr_1", clock.epoch)
    watchers = [advice.update, lineage.update, live.update, compaction, names.update, History().update, Watcher().hear]
    streams.watchers.extend(watchers)


def test_each_batch_is_committed_once_and_no_row_is_lost(outcome):
    assert outcome.calls == [0, *range(BATCHES)]
    assert outcome.rows == sorted(((n,) for n in range(BATCHES)), key=repr)
    assert outcome.manifests == BATCHES


@pytest.mark.parametrize("one", SIDE_TASKS, ids=lambda one: f"{one[0]}: {one[2]}")
def test_an_error_beside_the_batches_is_warned_of_and_counted(outcome, one):
    task, _, place, first = one
    often = first != AT_START and place not in ASKED_BY_THE_CLOCK
    least = 2 if outcome.faults.forever and often else 1
    assert outcome.faults.hits[one] >= least
    assert outcome.failures(task) >= least
    reason = f"injected into {place}"
    told = [line for line in outcome.logs if (line["event"], line.get("task")) == ("side_task_failed", task)]
    assert ("warning", QUERY) in {(line["log_level"], line["query"]) for line in told if line["reason"] == reason}
