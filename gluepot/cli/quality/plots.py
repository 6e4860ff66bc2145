"""Where the parts of a report's plots lie. Pure: `page.html` draws them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from gluepot.bench.svg_chart import Axis, round_step
from gluepot.quality.anomalies import forecast
from gluepot.quality.distributions import ValueCounts

WIDTH, HEIGHT = 640, 190
LEFT, RIGHT, TOP, BOTTOM = 76, 12, 12, 26
ROW_HEIGHT = 22
_TEXT_WIDTH = 220
_LONGEST_LABEL = 26


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle, in units of the drawing.

    Args:
        x: its left side.
        y: its upper side.
        width: its width.
        height: its height.
        text: what it stands for.
    """

    x: float
    y: float
    width: float
    height: float
    text: str = ""


@dataclass(frozen=True, slots=True)
class Mark:
    """A point of a line.

    Args:
        x: from the left.
        y: from above.
        text: what it stands for.
        is_unexpected: whether it lies outside of its forecast.
    """

    x: float
    y: float
    text: str
    is_unexpected: bool


@dataclass(frozen=True, slots=True)
class LinePlot:
    """The history of a metric.

    Args:
        path: its points as SVG joins them.
        marks: the points.
        bands: for each point that had a forecast the range of that.
        ticks: places from above, and the numbers there.
    """

    path: str
    marks: Sequence[Mark]
    bands: Sequence[Box]
    ticks: Sequence[tuple[float, str]]


@dataclass(frozen=True, slots=True)
class Bar:
    """A bar of a distribution.

    Args:
        box: where it lies.
        label: what is counted.
        count: how many.
    """

    box: Box
    label: str
    count: int


@dataclass(frozen=True, slots=True)
class BarPlot:
    """The distribution of a column.

    Args:
        bars: one for each bin or value.
        height: of the drawing.
        is_upright: whether the bars stand beside each other, as bins do.
    """

    bars: Sequence[Bar]
    height: int
    is_upright: bool


def short(value: float) -> str:
    """Return a number with six significant digits, a whole one with all."""
    if not math.isfinite(value):
        return str(value)
    return f"{value:,.0f}" if value == int(value) and abs(value) < 1e12 else f"{value:.6g}"


def line_plot(values: Sequence[tuple[str, float]]) -> LinePlot:
    """Return the plot of a metric.

    Args:
        values: times and values, the oldest first; one at least.
    """
    numbers = [value for _, value in values]
    expected = [forecast(numbers[:at][::-1]) for at in range(len(numbers))]
    shown = [*numbers, *(limit for one in expected if one for limit in (one.lower, one.upper))]
    low, high = min(shown), max(shown)
    margin = (high - low) * 0.08 or abs(high) * 0.08 or 1.0
    up = Axis("", low - margin, high + margin, ())
    step = (WIDTH - LEFT - RIGHT) / len(values)

    def y(value: float) -> float:
        return round(TOP + (1 - up.place(value)) * (HEIGHT - TOP - BOTTOM), 1)

    marks, bands = [], []
    for at, ((time, value), one) in enumerate(zip(values, expected, strict=True)):
        x = round(LEFT + (at + 0.5) * step, 1)
        text = f"{time}: {short(value)}"
        if one is not None:
            text += f", expected {short(one.lower)} to {short(one.upper)}"
            top = y(one.upper)
            bands.append(Box(round(x - step / 2, 1), top, round(step, 1), max(round(y(one.lower) - top, 1), 1.0)))
        marks.append(Mark(x, y(value), text, one is not None and not one.contains(value)))
    ticks = [(y(value), short(value)) for value in _ticks(low, high)]
    return LinePlot(" ".join(f"{one.x},{one.y}" for one in marks), marks, bands, ticks)


def _ticks(low: float, high: float) -> Sequence[float]:
    """Return up to four round numbers in a range; the middle if it is no range."""
    if not high > low:
        return [low]
    step = round_step(high - low, 3)
    first = math.ceil(low / step)
    found = [float(f"{number * step:.12g}") for number in range(first, math.floor(high / step) + 1)]
    return found or [low, high]


def bar_plot(given: ValueCounts) -> BarPlot:
    """Return the plot of a distribution."""
    most = max(given.counts, default=0) or 1
    if given.edges:
        wide = (WIDTH - LEFT - RIGHT) / len(given.counts)
        high = HEIGHT - TOP - BOTTOM
        bars = []
        for at, (count, (begin, end)) in enumerate(zip(given.counts, pairwise(given.edges), strict=True)):
            tall = round(count / most * high, 1)
            box = Box(round(LEFT + at * wide + 1, 1), round(TOP + high - tall, 1), round(wide - 2, 1), tall)
            bars.append(Bar(box, f"{short(begin)} to {short(end)}", count))
        return BarPlot(bars, HEIGHT, is_upright=True)
    most_wide = WIDTH - _TEXT_WIDTH - 80
    bars = []
    for at, (count, value) in enumerate(zip(given.counts, given.values, strict=True)):
        label = value if len(value) <= _LONGEST_LABEL else f"{value[: _LONGEST_LABEL - 1]}…"
        box = Box(_TEXT_WIDTH, at * ROW_HEIGHT + 4, round(max(count / most * most_wide, 1.0), 1), ROW_HEIGHT - 8)
        bars.append(Bar(box, label, count))
    return BarPlot(bars, len(bars) * ROW_HEIGHT, is_upright=False)
