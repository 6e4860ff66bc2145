"""Made-up click events: numbered, of a schema that gains a field half-way, some of them broken on purpose."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from random import Random

import orjson

COUNTRIES = ("DE", "FR", "US", "IN", "BR", "JP")
PAGES = ("/", "/search", "/item", "/cart", "/checkout", "/account")
SYSTEMS = ("android", "ios", "linux", "windows", "macos")
AGENT = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko)"
BROKEN_EVERY = 997
START = datetime(2026, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Event:
    """One record to send.

    Args:
        number: from 0; also in the payload of a good event.
        payload: bytes of the record.
        good: False for one that is no JSON.
    """

    number: int
    payload: bytes
    good: bool


def events(total: int, seed: int = 1) -> Iterator[Event]:
    """Yield `total` events; those of the second half have a `referrer`. The same seed gives the same bytes."""
    chance = Random(seed)  # noqa: S311  made-up data
    for number in range(total):
        payload = orjson.dumps(_click(number, chance, with_referrer=number >= total // 2))
        good = number % BROKEN_EVERY != BROKEN_EVERY - 1
        yield Event(number, payload if good else payload[: len(payload) // 2], good)


def _click(number: int, chance: Random, *, with_referrer: bool) -> dict[str, object]:
    click: dict[str, object] = {
        "event_id": number,
        "ts": (START + timedelta(milliseconds=number)).isoformat(),
        "user_id": chance.randrange(100_000),
        "country": chance.choice(COUNTRIES),
        "page": chance.choice(PAGES),
        "duration_ms": chance.randrange(30_000),
        "device": {"os": chance.choice(SYSTEMS), "mobile": chance.random() < 0.6},
        "user_agent": AGENT,
    }
    if with_referrer:
        click["referrer"] = chance.choice(PAGES)
    return click
