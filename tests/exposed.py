"""The series that jobs and the service expose, for what is written against them: alerts, boards."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from prometheus_client.parser import text_string_to_metric_families

from gluepot.core.clock import FakeClock
from gluepot.service.figures import Figures
from gluepot.service.store.database import open_store
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


def exposed_by_service() -> set[str]:
    """The names of the series of `gluepot serve`, but for those of its requests, which come with the first one."""
    with TemporaryDirectory() as folder:
        figures = Figures(open_store(f"sqlite:///{Path(folder) / 'service.db'}"), lambda: 0.0, FakeClock())
        families = text_string_to_metric_families(figures.text().decode())
        return {one.name for family in families for one in family.samples}
