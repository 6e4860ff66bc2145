"""Makes the text of a metrics registry at a limited rate and with pauses, however often it is requested."""

from __future__ import annotations

import asyncio
import copy
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import cast

from prometheus_client import CollectorRegistry
from prometheus_client.core import Metric, Sample
from prometheus_client.exposition import choose_encoder
from prometheus_client.registry import Collector
from starlette.concurrency import run_in_threadpool

from gluepot.core.clock import Clock

# The age up to which the text is reused. It is far below any scrape interval, and keeps a storm of scrapes from
# taking the driver's processor time.
MAX_AGE_SECS = 0.5
# The share of one core for making the text. A text that takes 0.15 s, as with 5,000 partitions, is made every 7.5
# seconds at most.
SHARE = 0.02
# The number of series written in one go; nearly all jobs have fewer.
SLICE = 1_000
# After each slice, the maker rests for this many times as long as the slice took, because no batch can run Python
# code meanwhile.
RESTS = 9


@dataclass(frozen=True, slots=True)
class Text:
    """One answer to a scrape.

    Args:
        body: the metrics.
        content_type: OpenMetrics or Prometheus text.
        fresh_until: time up to which it may be reused, by the monotonic clock.
    """

    body: bytes
    content_type: str
    fresh_until: float


@dataclass(slots=True)
class Exposition:
    """Makes the text of a registry. It is for one event loop.

    Args:
        registry: the metrics to expose.
        clock: the clock for ages and rests.
        spent: returns the processor time of the calling thread, in seconds.
    """

    registry: CollectorRegistry
    clock: Clock
    spent: Callable[[], float] = time.thread_time
    _texts: dict[str, Text] = field(default_factory=dict)
    _turn: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def text(self, accept: str) -> Text:
        """Return the metrics in the format that the `Accept` header asks for. They are at most some seconds old."""
        encode, content_type = choose_encoder(accept)
        async with self._turn:
            known = self._texts.get(content_type)
            if known is None or self.clock.monotonic() >= known.fresh_until:
                known = await run_in_threadpool(self._made, encode, content_type)
                self._texts[content_type] = known
        return known

    def _made(self, encode: Callable[[Collector], bytes], content_type: str) -> Text:
        asked, spent = self.clock.monotonic(), self.spent()
        body = encode(_Unhurried(self.registry, self.clock.sleep, self.spent))
        age_secs = max(MAX_AGE_SECS, (self.spent() - spent) / SHARE)
        return Text(body, content_type, asked + age_secs)


@dataclass(slots=True)
class _Unhurried(Collector):
    """Yields the metrics of a registry with rests in between, for one encoding."""

    registry: CollectorRegistry
    rest: Callable[[float], None]
    spent: Callable[[], float]
    _given: int = 0
    _rested_at: float = field(init=False)

    def __post_init__(self) -> None:
        self._rested_at = self.spent()

    def collect(self) -> Iterator[Metric]:
        for metric in self.registry.collect():
            slowly = copy.copy(metric)
            slowly.samples = cast("list[Sample]", self._slowly(metric.samples))  # an encoder goes through it once
            yield slowly

    def _slowly(self, samples: list[Sample]) -> Iterator[Sample]:
        for sample in samples:
            yield sample
            self._given += 1
            if self._given % SLICE == 0:
                self.rest(RESTS * (self.spent() - self._rested_at))
                self._rested_at = self.spent()
