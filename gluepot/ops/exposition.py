"""A registry as text, worked out at most so often, whoever asks and how often."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from prometheus_client import CollectorRegistry
from prometheus_client.exposition import choose_encoder

MAX_AGE_SECS = 0.5
"""Far below any scrape interval; keeps a storm of scrapes from taking the driver's processor time."""


@dataclass(frozen=True, slots=True)
class Text:
    """One answer to a scrape.

    Args:
        body: the metrics.
        content_type: OpenMetrics or Prometheus text.
        made_at: by the clock that only grows.
    """

    body: bytes
    content_type: str
    made_at: float


@dataclass(slots=True)
class Exposition:
    """Gives the text of a registry. For one thread.

    Args:
        registry: what is exposed.
        monotonic: seconds that only grow.
    """

    registry: CollectorRegistry
    monotonic: Callable[[], float]
    _texts: dict[str, Text] = field(default_factory=dict)

    def text(self, accept: str) -> Text:
        """Return the metrics in the format that the `Accept` header asks for, up to `MAX_AGE_SECS` old."""
        encode, content_type = choose_encoder(accept)
        known = self._texts.get(content_type)
        now = self.monotonic()
        if known is None or now - known.made_at >= MAX_AGE_SECS:
            known = Text(encode(self.registry), content_type, now)
            self._texts[content_type] = known
        return known
