"""The reports as one HTML file: no script, nothing loaded from anywhere, to mail or to keep."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from importlib.resources import files

from jinja2 import Environment, StrictUndefined

from gluepot.check.finding import Level, Outcome, Report


def as_html(reports: Sequence[Report]) -> str:
    """Return the reports as a page: a table of all, then the findings of each that has something to be said."""
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    template = environment.from_string(files(__package__).joinpath("page.html").read_text())
    numbers = Counter(report.outcome for report in reports)
    return template.render(reports=reports, outcomes=[(one, numbers[one]) for one in Outcome], levels=Level)


def summary(reports: Sequence[Report]) -> str:
    """Return one line: how many scripts and jobs have which outcome."""
    numbers = Counter(report.outcome for report in reports)
    counted = ", ".join(f"{numbers[one]} {one.value}" for one in Outcome if numbers[one])
    return f"{len(reports)} checked: {counted}"
