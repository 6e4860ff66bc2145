"""python -m benchmarks.autoscaling.recorded advice.jsonl plot.svg: draw what a real job did, from its advice log."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from pathlib import Path

from gluepot.bench.svg_chart import Axis, Line, chart
from gluepot.streaming.advisor.history import Observation
from gluepot.streaming.advisor.log import recorded

TICKS = 6


def plot(batches: Sequence[Observation]) -> str:
    """Return workers and batch times of one query over time, as SVG.

    Args:
        batches: in order, of a query that has a window; at least two.
    """
    began = batches[0].ended_epoch - batches[0].secs
    whole_secs = batches[-1].ended_epoch - began

    def over_time(of: Sequence[float]) -> list[tuple[float, float]]:
        return [(one.ended_epoch - began, value) for one, value in zip(batches, of, strict=True)]

    lines = [
        Line("batch time, in windows", over_time([one.secs / one.window_secs for one in batches]), marks=True),
        Line("workers", over_time([one.workers for one in batches]), thick=True),
        Line("workers asked for", over_time([one.ordered_workers for one in batches])),
        Line("rows a second / 100", over_time([one.rows / max(one.window_secs, one.secs) / 100 for one in batches])),
    ]
    highest = math.ceil(max(value for line in lines for _, value in line.points))
    step_secs = max(10, round(whole_secs / TICKS / 10) * 10)
    across = [(float(at), str(at)) for at in range(0, int(whole_secs) + 1, step_secs)]
    return chart(
        "What a job did, batch by batch",
        Axis("seconds", 0, whole_secs, across),
        Axis("windows, workers, hundreds of rows a second", 0, highest, [(at, str(at)) for at in range(highest + 1)]),
        lines,
    )


if __name__ == "__main__":
    log, target = (Path(one) for one in sys.argv[1:])
    (only,) = recorded(log.read_bytes().splitlines(keepends=True)).values()
    target.write_text(plot(only))
