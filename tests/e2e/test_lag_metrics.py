"""The lag a job shows at random moments, beside what the broker and an ordinary consumer say.

GLUEPOT_LAG_MOMENTS=50 looks at as many moments.
"""

from __future__ import annotations

import os
import time
from random import Random

import pytest
from kafka import KafkaConsumer, KafkaProducer, TopicPartition

from gluepot.servers.ports import free_port
from tests.e2e.conftest import new_topic_at
from tests.e2e.jobs import SCRIPTS, arguments, rest, wait_until
from tests.scrape import scrape

MOMENTS = int(os.environ.get("GLUEPOT_LAG_MOMENTS", "8"))
PARTITIONS = 3
WINDOW_SECS = 3
SHOWN_SECS = 20.0  # for what is shown about once a second, on a machine that others may be busy on
GROUP = {"kafka.group.id": "lag-moments", "commitGroupOffsets": "true"}


class Truth:
    """What a client that is not the product's finds out: ends, the group's commits, and the records between them."""

    def __init__(self, bootstrap, topic):
        self._consumer = KafkaConsumer(
            bootstrap_servers=bootstrap, group_id=GROUP["kafka.group.id"], enable_auto_commit=False
        )
        self._partitions = [TopicPartition(topic, n) for n in range(PARTITIONS)]
        self._consumer.assign(self._partitions)

    def records(self):
        ends = self._consumer.end_offsets(self._partitions)
        return {f"{one.topic}-{one.partition}": end - (self._consumer.committed(one) or 0) for one, end in ends.items()}

    def secs(self):
        """How long the oldest record that is not committed has waited, by partition; 0 for none."""
        waits = {}
        for one, behind in zip(self._partitions, self.records().values(), strict=True):
            waits[f"{one.topic}-{one.partition}"] = time.time() - self._oldest(one) if behind else 0.0
        return waits

    def _oldest(self, partition):
        self._consumer.seek(partition, self._consumer.committed(partition) or 0)
        while True:
            for record in self._consumer.poll(timeout_ms=1000, max_records=500).get(partition, ()):
                return record.timestamp / 1000

    def close(self):
        self._consumer.close(autocommit=False)


@pytest.fixture
def topic(kafka):
    return new_topic_at(kafka, partitions=PARTITIONS)


@pytest.fixture
def truth(topic):
    asked = Truth(topic.bootstrap, topic.name)
    yield asked
    asked.close()


@pytest.fixture
def producer(topic):
    opened = KafkaProducer(bootstrap_servers=topic.bootstrap, acks="all")
    yield opened
    opened.close()


def test_lag_is_the_brokers_ends_less_what_is_committed_at_any_moment(launch, topic, truth, producer, tmp_path):
    chance, port = Random(MOMENTS), free_port(Random())
    hold = tmp_path / "temp/hold"
    hold.parent.mkdir()

    def send():
        for partition in range(PARTITIONS):
            for _ in range(chance.choice([0, 1, 40])):
                producer.send(topic.name, b'{"n": 1}', partition=partition)
        producer.flush()

    def shown(name):
        return scrape(f"http://127.0.0.1:{port}/metrics").by("partition", name, job="numbers")

    for partition in range(PARTITIONS):
        producer.send(topic.name, b'{"n": 1}', partition=partition)
    producer.flush()
    job = launch.gluepot(
        "run", SCRIPTS / "number_stream.py", f"--metrics-port={port}", "--metrics-by-partition", "--master=local[2]",
        *(f"--stream-option={name}={value}" for name, value in GROUP.items()), "--",
        *arguments(JOB_NAME="numbers", TempDir=tmp_path / "temp", output_path=tmp_path / "table"),
        *arguments(bootstrap=topic.bootstrap, topic=topic.name, pause=0, window=f"{WINDOW_SECS} seconds"),
    )  # fmt: skip
    job.wait_until(lambda: job.said("batch_done"), "the first batch")
    wait_until(lambda: len(shown("lag_records")) == PARTITIONS, "the lag of every partition")

    most = 0
    for n in range(MOMENTS):
        # Half of the moments lie within a batch that does not end: its records are not committed, and more arrive.
        if n % 2:
            hold.unlink(missing_ok=True)
        else:
            hold.touch()
        send()
        rest(chance.uniform(0.0, 2.0))
        send()

        wait_until(lambda: shown("lag_records") == truth.records(), f"the lag of moment {n}", SHOWN_SECS)
        most = max(most, *truth.records().values())
        secs, true_secs = shown("lag_seconds"), truth.secs()
        if n % 2 == 0:  # while batches go on, one may be committed between the two
            assert secs == pytest.approx(true_secs, abs=WINDOW_SECS)
    assert most > 0
    hold.unlink(missing_ok=True)
    job.process.terminate()
    assert job.exit_code() == 0, job.err
