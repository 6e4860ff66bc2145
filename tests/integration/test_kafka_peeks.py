"""The first records of ranges, of topics with many partitions: what that leaves open does not grow with them."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from gluepot.connectors.kafka import reader
from gluepot.connectors.kafka.admin import KafkaAdmin
from gluepot.connectors.kafka.settings import KafkaReadSettings
from gluepot.connectors.values import SourceRange

PARTITIONS = 50
OF_ONE_CONSUMER = 12
"""Threads or descriptors, with room for a connection that is being replaced."""


def opened() -> dict[str, int]:
    """Threads and descriptors of this process, the native ones of librdkafka among them."""
    return {what: sum(1 for _ in Path(f"/proc/self/{what}").iterdir()) for what in ("task", "fd")}


@pytest.fixture
def wide(new_topic):
    topic = new_topic(PARTITIONS)
    for partition in range(PARTITIONS):
        topic.send(b"%d first" % partition, b"%d second" % partition, partition=partition)
    return topic


@pytest.fixture
def admin(wide):
    return KafkaAdmin(KafkaReadSettings.from_options(wide.options()))


def ranges(topic, start=0, end=2):
    return [SourceRange("kafka", topic.name, "", str(partition), start, end) for partition in range(PARTITIONS)]


def test_one_consumer_peeks_at_all_partitions_of_a_topic(wide, admin):
    before = opened()
    for start, which in ((0, b"first"), (1, b"second"), (0, b"first")):
        found = [(one.shard, one.position, one.value) for one in admin.originals(ranges(wide, start))]
        assert found == [(str(n), start, b"%d %s" % (n, which)) for n in range(PARTITIONS)]
    for wanted in ranges(wide):
        assert admin.any_record([wanted])
    more = {what: now - before[what] for what, now in opened().items()}
    assert max(more.values()) <= OF_ONE_CONSUMER, more
    assert len([key for key in reader._peekers if key[1] == wide.name]) == 1


def test_queries_that_peek_at_the_same_time_get_their_own_records(wide, admin):
    def peek(wanted):
        return [one.value for one in admin.originals([wanted])]

    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(peek, ranges(wide)))
    assert found == [[b"%d first" % n] for n in range(PARTITIONS)]
    assert len([key for key in reader._peekers if key[1] == wide.name]) == 1


def test_no_more_consumers_are_kept_than_a_few_however_many_topics_there_are(new_topic):
    for _ in range(reader.KEPT_CONSUMERS + 2):
        topic = new_topic(1)
        topic.send(b"1")
        admin = KafkaAdmin(KafkaReadSettings.from_options(topic.options()))
        assert admin.any_record([SourceRange("kafka", topic.name, "", "0", 0, 1)])
    assert len(reader._peekers) == reader.KEPT_CONSUMERS
