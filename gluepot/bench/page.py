"""The report as one HTML file: no script, nothing loaded from anywhere, to mail or to keep beside the job."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.resources import files

from jinja2 import Environment, StrictUndefined

from gluepot.bench.conclude import Fit, Impossible
from gluepot.bench.report import Report, answer_lines, fit_lines, held_lines, on_cores, patch
from gluepot.bench.svg_chart import Axis, Line, chart, round_step

TICKS = 5


def as_html(report: Report) -> str:
    """Return the report as a page."""
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    template = environment.from_string(files(__package__).joinpath("page.html").read_text())
    found = report.settings
    return template.render(
        report=report,
        impossible=found.sentence if isinstance(found, Impossible) else None,
        answer=[] if isinstance(found, Impossible) else answer_lines(report, found),
        patch={} if isinstance(found, Impossible) else patch(found),
        held=[] if report.held is None else held_lines(report.held),
        fit=fit_lines(report),
        plot=batch_time_plot(report),
    )


def batch_time_plot(report: Report) -> str:
    """Return batch time against batch size, as SVG: for each number of cores the runs and the model."""
    most_rows = max(_rows(one) for one in report.fits)
    most_secs = max(max(one.measured.p50_secs, one.secs) for one in report.fits)
    lines = []
    for cores, model in report.known.items():
        runs = sorted((_rows(one), one.measured.p50_secs) for one in report.fits if one.measured.run.cores == cores)
        ends = [(0.0, model.batch_secs(0, cores)), (runs[-1][0], model.batch_secs(runs[-1][0], cores))]
        lines += [Line(f"{on_cores(cores)}: measured", runs, marks=True), Line(f"{on_cores(cores)}: model", ends)]
    return chart(
        "Time of a batch by its size, median",
        Axis("rows in a batch", 0, most_rows, [(at, f"{at:,.0f}") for at in _ticks(most_rows)]),
        Axis("seconds", 0, most_secs * 1.05, [(at, f"{at:g}") for at in _ticks(most_secs)]),
        lines,
    )


def _rows(one: Fit) -> float:
    return float(one.measured.run.limit_rows)


def _ticks(most: float) -> Sequence[float]:
    """Return about five round numbers from 0 to the highest."""
    step = round_step(most, TICKS)
    return [round(step * number, 9) for number in range(int(most / step) + 1)]
