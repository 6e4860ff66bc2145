"""A stream that refuses a third of all reads for a while, and then all of them: no batch fails, and it is counted.

GLUEPOT_THROTTLED_SECS=120 makes it two minutes of the one and a minute of the other.
"""

from __future__ import annotations

import json
import os
import random
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import pytest

from gluepot.streaming.query import session
from gluepot.streaming.query.throttling import LOOK_SECS
from tests.crash.http_proxy import Answer, Fate, http_proxy

SECS = float(os.environ.get("GLUEPOT_THROTTLED_SECS", "6"))
SHARE = 0.3
CATCH_UP_SECS = 120.0
REFUSAL = Answer(
    400, {}, json.dumps({"__type": "ProvisionedThroughputExceededException", "message": "made up"}).encode()
)


@dataclass
class Throttle:
    """Refuses a share of the reads, for a proxy."""

    share: float = 0.0
    refused: int = 0
    _chance: random.Random = field(default_factory=lambda: random.Random(1))
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def fate(self, method: str, path: str, headers: Mapping[str, str]) -> Fate:
        with self._lock:
            if not headers["X-Amz-Target"].endswith(".GetRecords") or self._chance.random() >= self.share:
                return "pass"
            self.refused += 1
            return REFUSAL


@pytest.fixture
def throttled_kinesis(kinesis: str) -> Iterator[tuple[Throttle, str]]:
    throttle = Throttle()
    with http_proxy(kinesis, throttle.fate, hold_secs=0.0) as url:
        yield throttle, url


def test_no_batch_fails_nothing_is_lost_and_every_refusal_is_counted(job, kinesis_stream, throttled_kinesis):
    throttle, url = throttled_kinesis
    sent: list[int] = []

    def throttle_for_a_while() -> None:
        with kinesis_stream.records_arriving() as arriving:
            kinesis_stream.rest_until(job.published, CATCH_UP_SECS)
            for share, secs in ((SHARE, SECS), (1.0, SECS / 2), (0.0, 0.0)):
                throttle.share = share
                kinesis_stream.rest(secs)
        sent.extend(arriving)
        kinesis_stream.rest_until(lambda: job.published() >= len(sent), CATCH_UP_SECS)
        kinesis_stream.rest(2 * LOOK_SECS)

    job.run_beside(
        throttle_for_a_while,
        kinesis_stream.options(endpointUrl=url),
        connection_type="kinesis",
        batchMaxRetries=0,
    )

    (query,) = session.current().status.queries()
    assert throttle.refused > 0
    assert query.throttled_reads == throttle.refused
    assert sorted(n for (n,) in job.rows("n")) == sent
