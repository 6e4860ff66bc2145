"""Steady numbered records, some of them malformed, through a client that is not the product's."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from random import Random
from types import TracebackType
from typing import Self

from kafka import KafkaProducer

from tests.crash.journal import Journal, Sent, click_text, sha256

KINDS = ("view", "view", "buy", "a/b c", "größe")
MALFORMED_SHARE = 0.02
TICK_SECS = 0.1
ACK_SECS = 60


@dataclass(frozen=True, slots=True)
class Record:
    payload: bytes
    kind: str
    digest: str


def records(chance: Random) -> Iterator[Record]:
    """Numbered records for ever; equal for equal seeds."""
    number = 0
    while True:
        fields = number, chance.choice(KINDS), chance.randrange(-(2**53), 2**53), _text(chance)
        if chance.random() < MALFORMED_SHARE:
            payload = _malformed(number, chance)
            yield Record(payload, "", sha256(payload))
        else:
            plain = dict(zip(("id", "kind", "amount", "text"), fields, strict=True))
            yield Record(json.dumps(plain).encode(), fields[1], sha256(click_text(*fields)))
        number += 1


def _text(chance: Random) -> str:
    return "".join(chance.choices("abc \"'\\\n\tüß漢🦀", k=chance.randrange(40)))


def _malformed(number: int, chance: Random) -> bytes:
    return chance.choice(
        [
            b'{"id": %d, "kind": "buy", "text": "cut o' % number,
            b'\xff\xfe{"id": %d}' % number,
            b"%d: no object" % number,
            b'{"id": %d} {"id": %d}' % (number, number),
        ],
    )


class Producer:
    """Sends `records`, when told to or at a steady pace from a thread, and journals what the broker acknowledged.

    Idempotent: a request that is sent again after a lost reply is no second record, so the journal is all there is.

    Args:
        bootstrap: the broker.
        topic: has `partitions` partitions.
        partitions: records are spread over them at random.
        journal: takes every acknowledged record.
        chance: of the data.
        rate: records a second.
    """

    def __init__(
        self, bootstrap: str, topic: str, partitions: int, journal: Journal, chance: Random, rate: int
    ) -> None:
        self._client = KafkaProducer(bootstrap_servers=bootstrap, acks="all", enable_idempotence=True, linger_ms=2)
        self._topic = topic
        self._partitions = partitions
        self._journal = journal
        self._chance = chance
        self._records = records(chance)
        self._rate = rate
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._error: BaseException | None = None

    def send(self, count: int) -> None:
        """Send records and return when they are acknowledged and in the journal."""
        sending = []
        for _ in range(count):
            record = next(self._records)
            partition = self._chance.randrange(self._partitions)
            sending.append((record, self._client.send(self._topic, record.payload, partition=partition)))
        self._client.flush()
        acknowledged = []
        for record, future in sending:
            at = future.get(ACK_SECS)
            acknowledged.append(Sent(at.topic, at.partition, at.offset, record.kind, record.digest))
        self._journal.add(acknowledged)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def stop(self) -> None:
        """Send no more; raises what made the thread fail."""
        self._done.set()
        self._thread.join()
        if self._error is not None:
            raise self._error

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._done.set()
        self._thread.join()
        self.close()

    def close(self) -> None:
        """Let go of the broker; for a producer whose thread was never started."""
        self._client.close()

    def _run(self) -> None:
        try:
            while not self._done.wait(TICK_SECS):
                self.send(max(1, int(self._rate * TICK_SECS)))
        except BaseException as error:  # noqa: BLE001  reported by `stop`
            self._error = error
