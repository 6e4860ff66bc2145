"""The series that a job exposes, for what is written against them: alerts, boards."""

from __future__ import annotations

from gluepot.streaming.observe.metric_names import (
    ADVICE,
    AT_SCRAPE,
    CHECK_COUNTERS,
    CHECK_GAUGES,
    COUNTED_AT_SCRAPE,
    COUNTERS,
    GAUGES,
    HISTOGRAMS,
    LAG,
    PREFIX,
    ROWS_COMMITTED,
)

OF_PROMETHEUS = ("instance",)
"""Labels that come with the scrape."""


def exposed(*, opt_in: bool = True) -> dict[str, tuple[str, ...]]:
    """The labels of every series by its name."""
    kinds = (
        ((*GAUGES, *LAG, *ADVICE, *CHECK_GAUGES, *AT_SCRAPE), ("",)),
        ((*COUNTERS, *CHECK_COUNTERS, ROWS_COMMITTED, *COUNTED_AT_SCRAPE), ("_total",)),
        (HISTOGRAMS, ("_bucket", "_sum", "_count")),
    )
    return {
        f"{PREFIX}{one.name}{suffix}": (*one.labels, *(("le",) if suffix == "_bucket" else ()))
        for metrics, suffixes in kinds
        for one in metrics
        if opt_in or not one.opt_in
        for suffix in suffixes
    }
