from __future__ import annotations

import asyncio

import pytest
from prometheus_client import CollectorRegistry, Gauge, generate_latest
from prometheus_client.exposition import choose_encoder

from gluepot.core.clock import FakeClock
from gluepot.ops.exposition import MAX_AGE_SECS, RESTS, SHARE, SLICE, Exposition

OPEN_METRICS = "application/openmetrics-text; version=1.0.0"


class Spending:
    """Processor time that goes on by so much each time it is looked at."""

    def __init__(self, secs: float) -> None:
        self.each_secs = secs
        self.secs = 0.0

    def __call__(self) -> float:
        self.secs += self.each_secs
        return self.secs


@pytest.fixture
def registry():
    return CollectorRegistry()


@pytest.fixture
def clock():
    return FakeClock()


def fill(registry, series: int) -> Gauge:
    gauge = Gauge("lag", "Lag.", ("partition",), registry=registry)
    for n in range(series):
        gauge.labels(str(n)).set(n)
    return gauge


@pytest.mark.parametrize("accept", ["", "text/plain", OPEN_METRICS])
def test_the_text_is_the_librarys_own(registry, clock, accept):
    fill(registry, 2 * SLICE + 1)
    encode, content_type = choose_encoder(accept)
    text = asyncio.run(Exposition(registry, clock).text(accept))
    assert (text.body, text.content_type) == (encode(registry), content_type)


def test_a_text_of_many_series_is_made_with_rests_between_its_slices(registry, clock):
    fill(registry, 3 * SLICE + 10)
    asyncio.run(Exposition(registry, clock, Spending(0.25)).text(""))
    assert clock.waits == [RESTS * 0.25] * 3


def test_a_text_of_few_series_is_made_at_once(registry, clock):
    fill(registry, SLICE - 1)
    asyncio.run(Exposition(registry, clock).text(""))
    assert clock.waits == []


@pytest.mark.parametrize(("spent_secs", "age_secs"), [(0.0, MAX_AGE_SECS), (0.25, 2 * 0.25 / SHARE)])
def test_a_text_is_kept_the_longer_the_more_it_cost(registry, clock, spent_secs, age_secs):
    gauge = fill(registry, 1)
    exposition = Exposition(registry, clock, Spending(spent_secs))

    def told() -> bool:
        return b'lag{partition="0"} 7.0' in asyncio.run(exposition.text("")).body

    assert not told()
    gauge.labels("0").set(7)
    clock.now = age_secs - 0.01
    assert not told()
    clock.now = age_secs
    assert told()


def test_scrapes_that_come_together_share_one_text(registry, clock):
    fill(registry, 10)
    exposition = Exposition(registry, clock)

    async def together():
        return await asyncio.gather(*(exposition.text("") for _ in range(20)))

    texts = asyncio.run(together())
    assert len({id(text) for text in texts}) == 1
    assert texts[0].body == generate_latest(registry)
