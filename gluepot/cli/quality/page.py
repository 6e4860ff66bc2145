"""A result of a check as one HTML file, which needs no script and loads nothing: to mail, or to keep beside a run."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files

from jinja2 import Environment, StrictUndefined

from gluepot.cli.output import time_of
from gluepot.cli.quality import plots
from gluepot.cli.quality.plots import BarPlot, LinePlot, bar_plot, line_plot, short
from gluepot.quality.distributions import ValueCounts
from gluepot.quality.outcomes import RuleOutcome
from gluepot.quality.results import Result

EARLIER_SHOWN = 30
"""How many earlier results a page shows at most."""
# A page with more plots is slow to open.
_MOST_PLOTS = 100


@dataclass(frozen=True, slots=True)
class RuleRow:
    """A rule of the result.

    Args:
        outcome: what was found now.
        past: whether it held before and now, the oldest first; None where the result has no such rule.
    """

    outcome: RuleOutcome
    past: Sequence[tuple[str, bool | None]]

    @property
    def summary(self) -> str:
        """How often it held, as a sentence."""
        known = [passed for _, passed in self.past if passed is not None]
        return f"passed {sum(known)} of {len(known)} times"


def page(result: Result, earlier: Sequence[Result]) -> str:
    """Return the page.

    Args:
        result: what was found.
        earlier: earlier results of the same context, the newest first.
    """
    known = [*reversed(earlier[:EARLIER_SHOWN]), result]
    seen = {one.metric for one in result.observations}
    # What is not as expected comes first.
    names = sorted(result.metrics, key=lambda name: (name not in seen, name))
    histories = {name: _values(known, name) for name in names}
    plotted = {name: values for name, values in histories.items() if len(values) > 1}
    shown = dict(list(plotted.items())[:_MOST_PLOTS])
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    template = environment.from_string(files(__package__).joinpath("page.html").read_text(encoding="utf-8"))
    return template.render(
        result=result,
        time=_time(result),
        passed=sum(one.passed for one in result.outcomes),
        rules=[RuleRow(one, _past(known, one.rule)) for one in result.outcomes],
        metrics=_plots(shown),
        unplotted=len(plotted) - len(shown),
        single={name: result.metrics[name] for name in names if name not in plotted},
        distributions=_distributions(result.distributions),
        plots=plots,
        short=short,
    )


def _time(result: Result) -> str:
    return time_of(result.completed_ms) or ""


def _values(results: Sequence[Result], name: str) -> list[tuple[str, float]]:
    return [
        (_time(one), one.metrics[name]) for one in results if name in one.metrics and math.isfinite(one.metrics[name])
    ]


def _past(results: Sequence[Result], rule: str) -> list[tuple[str, bool | None]]:
    return [
        (_time(one), next((outcome.passed for outcome in one.outcomes if outcome.rule == rule), None))
        for one in results
    ]


def _plots(values: Mapping[str, Sequence[tuple[str, float]]]) -> list[tuple[str, LinePlot]]:
    return [(name, line_plot(of_metric)) for name, of_metric in values.items()]


def _distributions(given: Mapping[str, ValueCounts]) -> list[tuple[str, ValueCounts, BarPlot]]:
    return [(name, one, bar_plot(one)) for name, one in sorted(given.items())]
