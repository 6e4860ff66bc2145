"""`examples/clickstream.py`, not a line changed, the three ways to start it and through an outage of its broker."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

import psutil
import pyspark
import pytest

from gluepot.produce.click_events import Event, events
from gluepot.servers.kafka import KafkaBroker
from tests.e2e.conftest import Topic, new_topic_at
from tests.e2e.jobs import EXAMPLES, Job, Launcher, arguments, column, connections_file, rest

SCRIPT = EXAMPLES / "clickstream.py"
SPARK_SUBMIT = Path(pyspark.__file__).parent / "bin" / "spark-submit"
TOTAL = 4000
OUTAGE_SECS = 20


@dataclass
class Clicks:
    """A broker of our own with the topic the script names, and what was sent to it."""

    broker: KafkaBroker
    topic: Topic
    source: Iterator[Event]
    good: list[int] = field(default_factory=list)

    def send(self, count: int) -> None:
        more = list(islice(self.source, count))
        self.topic.send(event.payload for event in more)
        self.good += [event.number for event in more if event.good]


@pytest.fixture(scope="module")
def clicks(tmp_path_factory):
    with KafkaBroker(tmp_path_factory.mktemp("clicks") / "kafka") as broker:
        started = Clicks(broker, new_topic_at(broker.bootstrap, "clicks"), events(TOTAL))
        started.send(TOTAL // 2)
        yield started


@dataclass(frozen=True)
class Run:
    """The command of one run, but for the way it is started."""

    launch: Launcher
    folder: Path
    connections: Path

    @property
    def table(self) -> Path:
        return self.folder / "table"

    @property
    def arguments(self) -> list[str]:
        return [*arguments(JOB_NAME="clicks", TempDir=self.folder / "temp", output_path=self.table)]

    @property
    def env(self) -> dict[str, str]:
        return {"GLUEPOT_CONNECTIONS": str(self.connections)}

    def wait_for(self, job: Job, ids: list[int]) -> None:
        job.wait_until(lambda: len(column(self.table, "event_id")) >= len(ids), f"{len(ids)} events")


@pytest.fixture
def run(launch, clicks, tmp_path):
    return Run(launch, tmp_path, connections_file(tmp_path, clicks.broker.bootstrap))


def test_plain_python_runs_it_and_sigterm_ends_it_with_0(run, clicks):
    job = run.launch(sys.executable, SCRIPT, *run.arguments, env=run.env)
    run.wait_for(job, clicks.good)

    job.signal(signal.SIGTERM)

    assert job.exit_code() == 0, job.err
    assert column(run.table, "event_id") == clicks.good


def test_spark_submit_runs_it_and_sigterm_of_the_script_ends_it_with_0(run, clicks):
    driver = ("--conf", "spark.driver.host=127.0.0.1", "--conf", "spark.driver.bindAddress=127.0.0.1")
    env = {**run.env, "PYSPARK_PYTHON": sys.executable, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    job = run.launch(SPARK_SUBMIT, "--master", "local[2]", *driver, SCRIPT, *run.arguments, env=env)
    run.wait_for(job, clicks.good)

    told = [p for p in psutil.process_iter(["cmdline"], ad_value=[]) if str(run.table) in p.info["cmdline"]]
    # Java has the script's arguments in its own command line; the script runs in a child of it.
    (script,) = [p for p in told if p.info["cmdline"][0] == sys.executable]
    script.send_signal(signal.SIGTERM)

    assert job.exit_code() == 0, job.err
    assert column(run.table, "event_id") == clicks.good


def test_a_broker_that_is_away_for_20_s_neither_ends_the_job_nor_loses_an_event(run, clicks):
    job = run.launch.gluepot("run", SCRIPT, "--connections", run.connections, "--", *run.arguments)
    run.wait_for(job, clicks.good)

    clicks.broker.stop()
    rest(OUTAGE_SECS)
    assert job.runs(), job.err
    clicks.broker.start()
    clicks.send(TOTAL // 2)
    run.wait_for(job, clicks.good)
    job.signal(signal.SIGTERM)

    assert job.exit_code() == 0, job.err
    assert column(run.table, "event_id") == clicks.good
    assert job.said("query_failed") == []
