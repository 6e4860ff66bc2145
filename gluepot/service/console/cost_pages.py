"""What the console shows of costs."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from gluepot.core.glue_prices import PRICE_SOURCE
from gluepot.core.masking import mask
from gluepot.service.console.page import Page, Query, Reader
from gluepot.service.console.values import url
from gluepot.service.decisions.costs import by_tag, day_of, tag_keys

_SPANS = {"30": "30 days", "90": "90 days", "365": "A year"}


def costs(reader: Reader, query: Query) -> Page:
    """Return what runs cost, by the value of a tag."""
    days = query.get("days", "")
    days = days if days in _SPANS else next(iter(_SPANS))
    key = query.get("tag", "")
    first_day = day_of(reader.now_ms) - int(days) + 1
    with reader.service.store.changes() as changes:
        found = changes.costs.since(first_day)
        known_since = changes.costs.first_day()
    chosen = {"tag": key} if key else {}
    keys = tag_keys(found)
    values = {
        "tag": key,
        "sums": [
            {
                "name": _shown(key, cost.value),
                "jobs": cost.jobs,
                "runs": cost.runs,
                "dpu_hours": f"{cost.dpu_hours:,.2f}",
                "usd": f"${cost.usd:,.2f}",
            }
            for cost in by_tag(found, key)
        ],
        "spans": [(word, url("costs", days=one, **chosen), one == days) for one, word in _SPANS.items()],
        "keys": [
            ("All jobs", url("costs", days=days), not key),
            *((one, url("costs", days=days, tag=one), one == key) for one in keys),
        ]
        if keys
        else [],
        "since": f"{datetime(1970, 1, 1, tzinfo=UTC) + timedelta(days=max(first_day, known_since or 0)):%Y-%m-%d}",
        "source": PRICE_SOURCE,
    }
    return Page("costs.html", "Costs", "costs", values)


def _shown(key: str, value: str | None) -> str:
    if not key:
        return "All jobs"
    return "Without this tag" if value is None else str(mask({key: value})[key])
