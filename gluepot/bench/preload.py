"""A topic that holds enough for every run: a run without a checkpoint reads it from the begin."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence

from gluepot.bench.measured import Run
from gluepot.connectors.kafka.feed import KafkaFeed
from gluepot.connectors.kafka.settings import KafkaReadSettings
from gluepot.core.clock import Clock
from gluepot.produce import Unpaced, produce, records
from gluepot.servers.topics import create_topic

TOPIC = "bench"
REPLACED = ("topicName", "subscribe", "subscribePattern", "connectionName", "startingTimestamp")


class Preload:
    """The topic, filled as far as is needed.

    Args:
        bootstrap: `host:port` of a broker.
        partitions: partitions of the topic, which is made here.
        payloads: records, used again and again.
        clock: tells how long sending took.
    """

    def __init__(self, bootstrap: str, partitions: int, payloads: Sequence[bytes], clock: Clock) -> None:
        create_topic(bootstrap, TOPIC, partitions)
        self._settings = KafkaReadSettings.from_options({"bootstrap.servers": bootstrap, "topicName": TOPIC})
        self._bootstrap, self._payloads, self._clock = bootstrap, payloads, clock
        self._rows: Counter[int] = Counter()

    def ensure(self, run: Run, batches: int) -> int:
        """Send what is missing for so many batches of a run; return how many records that were."""
        wanted, sent = batches * (run.limit_rows // run.cores + 1), 0
        for partition in range(run.cores):
            missing = wanted - self._rows[partition]
            if missing > 0:
                feed = KafkaFeed(self._settings, TOPIC, partition=partition)
                sent += produce(records(self._payloads), Unpaced(), feed, self._clock, most=missing).acknowledged
                self._rows[partition] = wanted
        return sent

    def options(self, run: Run) -> Mapping[str, str]:
        """Return the stream options that turn a script to the partitions of a run."""
        return stream_options(self._bootstrap, TOPIC, run)


def stream_options(bootstrap: str, topic: str, run: Run) -> Mapping[str, str]:
    """Return the options that turn a script to a topic: as many of its partitions as the run has cores."""
    return {
        **dict.fromkeys(REPLACED, ""),
        "kafka.bootstrap.servers": bootstrap,
        "kafka.security.protocol": "PLAINTEXT",
        "assign": json.dumps({topic: list(range(run.cores))}),
        "startingOffsets": "earliest",
        "maxOffsetsPerTrigger": str(run.limit_rows),
    }
