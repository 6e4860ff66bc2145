"""Observations: metrics that are not as earlier evaluations let us expect, and rules that would notice it. Pure.

Their shape is that of Glue's API (docs/glue 12.6).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from typing import Any

from gluepot.quality.anomalies import Forecast, forecast
from gluepot.quality.checks import ANY, name_in_history
from gluepot.quality.distributions import (
    INFORMATIVE_SHARE,
    RUNS_TO_REBIN,
    STRONG_SHARE,
    ValueCounts,
    column_of_distribution,
)
from gluepot.quality.dqdl.rule_types import Kind
from gluepot.quality.dqdl.ruleset import Number, Operator, Rule, Tag, numeral, quoted
from gluepot.quality.outcomes import Evaluation

MOST_OBSERVATIONS = 50
"""The largest number of observations in a result (docs/glue 12.6)."""

_DIGITS = 4
_SHARES = frozenset({"Completeness", "Uniqueness", "UniqueValueRatio"})
_COUNTS = frozenset({"RowCount", "ColumnCount", "DistinctValuesCount"})
_NEVER_NEGATIVE = _SHARES | _COUNTS | {"Entropy", "StandardDeviation"}
_PLAIN = _NEVER_NEGATIVE | {"Mean", "Sum", "ColumnCorrelation"}
_LOWEST = {"Minimum": "ColumnValues", "MinimumLength": "ColumnLength"}
_HIGHEST = {"Maximum": "ColumnValues", "MaximumLength": "ColumnLength"}
_BIN_MARGIN = 0.01


@dataclass(frozen=True, slots=True)
class Observation:
    """One thing that is not as expected.

    Args:
        description: explains it to a person.
        metric: Glue's name of the metric.
        actual: its value.
        expected: the value that was expected.
        lower: the lower limit of values that are not remarkable.
        upper: the upper limit.
        new_rules: DQDL of rules that fail on such a value.
    """

    description: str
    metric: str
    actual: float
    expected: float
    lower: float
    upper: float
    new_rules: tuple[str, ...] = ()

    def plain(self) -> dict[str, Any]:
        """Return the observation as Glue's API has it."""
        values = {
            "ActualValue": self.actual,
            "ExpectedValue": self.expected,
            "LowerLimit": self.lower,
            "UpperLimit": self.upper,
        }
        metric = {"MetricName": self.metric, "MetricValues": values, "NewRules": list(self.new_rules)}
        return {"Description": self.description, "MetricBasedObservation": metric}

    @classmethod
    def of_plain(cls, given: Mapping[str, Any]) -> Observation:
        """Return what `plain` has made."""
        metric = given["MetricBasedObservation"]
        values = metric["MetricValues"]
        return cls(
            given["Description"],
            metric["MetricName"],
            values["ActualValue"],
            values["ExpectedValue"],
            values["LowerLimit"],
            values["UpperLimit"],
            tuple(metric["NewRules"]),
        )


def observed(evaluation: Evaluation, earlier: Mapping[str, Sequence[float]]) -> list[Observation]:
    """Return what is not as earlier evaluations let us expect.

    Args:
        evaluation: what was found now.
        earlier: values of metrics in earlier evaluations, the newest first, by their names in the history.
    """
    found = [*_of_metrics(evaluation, earlier), *_of_distributions(evaluation)]
    return found[:MOST_OBSERVATIONS]


def _of_metrics(evaluation: Evaluation, earlier: Mapping[str, Sequence[float]]) -> Iterator[Observation]:
    for name, rule in evaluation.origins.items():
        value = evaluation.history.get(name, math.nan)
        expected = forecast(earlier.get(name, ()))
        if expected is None or not math.isfinite(value) or expected.contains(value):
            continue
        metric = name.removesuffix(name_in_history("", rule))
        yield Observation(
            _explained(name, value, expected),
            metric,
            value,
            expected.expected,
            expected.lower,
            expected.upper,
            tuple(suggested(metric, rule, expected.lower, expected.upper)),
        )


def _explained(name: str, value: float, expected: Forecast) -> str:
    side, limit = ("above the upper", expected.upper) if value > expected.upper else ("below the lower", expected.lower)
    what = "trend" if expected.is_trend else "mean"
    return (
        f"{name} is {_short(value)}, {side} limit of {_short(limit)}. The {what} of {expected.values} earlier values"
        f" lets us expect {_short(expected.expected)}."
    )


def _short(value: float) -> str:
    """Return a number with six significant digits, but a whole one as it is."""
    return numeral(value if value == int(value) else float(f"{value:.6g}"))


def suggested(metric: str, rule: Rule, lower: float, upper: float) -> Iterator[str]:
    """Yield DQDL of rules that pass while a metric is within limits.

    Args:
        metric: Glue's name of the metric.
        rule: the rule or analyzer that has measured it.
        lower: the smallest value that passes.
        upper: the largest one.
    """
    kind = metric.rpartition(".")[2]
    parameters = rule.parameters if rule.type_name != "AllStatistics" else (_column(metric, kind),)
    if kind in _PLAIN:
        parameters = () if metric.startswith("Dataset.") else parameters
        yield _text(replace(rule, type_name=kind, parameters=parameters, tags=()), _within(kind, lower, upper))
    elif kind == "CustomSQL":
        yield _text(rule, _within(kind, lower, upper))
    elif kind in _LOWEST | _HIGHEST:
        type_name = _LOWEST.get(kind) or _HIGHEST[kind]
        bound = _bound(rule, kind, lower if kind in _LOWEST else upper)
        where = rule.where
        if type_name == "ColumnValues":
            # NULL fails every condition on values, but plays no part in the extremes.
            filled = f"`{parameters[0].replace('`', '``')}` is not null"
            where = f"({where}) and {filled}" if where else filled
        yield _text(Rule(type_name, parameters, where=where), bound)
    elif kind == "Compliance" and rule.type_name == "ColumnValues" and rule.condition != ANY:
        least = numeral(_rounded(max(lower, 0.0), ROUND_FLOOR))
        others = tuple(one for one in rule.tags if one.name != "threshold")
        yield str(replace(rule, tags=(*others, Tag("threshold", Operator.AT_LEAST, (Number(least),)))))


def _text(rule: Rule, condition: str) -> str:
    found = [rule.type_name, *map(quoted, rule.parameters), condition]
    return " ".join([*found, f"where {quoted(rule.where)}"] if rule.where else found)


def _column(metric: str, kind: str) -> str:
    return metric.removeprefix("Column.").removesuffix(f".{kind}")


def _within(kind: str, lower: float, upper: float) -> str:
    """Return the condition that values within limits fulfil. The limits of `between` do not belong to it."""
    if kind in _COUNTS:
        low, high = math.ceil(lower) - 1.0, math.floor(upper) + 1.0
    else:
        low, high = _outside(lower, ROUND_FLOOR), _outside(upper, ROUND_CEILING)
    if kind in _SHARES and high > 1.0:
        return f">= {numeral(_rounded(max(lower, 0.0), ROUND_FLOOR))}"
    if kind in _NEVER_NEGATIVE and low < 0.0:
        return f"<= {numeral(_rounded(upper, ROUND_CEILING) if kind not in _COUNTS else high - 1.0)}"
    return f"between {numeral(low)} and {numeral(high)}"


def _bound(rule: Rule, kind: str, limit: float) -> str:
    is_low = kind in _LOWEST
    sign = ">=" if is_low else "<="
    if rule.condition is not None and rule.condition.kind is Kind.DATE:
        day = datetime.fromtimestamp(limit, UTC)
        return f"{sign} {quoted(f'{day if is_low else day + timedelta(days=1):%Y-%m-%d}')}"
    if kind.endswith("Length"):
        return f"{sign} {max(math.ceil(limit), 0) if is_low else math.floor(limit)}"
    return f"{sign} {numeral(_rounded(limit, ROUND_FLOOR if is_low else ROUND_CEILING))}"


def _rounded(value: float, direction: str) -> float:
    """Return a value rounded in a direction to the first significant digits."""
    if not value:
        return 0.0
    exact = Decimal(repr(value))
    return float(exact.quantize(Decimal(1).scaleb(exact.adjusted() - _DIGITS + 1), direction))


def _outside(value: float, direction: str) -> float:
    """Return a rounded value beyond a limit, never the limit itself."""
    found = _rounded(value, direction)
    if found != value:
        return found
    step = float(Decimal(1).scaleb(Decimal(repr(value)).adjusted() - _DIGITS + 1)) if value else 10.0**-_DIGITS
    moved = float(Decimal(repr(value)) + Decimal(repr(-step if direction is ROUND_FLOOR else step)))
    # The step from one of the smallest numbers may be too small for a number.
    return moved if moved != value else math.nextafter(value, -math.inf if direction is ROUND_FLOOR else math.inf)


def _of_distributions(evaluation: Evaluation) -> Iterator[Observation]:
    for metric, one in evaluation.distributions.items():
        share = one.replaced_share or one.outside_share
        if share <= INFORMATIVE_SHARE:
            continue
        column = column_of_distribution(metric)
        yield Observation(
            _explained_bins(column, one, share), metric, share, 0.0, 0.0, INFORMATIVE_SHARE, (_bins_rule(column, one),)
        )


def _explained_bins(column: str, one: ValueCounts, share: float) -> str:
    bins = f"{len(one.counts)} bins from {_short(one.edges[0])} to {_short(one.edges[-1])}"
    if one.replaced_share:
        return (
            f"The values of column {column} are counted in {bins} from now on: more than {STRONG_SHARE:.0%} of them"
            f" lay outside of the earlier bins {RUNS_TO_REBIN} times in a row, this time {share:.1%}."
        )
    found = (
        f"{share:.1%} of the values of column {column} lie outside of its {bins}, which an earlier evaluation has set:"
        f" {one.below} below and {one.above} above."
    )
    if share <= STRONG_SHARE:
        return found
    return (
        f"{found} These are so many that the bins no longer describe the column, {one.overflows} times in a row now;"
        f" unless rebin is false, new bins are set when it is {RUNS_TO_REBIN} times."
    )


def _bins_rule(column: str, one: ValueCounts) -> str:
    margin = (one.edges[-1] - one.edges[0]) / len(one.counts) * _BIN_MARGIN
    low, high = _rounded(one.edges[0] - margin, ROUND_FLOOR), _rounded(one.edges[-1] + margin, ROUND_CEILING)
    filled = quoted(f"`{column.replace('`', '``')}` is not null")
    return (
        f"ColumnValues {quoted(column)} between {numeral(low)} and {numeral(high)} where {filled}"
        f" with threshold >= {numeral(1 - STRONG_SHARE)}"
    )
