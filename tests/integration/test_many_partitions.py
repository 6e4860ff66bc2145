"""Topics of more partitions than a worker keeps readers, read by tasks that have several of them."""

from __future__ import annotations

from collections import defaultdict

import pytest

from gluepot.connectors.kafka import reader
from gluepot.connectors.kafka.settings import KafkaReadSettings
from gluepot.connectors.kafka.source import KafkaSource
from gluepot.connectors.values import SourceRange
from gluepot.engine.task import begun

PARTITIONS = 20


@pytest.fixture
def wide(new_topic):
    return new_topic(PARTITIONS)


def fill(topic, first: int) -> dict[str, list[bytes]]:
    """Send none to the first partition, one to the second and so on; return what each has got."""
    sent = {
        str(partition): [b'{"number": %d}' % (first + 100 * partition + n) for n in range(partition)]
        for partition in range(PARTITIONS)
    }
    for partition, values in sent.items():
        topic.send(*values, partition=int(partition))
    return sent


def test_readers_turn_to_other_partitions_and_mix_nothing_up(wide):
    settings = KafkaReadSettings.from_options(wide.options())
    reading = KafkaSource(settings).reading()
    for round_number in range(3):
        sent = fill(wide, 10_000 * round_number)
        batch = [
            SourceRange("kafka", wide.name, "", shard, round_number * len(values), (round_number + 1) * len(values))
            for shard, values in sent.items()
            if values
        ]
        read = defaultdict(list)

        for wanted in begun(reading, batch):
            for raw in reading.reader.read(wanted):
                read[raw.shard] += raw.values

        assert read == {shard: values for shard, values in sent.items() if values}
        kept = [key for key in reader._readers if key[1] == wide.name]
        assert len(kept) == reader.KEPT_CONSUMERS


def test_sub_ranges_of_one_partition_are_read_one_after_the_other(wide):
    wide.send(*(b"%d" % n for n in range(1_000)), partition=3)
    reading = KafkaSource(KafkaReadSettings.from_options(wide.options())).reading()
    pieces = [SourceRange("kafka", wide.name, "", "3", start, start + 250) for start in range(0, 1_000, 250)]

    read = [value for wanted in begun(reading, pieces) for raw in reading.reader.read(wanted) for value in raw.values]

    assert read == [b"%d" % n for n in range(1_000)]


def test_a_job_writes_each_record_once_and_few_files(wide, job):
    sent = [value for first in (0, 10_000) for values in fill(wide, first).values() for value in values]

    job.drain(wide.options(), smallBatchRecords=0)

    assert job.documents() == sorted(value.decode() for value in sent)
    assert len(list(job.table.rglob("*.parquet"))) == len(job.batches)
