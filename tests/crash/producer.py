"""Steady numbered records, some of them malformed, through a client that is not the product's."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from random import Random
from types import TracebackType
from typing import Self

from tests.crash.journal import Journal, Sent, click_text, sha256
from tests.crash.streams import Place, Sender

KINDS = ("view", "view", "buy", "a/b c", "größe")
MALFORMED_SHARE = 0.02
TICK_SECS = 0.1


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


def _sent(record: Record, place: Place) -> Sent:
    return Sent(place.stream, place.shard, place.position, record.kind, record.digest)


class Producer:
    """Sends `records`, when told to or at a steady pace from a thread, and journals what was acknowledged.

    Args:
        sender: sends them; closed with this.
        journal: takes every acknowledged record.
        chance: of the data.
        rate: records a second.
    """

    def __init__(self, sender: Sender, journal: Journal, chance: Random, rate: int) -> None:
        self._sender = sender
        self._journal = journal
        self._records = records(chance)
        self._unanswered: list[Record] = []
        self._rate = rate
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._error: BaseException | None = None

    def send(self, count: int) -> None:
        """Send records and return when they are acknowledged and in the journal; those that nobody answered for are not."""
        sending = list(islice(self._records, count))
        places = self._sender.send([record.payload for record in sending])
        sent = list(zip(sending, places, strict=True))
        self._journal.add(_sent(record, place) for record, place in sent if place is not None)
        self._unanswered += [record for record, place in sent if place is None]

    def settle(self) -> int:
        """Journal what is there of the unanswered records; returns how many were unanswered."""
        doubtful = {record.payload: record for record in self._unanswered}
        self._journal.add(_sent(doubtful[payload], place) for payload, place in self._sender.found(list(doubtful)))
        self._unanswered.clear()
        return len(doubtful)

    def __enter__(self) -> Self:
        self.start()
        return self

    def start(self) -> None:
        """Send at the steady pace from now on."""
        self._thread.start()

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
        """Let go of the server; for a producer whose thread was never started."""
        self._sender.close()

    def _run(self) -> None:
        try:
            while not self._done.wait(TICK_SECS):
                self.send(max(1, int(self._rate * TICK_SECS)))
        except BaseException as error:  # noqa: BLE001  reported by `stop`
            self._error = error
