"""`--enable-auto-scaling` on a real standalone cluster of one-core workers."""

from __future__ import annotations

import json
import signal
import threading
from dataclasses import dataclass
from uuid import uuid4

import pytest

from gluepot.connectors.kafka.feed import KafkaFeed
from gluepot.connectors.kafka.settings import KafkaReadSettings
from gluepot.core.clock import SystemClock
from gluepot.produce import produce, records
from gluepot.servers.topics import create_topic
from tests.e2e.jobs import SCRIPTS, arguments, column, launcher
from tests.scrape import scrape
from tests.spark_cluster import spark_cluster

WORKERS = 4
LOW, HIGH = 120, 480
ADVISOR = {
    "worker_start_secs": 3, "hold_secs": 9, "catch_up_secs": 15, "cool_down_secs": 6, "warm_up_batches": 1
}  # fmt: skip


@dataclass
class Step:
    """The low rate, the high one for a while when told, then the low one again."""

    up_at: float = float("inf")
    down_at: float = float("inf")

    def due_by(self, secs):
        high_secs = max(0.0, min(secs, self.down_at) - self.up_at)
        return LOW * (secs - high_secs) + HIGH * high_secs


@pytest.fixture
def topic(kafka):
    name = f"steps-{uuid4().hex[:8]}"
    create_topic(kafka, name, WORKERS)
    return name


def test_a_step_of_the_load_brings_workers_and_they_are_given_back_and_nothing_is_lost(kafka, topic, tmp_path):
    clock, step, end = SystemClock(), Step(), threading.Event()
    settings = KafkaReadSettings.from_options({"bootstrap.servers": kafka, "topicName": topic})
    sent = []

    def made():
        numbered = records([b'{"a": 1}'], None, "seq")
        while not end.is_set():
            yield next(numbered)

    def send():
        sent.append(produce(made(), step, KafkaFeed(settings, topic), clock))

    table = tmp_path / "table"
    with spark_cluster(tmp_path / "cluster", WORKERS) as master, launcher(tmp_path) as launch:
        sending = threading.Thread(target=send)
        job = launch.gluepot(
            *("run", SCRIPTS / "slow_stream.py", "--master", master, "--max-workers", str(WORKERS)),
            *("--advice-log", tmp_path / "advice.jsonl", "--metrics-port", "0"),
            *(token for name, value in ADVISOR.items() for token in ("--advisor", f"{name}={value}")),
            "--",
            *("--conf", "spark.executor.memory=512m", "--executor-cores", "1", "--enable-auto-scaling", "true"),
            *arguments(JOB_NAME="steps", TempDir=tmp_path / "temp", output_path=table, bootstrap=kafka, topic=topic),
        )

        def changes():
            return [line["workers"] for line in job.said("workers_changed")]

        try:
            began = clock.monotonic()
            sending.start()
            job.wait_until(lambda: changes() and changes()[-1] <= 2, "workers are given back at the low rate")
            step.up_at = clock.monotonic() - began
            job.wait_until(lambda: changes()[-1] >= 3, "workers are added at the high rate")
            added = len(changes())
            job.wait_until(lambda: _holds(tmp_path / "advice.jsonl"), "batches fit the window again")
            shown = scrape(job.said("metrics")[0]["url"])
            step.down_at = clock.monotonic() - began
            job.wait_until(lambda: len(changes()) > added and changes()[-1] <= 2, "workers are given back again")
        finally:
            end.set()
            sending.join()
        (told,) = sent
        job.wait_until(lambda: len(column(table, "seq")) >= told.acknowledged, "the last records are in the table")
        job.signal(signal.SIGTERM)
        assert job.exit_code() == 0, job.err[-3000:]
        print(f"workers asked for: {WORKERS} -> {changes()}, {told.acknowledged:,} records")
        assert not job.said("batch_failed")
    workers = shown.value("workers", job="steps")
    assert workers >= 3
    assert shown.value("task_slots", job="steps") == workers, "a worker has one core"
    assert column(table, "seq") == list(range(told.acknowledged))


def _holds(log):
    """Whether the last two batches were done within their window by the workers that were asked for."""
    last = [json.loads(line)["observation"] for line in log.read_text().splitlines()[-2:]]
    return all(one["secs"] < one["window_secs"] and one["workers"] == one["ordered_workers"] >= 3 for one in last)
