"""A job that does well, scraped by a real Prometheus with the rules loaded: no alert fires, and in the end none is about to.

GLUEPOT_QUIET_SECS=600 looks on for ten minutes.
"""

from __future__ import annotations

import os
import threading
from itertools import count
from pathlib import Path
from random import Random
from urllib.error import URLError

import pytest
import yaml
from kafka import KafkaProducer

from gluepot.servers.ports import free_port
from tests.e2e.conftest import new_topic_at
from tests.e2e.jobs import SCRIPTS, arguments, launcher, rest, wait_until
from tests.prometheus import SERVER, prometheus_over

QUIET_SECS = float(os.environ.get("GLUEPOT_QUIET_SECS", "20"))
WINDOW_SECS = 5
RECORDS_PER_SEC = 20
RULES = Path(__file__).parents[2] / "deploy/prometheus/alerts.yaml"
ALERTS = {
    rule["alert"] for group in yaml.safe_load(RULES.read_text())["groups"] for rule in group["rules"] if "alert" in rule
}

pytestmark = pytest.mark.skipif(SERVER is None, reason="prometheus is not on PATH; it is a Debian package")


@pytest.fixture
def steady_topic(kafka):
    """A topic that gets records at an even rate."""
    topic, ended = new_topic_at(kafka), threading.Event()
    producer = KafkaProducer(bootstrap_servers=kafka, acks="all")

    def send():
        for n in count():
            producer.send(topic.name, b'{"n": %d}' % n)
            if ended.wait(1 / RECORDS_PER_SEC):
                return

    sender = threading.Thread(target=send)
    sender.start()
    yield topic
    ended.set()
    sender.join()
    producer.close()


@pytest.fixture
def prometheus(steady_topic, tmp_path):
    port = free_port(Random())
    (tmp_path / "temp").mkdir()
    with launcher(tmp_path) as launch:
        launch.gluepot(
            "run", SCRIPTS / "number_stream.py", f"--metrics-port={port}", "--master=local[2]", "--",
            *arguments(JOB_NAME="quiet", TempDir=tmp_path / "temp", output_path=tmp_path / "table", pause=0),
            *arguments(bootstrap=steady_topic.bootstrap, topic=steady_topic.name, window=f"{WINDOW_SECS} seconds"),
        )  # fmt: skip
        with prometheus_over(f"127.0.0.1:{port}", tmp_path, RULES) as server:
            yield server


def test_no_alert_fires_over_a_job_that_does_well(prometheus):
    def batches() -> float:
        try:
            return sum(prometheus.query("gluepot_batches_total"))
        except URLError:  # it is still starting
            return 0.0

    wait_until(lambda: batches() > 0, "the first batch")
    rest(QUIET_SECS)

    assert batches() >= QUIET_SECS / WINDOW_SECS / 2
    assert prometheus.judged() == dict.fromkeys(ALERTS, "ok")
    assert prometheus.query('count_over_time(ALERTS{alertstate="firing"}[1h])') == []
    assert prometheus.alerts() == []
