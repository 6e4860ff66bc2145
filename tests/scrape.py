"""What a job's ops server exposes, read as Prometheus reads it."""

from __future__ import annotations

import urllib.request
from dataclasses import dataclass

from prometheus_client.parser import text_string_to_metric_families

ANSWER_SECS = 10


@dataclass(frozen=True)
class Scrape:
    """One answer: values by name and labels."""

    values: dict[tuple[str, frozenset[tuple[str, str]]], float]

    def value(self, name: str, **labels: str) -> float:
        """The value of the series with these very labels; KeyError if there is none."""
        return self.values[f"gluepot_{name}", frozenset(labels.items())]

    def by(self, label: str, name: str, **labels: str) -> dict[str, float]:
        """The values of a metric by one of its labels, of all series that have the others."""
        found = ((dict(of), value) for (series, of), value in self.values.items() if series == f"gluepot_{name}")
        return {of[label]: value for of, value in found if of.items() >= labels.items()}


def scrape(url: str) -> Scrape:
    """Ask `/metrics` once."""
    with urllib.request.urlopen(url, timeout=ANSWER_SECS) as answer:
        families = text_string_to_metric_families(answer.read().decode())
        return Scrape(
            {(one.name, frozenset(one.labels.items())): one.value for each in families for one in each.samples}
        )
