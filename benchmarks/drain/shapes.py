"""The records of the drains: made-up events of 200, 500 and 1,000 bytes, the same for the same number of records."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import count, islice
from random import Random

import orjson

COUNTRIES = ("DE", "FR", "US", "IN", "BR", "JP", "GB", "ES")
PAGES = ("/", "/search", "/item", "/cart", "/checkout", "/account")
SYSTEMS = ("android", "ios", "linux", "windows", "macos")
TAGS = ("new", "returning", "member", "trial", "vip", "guest")
START = datetime(2026, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Shape:
    """One kind of event.

    Args:
        make: the event of a number.
        ddl: its schema, as a hand-written script gives it; empty for shapes that no such script drains.
        checked: SQL of the columns and fields whose values must be equal on both sides, `event_id` among them.
        broken_every: the last one of so many documents is cut off at its end; 0 for none.
    """

    make: Callable[[int, Random], dict[str, object]]
    ddl: str
    checked: tuple[str, ...]
    broken_every: int = 0

    def events(self, seed: int = 1) -> Iterator[dict[str, object]]:
        """Yield events without end, the same each time."""
        chance = Random(seed)
        for number in count():
            yield self.make(number, chance)

    def payloads(self, records: int, seed: int = 1) -> Iterator[bytes]:
        """Yield the documents of so many events, the broken ones included."""
        for number, event in enumerate(islice(self.events(seed), records), start=1):
            document = orjson.dumps(event)
            yield document[:-1] if self.broken_every and number % self.broken_every == 0 else document

    def whole(self, records: int) -> int:
        """Return how many of so many documents are not broken."""
        return records - (records // self.broken_every if self.broken_every else 0)


def visit(number: int, chance: Random) -> dict[str, object]:
    """7 leaves, some 200 bytes."""
    return {
        "event_id": number,
        "ts": (START + timedelta(milliseconds=number)).isoformat(),
        "user_id": chance.randrange(1_000_000),
        "country": chance.choice(COUNTRIES),
        "page": f"{chance.choice(PAGES)}/{chance.randrange(5_000)}",
        "duration_ms": chance.randrange(30_000),
        "session": f"{chance.getrandbits(200):050x}",
    }


def click(number: int, chance: Random) -> dict[str, object]:
    """19 leaves, some 500 bytes: an object, a list, nulls."""
    return {
        **visit(number, chance),
        "device": {
            "os": chance.choice(SYSTEMS),
            "version": f"{chance.randrange(5, 18)}.{chance.randrange(10)}",
            "mobile": chance.random() < 0.6,
            "width_px": chance.choice((360, 390, 768, 1280, 1920)),
        },
        "tags": [chance.choice(TAGS) for _ in range(chance.randrange(4))],
        "price": round(chance.random() * 500, 2) if chance.random() < 0.5 else None,
        "currency": chance.choice(("EUR", "USD", "INR")),
        "campaign": f"c-{chance.randrange(300)}" if chance.random() < 0.3 else None,
        "referrer": f"https://www.example.com/{chance.choice(PAGES)}?q={chance.randrange(10_000)}",
        "is_test": False,
        "score": round(chance.random(), 4),
        "request_id": f"{chance.getrandbits(256):064x}",
    }


def _order(number: int, chance: Random) -> dict[str, object]:
    """33 leaves, some 1,000 bytes."""
    return {
        **click(number, chance),
        "address": {
            "street": f"{chance.randrange(200)} Long Street of the Town",
            "city": f"City {chance.randrange(2_000)}",
            "zip": f"{chance.randrange(100_000):05d}",
            "lat": round(chance.uniform(-90, 90), 5),
            "lon": round(chance.uniform(-180, 180), 5),
        },
        "items": chance.randrange(1, 9),
        "shipping": chance.choice(("standard", "express", "pickup")),
        "coupon": f"SAVE{chance.randrange(50)}" if chance.random() < 0.2 else None,
        "note": " ".join(f"{chance.getrandbits(24):06x}" for _ in range(24)),
        "checkout": {"step": chance.randrange(5), "method": chance.choice(("card", "invoice", "wallet"))},
        "warehouse": f"wh-{chance.randrange(40)}",
        "trace": f"{chance.getrandbits(128):032x}",
        "agent": "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36",
    }


_VISIT_DDL = (
    "event_id BIGINT, ts STRING, user_id BIGINT, country STRING, page STRING, duration_ms BIGINT, session STRING"
)
_CLICK_DDL = (
    f"{_VISIT_DDL}, device STRUCT<os: STRING, version: STRING, mobile: BOOLEAN, width_px: BIGINT>, tags ARRAY<STRING>,"
    " price DOUBLE, currency STRING, campaign STRING, referrer STRING, is_test BOOLEAN, score DOUBLE, request_id STRING"
)
_ORDER_DDL = (
    f"{_CLICK_DDL}, address STRUCT<street: STRING, city: STRING, zip: STRING, lat: DOUBLE, lon: DOUBLE>, items BIGINT,"
    " shipping STRING, coupon STRING, note STRING, checkout STRUCT<step: BIGINT, method: STRING>, warehouse STRING,"
    " trace STRING, agent STRING"
)
VISIT_CHECKED = ("event_id", "ts", "user_id", "country", "page", "duration_ms", "session")
CLICK_CHECKED = (
    *VISIT_CHECKED,
    *("device.os", "device.version", "device.mobile", "device.width_px", "tags", "price", "currency", "campaign"),
    *("referrer", "is_test", "score", "request_id"),
)
_ORDER_CHECKED = (
    *CLICK_CHECKED,
    *("address.street", "address.city", "address.zip", "address.lat", "address.lon", "items", "shipping", "coupon"),
    *("note", "checkout.step", "checkout.method", "warehouse", "trace", "agent"),
)

SHAPES = {
    "e200": Shape(visit, _VISIT_DDL, VISIT_CHECKED),
    "e500": Shape(click, _CLICK_DDL, CLICK_CHECKED),
    "e1000": Shape(_order, _ORDER_DDL, _ORDER_CHECKED),
}
