"""Computes the points of the charts, column by column as uPlot needs them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gluepot.ops.page.history import Batch


def series(batches: Sequence[Batch]) -> dict[str, list[Any]]:
    """Return one list for each line, with one point for each batch; None leaves a gap.

    Args:
        batches: the batches, oldest first.

    Returns:
        `t` in seconds since 1970 UTC; rates in rows per second; `took` and `window` in seconds; `lag` in records.
    """
    return {
        "t": [round(one.committed_epoch, 3) for one in batches],
        "batch": [one.batch_id for one in batches],
        # The first batch of a run has no input rate, because there is no time since a previous batch.
        "input": [round(one.input_rate, 1) if n else None for n, one in enumerate(batches)],
        "process": [round(one.process_rate, 1) for one in batches],
        "took": [round(one.duration_secs, 3) for one in batches],
        "window": [one.window_secs or None for one in batches],
        "lag": [one.lag_records for one in batches],
    }
