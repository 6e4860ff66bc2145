"""Line charts as plain SVG: no package, the same bytes for the same numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

WIDTH, HEIGHT = 860, 420
LEFT, RIGHT, TOP, BOTTOM = 66, 190, 34, 52
COLOURS = ("#c0392b", "#2c3e50", "#2980b9", "#27ae60", "#8e44ad", "#d68910", "#7f8c8d", "#16a085", "#a04000", "#566573")


def round_step(extent: float, parts: int) -> float:
    """Return the distance between ticks: 1, 2 or 5 times a power of ten, for at most so many parts.

    Args:
        extent: of the axis, more than 0.
        parts: into how many the ticks may divide it.
    """
    rough = extent / parts
    power = 10.0 ** math.floor(math.log10(rough))
    return next(one * power for one in (1, 2, 5, 10) if one * power >= rough)


@dataclass(frozen=True, slots=True)
class Line:
    """Points in the order in which they are joined.

    Args:
        name: for the legend.
        points: x and y.
        marks: show the points themselves.
        thick: the line that the chart is about.
    """

    name: str
    points: Sequence[tuple[float, float]]
    marks: bool = False
    thick: bool = False


@dataclass(frozen=True, slots=True)
class Axis:
    """What an axis shows.

    Args:
        label: with unit.
        low: its begin; above 0 on a logarithmic axis.
        high: its end; points beyond are drawn at it.
        ticks: where numbers are written, with their texts.
        logarithmic: equal ratios are equal distances.
    """

    label: str
    low: float
    high: float
    ticks: Sequence[tuple[float, str]]
    logarithmic: bool = False

    def place(self, value: float) -> float:
        """Return where a value is, 0 to 1."""
        inside = min(max(value, self.low), self.high)
        if self.logarithmic:
            return math.log(inside / self.low) / math.log(self.high / self.low)
        return (inside - self.low) / (self.high - self.low)


def chart(title: str, across: Axis, up: Axis, lines: Sequence[Line]) -> str:
    """Return an SVG document."""

    def x(value: float) -> float:
        return LEFT + across.place(value) * (WIDTH - LEFT - RIGHT)

    def y(value: float) -> float:
        return HEIGHT - BOTTOM - up.place(value) * (HEIGHT - TOP - BOTTOM)

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" style="font: 12px sans-serif">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
        f'<text x="{LEFT}" y="20" font-size="14">{escape(title)}</text>',
    ]
    bottom, right = HEIGHT - BOTTOM, WIDTH - RIGHT
    for at, text in across.ticks:
        parts.append(f'<line x1="{x(at):.1f}" y1="{TOP}" x2="{x(at):.1f}" y2="{bottom}" stroke="#e5e5e5"/>')
        parts.append(f'<text x="{x(at):.1f}" y="{bottom + 17}" text-anchor="middle">{escape(text)}</text>')
    for at, text in up.ticks:
        parts.append(f'<line x1="{LEFT}" y1="{y(at):.1f}" x2="{right}" y2="{y(at):.1f}" stroke="#e5e5e5"/>')
        parts.append(f'<text x="{LEFT - 7}" y="{y(at) + 4:.1f}" text-anchor="end">{escape(text)}</text>')
    middle = (LEFT + right) / 2
    parts.append(f'<text x="{middle}" y="{HEIGHT - 12}" text-anchor="middle">{escape(across.label)}</text>')
    height = (TOP + bottom) / 2
    turned = f'transform="rotate(-90 14 {height})"'
    parts.append(f'<text x="14" y="{height}" text-anchor="middle" {turned}>{escape(up.label)}</text>')
    for number, line in enumerate(lines):
        colour, strong = COLOURS[number % len(COLOURS)], 3 if line.thick else 1.5
        path = " ".join(f"{x(a):.1f},{y(b):.1f}" for a, b in line.points)
        parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="{strong}"/>')
        if line.marks:
            parts += [
                f'<circle cx="{x(a):.1f}" cy="{y(b):.1f}" r="{strong + 1.5}" fill="{colour}"/>' for a, b in line.points
            ]
        place = TOP + 14 + 18 * number
        parts.append(f'<rect x="{right + 14}" y="{place - 8}" width="14" height="4" fill="{colour}"/>')
        parts.append(f'<text x="{right + 34}" y="{place}">{escape(line.name)}</text>')
    return "\n".join([*parts, "</svg>", ""])
