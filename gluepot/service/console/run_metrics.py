"""What the console shows of the metrics of runs: sums over all that a run has reported."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from gluepot.service.console.page import Reader
from gluepot.service.console.values import run_row
from gluepot.service.decisions.metrics import Metric
from gluepot.service.decisions.outcome_metrics import NAMESPACE
from gluepot.service.decisions.states import Run

_MIB = 1 << 20


class Shown(NamedTuple):
    """A metric that is shown.

    Args:
        label: for people.
        name: in CloudWatch.
        text: returns a sum as text.
    """

    label: str
    name: str
    text: Callable[[float], str]


def _count(value: float) -> str:
    return f"{value:,.0f}"


def _size(value: float) -> str:
    return f"{value / _MIB:,.1f} MiB"


NAMES = (
    Shown("Records read", "glue.driver.aggregate.recordsRead", _count),
    Shown("Bytes read", "glue.driver.aggregate.bytesRead", _size),
    Shown("Records written", "glue.driver.aggregate.recordsWritten", _count),
    Shown("Rejected", "gluepot.records.rejected", _count),
    Shown("Failed tasks", "glue.driver.aggregate.numFailedTasks", _count),
    Shown("Shuffled", "glue.driver.aggregate.shuffleBytesWritten", _size),
)


def metrics_of(reader: Reader, runs: Sequence[Run]) -> list[list[tuple[str, str]]]:
    """Return the labels and sums of each run; none for a run that has reported nothing."""
    with reader.service.store.changes() as changes:
        totals = changes.metrics.totals([_metric(run, shown) for run in runs for shown in NAMES])
    return [
        [(shown.label, shown.text(total)) for shown in NAMES if (total := totals.get(_metric(run, shown))) is not None]
        for run in runs
    ]


def measured(reader: Reader, runs: Sequence[Run], now_ms: int) -> list[dict[str, Any]]:
    """Return a row for each run that has reported metrics, with a cell for each metric that is shown."""
    rows = []
    for run, of_run in zip(runs, metrics_of(reader, runs), strict=True):
        if of_run:
            known = dict(of_run)
            rows.append({"run": run_row(run, now_ms), "cells": [known.get(shown.label) for shown in NAMES]})
    return rows


def _metric(run: Run, shown: Shown) -> Metric:
    return Metric(NAMESPACE, shown.name, (("JobName", run.job), ("JobRunId", run.id), ("Type", "count")))
