"""A Kinesis that throttles, fails, hangs and forgets iterators, through a proxy: no batch fails, nothing is lost."""

from __future__ import annotations

import json
import random
import threading
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, repeat
from typing import Literal

import pytest

from gluepot.streaming.query import session
from tests.crash.http_proxy import Answer, Fate, http_proxy

Kind = Literal["throttled", "500", "reset", "time-out", "expired"]

HOLD_SECS = 0.5
ERRORS: Mapping[Kind, tuple[int, str]] = {
    "throttled": (400, "ProvisionedThroughputExceededException"),
    "expired": (400, "ExpiredIteratorException"),
    "500": (500, "InternalFailure"),
}
SCHEDULE: Sequence[tuple[Kind, float, int]] = (
    ("throttled", 0.3, 12),
    ("throttled", 1.0, 12),
    ("500", 0.5, 6),
    ("reset", 0.5, 6),
    ("time-out", 0.5, 4),
    ("expired", 0.5, 6),
)
"""What is spoilt, which share of the reads, and how many until the next kind's turn."""


@dataclass
class Spoiler:
    """Decides for a proxy, going through the schedule once."""

    spoilt: Counter[str] = field(default_factory=Counter)
    over: threading.Event = field(default_factory=threading.Event)
    _left: Iterator[tuple[Kind, float]] = field(
        default_factory=lambda: chain.from_iterable(repeat((kind, share), times) for kind, share, times in SCHEDULE)
    )
    _next: tuple[Kind, float] | None = None
    _chance: random.Random = field(default_factory=lambda: random.Random(1))
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        self._next = next(self._left)

    def fate(self, method: str, path: str, headers: Mapping[str, str]) -> Fate:
        kind = self._kind_for(headers["X-Amz-Target"])
        match kind:
            case None:
                return "pass"
            case "reset" | "time-out":
                return kind
        status, code = ERRORS[kind]
        return Answer(status, {}, json.dumps({"__type": code, "message": "made up"}).encode())

    def _kind_for(self, operation: str) -> Kind | None:
        with self._lock:
            if self._next is None or not operation.endswith(".GetRecords") or self._chance.random() > self._next[1]:
                return None
            kind, _ = self._next
            self.spoilt[kind] += 1
            self._next = next(self._left, None)
            if self._next is None:
                self.over.set()
            return kind


@pytest.fixture
def spoilt_kinesis(kinesis: str) -> Iterator[tuple[Spoiler, str]]:
    spoiler = Spoiler()
    with http_proxy(kinesis, spoiler.fate, hold_secs=HOLD_SECS) as url:
        yield spoiler, url


def throttled_reads() -> int:
    """What the metric of the job that ran last says."""
    (query,) = session.current().status.queries()
    return query.throttled_reads


def test_no_batch_fails_and_nothing_is_lost(job, kinesis_stream, spoilt_kinesis):
    spoiler, url = spoilt_kinesis
    options = kinesis_stream.options(endpointUrl=url, retryIntervalMs="50", maxRetryIntervalMs="200")
    told = {"connection_type": "kinesis", "windowSize": "0 seconds", "batchMaxRetries": 0}

    refused = 0
    with kinesis_stream.records_arriving() as sent:
        while not spoiler.over.is_set():
            job.drain(options, drain=session.Drain(max_batches=3), **told)
            refused += throttled_reads()
    job.drain(options, **told)

    assert set(spoiler.spoilt) == {kind for kind, _, _ in SCHEDULE}
    assert sorted(n for (n,) in job.rows("n")) == sent
    assert 0 < refused <= spoiler.spoilt["throttled"]
