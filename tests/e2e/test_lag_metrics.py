"""The lag a job shows at random moments, beside what the broker and its tools say.

GLUEPOT_LAG_MOMENTS=50 looks at as many moments.
"""

from __future__ import annotations

import os
import time
from random import Random

import pytest
from confluent_kafka import Consumer, ConsumerGroupTopicPartitions, TopicPartition
from confluent_kafka.admin import AdminClient, OffsetSpec
from kafka import KafkaProducer

from gluepot.servers.ports import free_port
from tests.e2e.conftest import new_topic_at
from tests.e2e.jobs import SCRIPTS, arguments, rest, wait_until
from tests.scrape import scrape

MOMENTS = int(os.environ.get("GLUEPOT_LAG_MOMENTS", "8"))
PARTITIONS = 3
WINDOW_SECS = 5
SHOWN_SECS = 20.0  # for what is shown about once a second, on a machine that others may be busy on
GROUP = {"kafka.group.id": "lag-moments", "commitGroupOffsets": "true"}


class Truth:
    """What tools for Kafka find out: ends, the group's commits, and the records between them."""

    def __init__(self, bootstrap, topic):
        self._admin = AdminClient({"bootstrap.servers": bootstrap, "log_level": 0})
        self._consumer = Consumer(
            {"bootstrap.servers": bootstrap, "group.id": "truth", "enable.auto.commit": False, "log_level": 0}
        )
        self._partitions = [TopicPartition(topic, n) for n in range(PARTITIONS)]

    def records(self):
        ends = self._admin.list_offsets(dict.fromkeys(self._partitions, OffsetSpec.latest()))
        committed = self._committed()
        return {f"{one.topic}-{one.partition}": end.result().offset - committed[one] for one, end in ends.items()}

    def oldest_epoch(self):
        """When the oldest record that is not committed was made, by partition; nothing for one without any."""
        committed, behind = self._committed(), self.records()
        found = {}
        for one in self._partitions:
            if behind[f"{one.topic}-{one.partition}"]:
                self._consumer.assign([TopicPartition(one.topic, one.partition, committed[one])])
                record = self._consumer.poll(SHOWN_SECS)
                found[f"{one.topic}-{one.partition}"] = record.timestamp()[1] / 1000
        return found

    def _committed(self):
        asked = [ConsumerGroupTopicPartitions(GROUP["kafka.group.id"])]
        answer = self._admin.list_consumer_group_offsets(asked)[GROUP["kafka.group.id"]].result()
        return dict.fromkeys(self._partitions, 0) | {one: one.offset for one in answer.topic_partitions}

    def close(self):
        self._consumer.close()


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
        if hold.exists():  # otherwise a batch may be committed while the two are asked for
            secs, now_epoch = shown("lag_seconds"), time.time()
            waiting = {shard: now_epoch - oldest for shard, oldest in truth.oldest_epoch().items()}
            assert secs == pytest.approx(dict.fromkeys(secs, 0.0) | waiting, abs=WINDOW_SECS)
    assert most > 0
    hold.unlink(missing_ok=True)
    job.process.terminate()
    assert job.exit_code() == 0, job.err
