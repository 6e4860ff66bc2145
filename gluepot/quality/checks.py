"""How each rule type is judged: what has to be measured for it, and what follows (docs/glue 12.3)."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from gluepot.quality.anomalies import forecast
from gluepot.quality.date_patterns import DatePatternError, date_pattern
from gluepot.quality.distributions import Binned, Distribution, ValueCounts, counted, distribution_name
from gluepot.quality.dqdl.rule_types import MOST_BINS, OTHER_SPELLINGS, Kind
from gluepot.quality.dqdl.ruleset import Condition, Keyword, Negative, Number, Operator, Rule
from gluepot.quality.measures import (
    Castable,
    Columns,
    Complete,
    Counted,
    Extent,
    Extremes,
    Frequencies,
    Fresh,
    Fulfilling,
    Grouped,
    Groups,
    LengthFulfilling,
    Lengths,
    Measure,
    Measured,
    Numbers,
    Rows,
    Spread,
    Statistics,
    Times,
    Together,
    find_name,
)
from gluepot.quality.numbers import Comparison, Moment, RuleError, comparison_of
from gluepot.quality.values import DATA_TYPES, NESTED, NUMBERS, TIMES, check_pattern, has_part

UNMET = "Value: {} does not meet the constraint requirement!"
_DECIMAL = re.compile(r"decimal\(\s*\d+\s*,\s*\d+\s*\)", re.IGNORECASE)
_EXTREMES = frozenset(
    {
        Operator.EQUAL,
        Operator.MORE,
        Operator.AT_LEAST,
        Operator.LESS,
        Operator.AT_MOST,
        Operator.BETWEEN,
    }
)
_LOW = frozenset({Operator.MORE, Operator.AT_LEAST})
_HIGH = frozenset({Operator.LESS, Operator.AT_MOST})


# A condition of rules that are only measured.
ANY = Condition(Kind.NUMBER, Operator.BETWEEN, (Negative(Number("1.7e308")), Number("1.7e308")))


@dataclass(frozen=True, slots=True)
class Setting:
    """What a rule is judged in.

    Args:
        now: the time of the evaluation.
        masks: for each `where` in the ruleset the column that says which rows it chooses.
        earlier: values of metrics in earlier evaluations, the newest first, by metric.
        distributions: by column the distribution in the newest earlier evaluation that has one.
    """

    now: Moment
    masks: Mapping[str, str] = field(default_factory=dict)
    earlier: Mapping[str, Sequence[float]] = field(default_factory=dict)
    distributions: Mapping[str, ValueCounts] = field(default_factory=dict)

    def mask(self, rule: Rule) -> str:
        """Return the column that says which rows the rule is about; empty for all."""
        return self.masks[rule.where] if rule.where else ""

    def test(self, rule: Rule, metric: str = "") -> Comparison:
        """Return the rule's condition with values.

        Raises:
            RuleError: it has none.
        """
        assert rule.condition is not None
        return comparison_of(rule.condition, self._moment(rule), self.earlier.get(name_in_history(metric, rule), ()))

    def threshold(self, rule: Rule, metric: str) -> Comparison | None:
        """Return the condition of `with threshold`; None without one.

        Args:
            rule: the rule.
            metric: the share of rows that the threshold judges, whose earlier values it may use.

        Raises:
            RuleError: a number cannot be calculated.
        """
        tag = rule.tag("threshold")
        if tag is None:
            return None
        earlier = self.earlier.get(name_in_history(metric, rule), ())
        return comparison_of(Condition(Kind.NUMBER, tag.operator, tag.operands), self.now, earlier)

    def _moment(self, rule: Rule) -> Moment:
        """Return the time of the evaluation, in the zone that `with timeZone` names for times of day."""
        tag = rule.tag("timeZone")
        if tag is None:
            return self.now
        name = str(getattr(tag.operands[0], "value", tag.operands[0]))
        try:
            return replace(self.now, zone=ZoneInfo(name))
        except (ZoneInfoNotFoundError, ValueError):
            raise RuleError(f"There is no time zone {name}; use a name such as Europe/Paris.") from None


def name_in_history(metric: str, rule: Rule) -> str:
    """Return the name under which a metric of a rule is kept: metrics of different rows have different names."""
    return f"{metric} where {rule.where}" if rule.where else metric


@dataclass(frozen=True, slots=True)
class Verdict:
    """How a rule was judged.

    Args:
        passed: whether it holds.
        reason: why not; empty if it holds.
        metrics: what was measured, by Glue's names.
        test: the condition or threshold with values, for rules in which that uses earlier values.
        distributions: of columns, by Glue's names.
    """

    passed: bool
    reason: str = ""
    metrics: Mapping[str, float] = field(default_factory=dict)
    test: Comparison | None = None
    distributions: Mapping[str, ValueCounts] = field(default_factory=dict)


class Facts:
    """What was measured, for those who judge.

    Args:
        measured: of all rows.
        outside: values of rules that need more than one pass over the rows, or other data; an error takes the place
            of one that could not be found.
        known: columns of the frame's schema, also if no row was seen.
    """

    def __init__(
        self,
        measured: Measured,
        outside: Mapping[Rule, Mapping[str, float] | str] | None = None,
        known: Columns | None = None,
    ) -> None:
        self.columns = (known or Columns()).merged(measured.columns)
        self._measured = measured
        self._outside = outside or {}
        self._frequencies: dict[Groups, Frequencies] = {}

    def state(self, measure: Measure) -> object:
        """Return what was measured.

        Raises:
            RuleError: it could not be measured.
        """
        state = self._measured.states.get(measure)
        if isinstance(state, str):
            raise RuleError(state)
        if state is None:
            raise RuleError("There are no rows to measure.")
        return state

    def counted(self, measure: Measure) -> Counted:
        """Return the counts of a measure that counts rows."""
        state = self.state(measure)
        assert isinstance(state, Counted)
        return state

    def extent(self, measure: Measure) -> Extent:
        """Return the extremes that were measured."""
        state = self.state(measure)
        assert isinstance(state, Extent)
        return state

    def spread(self, measure: Measure) -> Spread:
        """Return the moments that were measured."""
        state = self.state(measure)
        assert isinstance(state, Spread)
        return state

    def frequencies(self, measure: Groups) -> Frequencies:
        """Return how often values occur."""
        if measure not in self._frequencies:
            state = self.state(measure)
            assert isinstance(state, (Frequencies, Grouped))
            self._frequencies[measure] = state if isinstance(state, Frequencies) else measure.frequencies(state)
        return self._frequencies[measure]

    def values(self, measure: Distribution) -> Mapping[str, Binned | Frequencies | str]:
        """Return the values of columns: numbers in cells, others by frequency, or why there are none."""
        state = self.state(measure)
        assert isinstance(state, dict)
        found: dict[str, Binned | Frequencies | str] = {}
        for column, one in state.items():
            try:
                found[column] = Groups((column,)).with_top(one) if isinstance(one, Grouped) else one
            except RuleError as error:
                found[column] = str(error)
        return found

    def outside(self, rule: Rule) -> Mapping[str, float]:
        """Return the values of a rule that need other data.

        Raises:
            RuleError: they could not be found.
        """
        value = self._outside.get(rule, f"{rule.type_name} cannot be evaluated here.")
        if isinstance(value, str):
            raise RuleError(value)
        return value

    def type_of(self, column: str) -> str:
        """Return Glue's name of a column's type, without parameters; the wider one of two types of numbers.

        Raises:
            RuleError: there is no such column, or its values cannot be judged.
        """
        name = find_name(self.columns.types, column)
        if name is None:
            raise RuleError(f"Input data does not include column {column}!")
        types = {one.partition("(")[0] for one in self.columns.types[name]} - {"null"}
        if types & NESTED:
            raise RuleError(f"Column {column} is nested ({', '.join(sorted(types))}); rules need plain columns.")
        if not types:
            return "null"
        if types <= NUMBERS:
            return next(one for one in ("double", "float", "decimal", "long", "int", "short", "byte") if one in types)
        if len(types) > 1 or "choice" in types:
            raise RuleError(f"Column {column} has values of several types; choose one of them with resolveChoice.")
        return types.pop()

    def number_type(self, column: str, rule: Rule) -> str:
        """Return the type of a column of numbers.

        Raises:
            RuleError: it is no such column.
        """
        found = self.type_of(column)
        if found not in {*NUMBERS, "null"}:
            raise RuleError(f"Column {column} is of type {found}, but {rule.type_name} needs numbers.")
        return found


@dataclass(frozen=True, slots=True)
class Judge:
    """How rules of one type are judged.

    Args:
        needs: returns what has to be measured.
        verdict: judges; raises `RuleError` if that is impossible.
    """

    needs: Callable[[Rule, Setting], Sequence[Measure]]
    verdict: Callable[[Rule, Setting, Facts], Verdict]


def nothing(_: Rule, __: Setting) -> Sequence[Measure]:
    """Return no measures."""
    return ()


def ratio(part: float, whole: float, column: str) -> float:
    """Return a share of the rows.

    Raises:
        RuleError: there are no rows.
    """
    if not whole:
        raise RuleError(f"Column {column} has no value in any row, so the rule cannot be judged.")
    return part / whole


def compared(value: float, test: Comparison, metrics: Mapping[str, float]) -> Verdict:
    """Judge a number."""
    passed = test.holds(value)
    return Verdict(passed, "" if passed else UNMET.format(float(value)), metrics, test)


def is_one(value: float, metrics: Mapping[str, float]) -> Verdict:
    """Judge a share that has to be 1."""
    return Verdict(value == 1.0, "" if value == 1.0 else UNMET.format(float(value)), metrics)


def _row_count(rule: Rule, setting: Setting, facts: Facts) -> Verdict:
    name = "Dataset.*.RowCount"
    state = facts.state(Rows(setting.mask(rule)))
    assert isinstance(state, int)
    return compared(state, setting.test(rule, name), {name: float(state)})


def _column_count(rule: Rule, setting: Setting, facts: Facts) -> Verdict:
    name = "Dataset.*.ColumnCount"
    count = len(facts.columns.types)
    return compared(count, setting.test(rule, name), {name: float(count)})


def _complete(rule: Rule, setting: Setting) -> list[Measure]:
    return [Complete(column, setting.mask(rule)) for column in rule.parameters]


def _completeness(rule: Rule, setting: Setting, facts: Facts) -> Verdict:
    column = rule.parameters[0]
    _exists(facts, column)
    counted = facts.counted(Complete(column, setting.mask(rule)))
    value = ratio(counted.found, counted.rows, column)
    name = f"Column.{column}.Completeness"
    if rule.condition is None:
        return is_one(value, {name: value})
    return compared(value, setting.test(rule, name), {name: value})


def _exists(facts: Facts, column: str) -> None:
    """Raise `RuleError` if there is no such column; its type does not count."""
    if find_name(facts.columns.types, column) is None:
        raise RuleError(f"Input data does not include column {column}!")


def instance(columns: Sequence[str]) -> str:
    """Return the beginning of a metric's name: entity and instance."""
    return f"Column.{columns[0]}" if len(columns) == 1 else f"Multicolumn.{','.join(columns)}"


def _groups(rule: Rule, setting: Setting) -> Groups:
    return Groups(rule.parameters, setting.mask(rule))


def _grouped(rule: Rule, setting: Setting) -> list[Measure]:
    return [_groups(rule, setting)]


def _key(rule: Rule, setting: Setting) -> list[Measure]:
    return [*_grouped(rule, setting), *_complete(rule, setting)]


def _found_groups(rule: Rule, setting: Setting, facts: Facts) -> Frequencies:
    for column in rule.parameters:
        facts.type_of(column)
    return facts.frequencies(_groups(rule, setting))


def _uniqueness(rule: Rule, setting: Setting, facts: Facts) -> Verdict:
    found = _found_groups(rule, setting, facts)
    value = ratio(found.once, found.filled, ", ".join(rule.parameters))
    name = f"{instance(rule.parameters)}.Uniqueness"
    if rule.condition is None:
        return is_one(value, {name: value})
    return compared(value, setting.test(rule, name), {name: value})


def _primary_key(rule: Rule, setting: Setting, facts: Facts) -> Verdict:
    unique = _uniqueness(rule, setting, facts)
    metrics, reason = dict(unique.metrics), unique.reason
    for column in rule.parameters:
        counted = facts.counted(Complete(column, setting.mask(rule)))
        complete = ratio(counted.found, counted.rows, column)
        metrics[f"Column.{column}.Completeness"] = complete
        reason = reason or ("" if complete == 1.0 else UNMET.format(complete))
    return Verdict(not reason, reason, metrics)


def _frequency(metric: str, value_of: Callable[[Frequencies, str], float]) -> Callable[[Rule, Setting, Facts], Verdict]:
    def verdict(rule: Rule, setting: Setting, facts: Facts) -> Verdict:
        column = rule.parameters[0]
        value = value_of(_found_groups(rule, setting, facts), column)
        name = f"Column.{column}.{metric}"
        return compared(value, setting.test(rule, name), {name: float(value)})

    return verdict


def _unique_value_ratio(found: Frequencies, column: str) -> float:
    return ratio(found.once, found.distinct, column)


def _distinct(found: Frequencies, _: str) -> float:
    # NULL counts as one more value, as in AWS's open engine (docs/glue 12.3).
    return found.distinct + (found.rows > found.filled)


def _entropy(found: Frequencies, column: str) -> float:
    ratio(1, found.filled, column)
    return found.entropy


def _numbers(rule: Rule, setting: Setting) -> list[Measure]:
    return [Numbers(rule.parameters[0], setting.mask(rule))]


def _moment(metric: str, value_of: Callable[[Spread], float]) -> Callable[[Rule, Setting, Facts], Verdict]:
    def verdict(rule: Rule, setting: Setting, facts: Facts) -> Verdict:
        column = rule.parameters[0]
        facts.number_type(column, rule)
        found = facts.spread(Numbers(column, setting.mask(rule)))
        ratio(1, found.count, column)
        value = value_of(found)
        name = f"Column.{column}.{metric}"
        return compared(value, setting.test(rule, name), {name: value})

    return verdict


def _mean(found: Spread) -> float:
    return found.mean


def _total(found: Spread) -> float:
    return found.total


def _variance(found: Spread) -> float:
    return found.squares / found.count


def _deviation(found: Spread) -> float:
    return math.sqrt(_variance(found))


def _together(rule: Rule, setting: Setting) -> list[Measure]:
    return [Together(rule.parameters[0], rule.parameters[1], setting.mask(rule))]


def _correlation(rule: Rule, setting: Setting, facts: Facts) -> Verdict:
    for column in rule.parameters:
        facts.number_type(column, rule)
    found = facts.state(_together(rule, setting)[0])
    below = math.sqrt(found.squares_a) * math.sqrt(found.squares_b)  # type: ignore[attr-defined]
    if not below:
        raise RuleError(f"Columns {' and '.join(rule.parameters)} do not vary together in any row.")
    value = found.products / below  # type: ignore[attr-defined]
    name = f"Multicolumn.{','.join(rule.parameters)}.ColumnCorrelation"
    return compared(value, setting.test(rule, name), {name: value})


def _column_exists(rule: Rule, _: Setting, facts: Facts) -> Verdict:
    column = rule.parameters[0]
    there = find_name(facts.columns.types, column) is not None
    return Verdict(there, "" if there else f"Input data does not include column {column}!")


def _names_match(rule: Rule, _: Setting, facts: Facts) -> Verdict:
    pattern = rule.parameters[0]
    if error := check_pattern(pattern):
        raise RuleError(error)
    names = list(facts.columns.types)
    unmatched = [name for name in names if not has_part(name, pattern)]
    share = ratio(len(names) - len(unmatched), len(names), "names")
    reason = f"Columns that do not match the pattern: {', '.join(unmatched)}" if unmatched else ""
    return Verdict(not unmatched, reason, {"Dataset.*.ColumnNamesPatternMatchRatio": share})


def _threshold(rule: Rule, setting: Setting, share: float, metrics: Mapping[str, float]) -> Verdict:
    """Judge a share of rows, the first of the metrics, by the threshold; it has to be 1 without one."""
    test = setting.threshold(rule, next(iter(metrics)))
    return is_one(share, metrics) if test is None else compared(share, test, metrics)


def _castable(rule: Rule, setting: Setting) -> Castable:
    assert rule.condition is not None
    wanted = str(getattr(rule.condition.operands[0], "value", ""))
    return Castable(rule.parameters[0], wanted, setting.mask(rule), _date_format(rule))


def _date_format(rule: Rule) -> str:
    tag = rule.tag("format")
    return "" if tag is None else str(getattr(tag.operands[0], "value", tag.operands[0]))


def _data_type_needs(rule: Rule, setting: Setting) -> list[Measure]:
    return [_castable(rule, setting)] if _data_type_error(rule) is None else []


def _data_type_error(rule: Rule) -> str | None:
    assert rule.condition is not None
    wanted = str(getattr(rule.condition.operands[0], "value", ""))
    if rule.condition.operator not in {Operator.EQUAL, Operator.UNEQUAL}:
        return f"ColumnDataType compares by = or !=, not by {rule.condition.operator.value}."
    if wanted.upper() not in DATA_TYPES and not _DECIMAL.fullmatch(wanted):
        return f"The type {wanted} is not known; use one of {', '.join(DATA_TYPES)} or DECIMAL(precision, scale)."
    if not (date_format := _date_format(rule)):
        return None
    if wanted.upper() not in {"DATE", "TIMESTAMP"}:
        return f"`with format` is for DATE and TIMESTAMP, not for {wanted}; omit it."
    try:
        date_pattern(date_format)
    except DatePatternError as error:
        return str(error)
    return None


def _data_type(rule: Rule, setting: Setting, facts: Facts) -> Verdict:
    if (error := _data_type_error(rule)) is not None:
        raise RuleError(error)
    column = rule.parameters[0]
    facts.type_of(column)
    counted = facts.counted(_castable(rule, setting))
    share = ratio(counted.found, counted.rows, column)
    assert rule.condition is not None
    share = 1.0 - share if rule.condition.operator is Operator.UNEQUAL else share
    return _threshold(rule, setting, share, {f"Column.{column}.ColumnDataType.Compliance": share})


def _length_needs(rule: Rule, setting: Setting) -> list[Measure]:
    column, mask, test = rule.parameters[0], setting.mask(rule), setting.test(rule)
    return [Lengths(column, mask), *([] if test.operator in _EXTREMES else [LengthFulfilling(column, test, mask)])]


def _length(rule: Rule, setting: Setting, facts: Facts) -> Verdict:
    column = rule.parameters[0]
    found = facts.type_of(column)
    if found not in {"string", "null"}:
        raise RuleError(f"Column {column} is of type {found}, but ColumnLength needs texts.")
    test = setting.test(rule)
    begin = f"Column.{column}."
    if test.operator in _EXTREMES:
        extent = facts.extent(Lengths(column, setting.mask(rule)))
        ratio(0, extent.rows, column)
        return _between_ends(extent, test, _extreme_metrics(test.operator, begin, "imumLength", extent))
    counted = facts.counted(LengthFulfilling(column, test, setting.mask(rule)))
    share = ratio(counted.found, counted.rows, column)
    return is_one(share, {f"{begin}LengthCompliance": share})


def _extreme_metrics(operator: Operator, begin: str, end: str, found: Extent) -> dict[str, float]:
    low, high = {f"{begin}Min{end}": float(found.least)}, {f"{begin}Max{end}": float(found.most)}
    if operator in _LOW:
        return low
    return high if operator in _HIGH else {**high, **low}


def _between_ends(extent: Extent, test: Comparison, metrics: Mapping[str, float]) -> Verdict:
    """Judge a condition that holds in every row if it holds for the extremes; NULL never fulfils it."""
    for end in (extent.most, extent.least) if test.operator in _HIGH else (extent.least, extent.most):
        if extent.count and not test.holds(math.inf if math.isnan(end) else end):
            return Verdict(False, UNMET.format(float(end)), metrics)
    has_null = extent.count < extent.rows
    return Verdict(not has_null, UNMET.format("NULL") if has_null else "", metrics)


def _by_extremes(rule: Rule, test: Comparison) -> bool:
    """Return whether the extremes of a column of numbers decide about a condition on its values."""
    return test.kind is Kind.NUMBER and test.operator in _EXTREMES and rule.tag("threshold") is None


def _values_needs(rule: Rule, setting: Setting) -> list[Measure]:
    column, mask, test = rule.parameters[0], setting.mask(rule), setting.test(rule)
    if _by_extremes(rule, test) and Keyword.NULL not in test.operands:
        return [Extremes(column, mask)]
    needs: list[Measure] = [Fulfilling(column, test, mask)]
    if test.kind is Kind.DATE and test.operator in _EXTREMES and rule.tag("threshold") is None:
        needs.append(Times(column, mask))
    return needs


def _values(rule: Rule, setting: Setting, facts: Facts) -> Verdict:
    column, mask, test = rule.parameters[0], setting.mask(rule), setting.test(rule)
    found = facts.type_of(column)
    if test.kind is Kind.NUMBER:
        facts.number_type(column, rule)
    if test.kind is Kind.DATE and found not in {*TIMES, "string", "null"}:
        raise RuleError(f"Column {column} is of type {found}, but the condition compares dates.")
    if test.operator in {Operator.MATCHES, Operator.NOT_MATCHES} and (error := check_pattern(str(test.operands[0]))):
        raise RuleError(error)
    begin = f"Column.{column}."
    if _by_extremes(rule, test) and Keyword.NULL not in test.operands:
        extent = facts.extent(Extremes(column, mask))
        ratio(0, extent.rows, column)
        ends = _extreme_metrics(test.operator, begin, "imum", extent)
        return _between_ends(extent, test, ends if extent.count else {f"{begin}ColumnValues.Compliance": 0.0})
    counted = facts.counted(Fulfilling(column, test, mask))
    share = ratio(counted.found, counted.rows, column)
    metrics: Mapping[str, float] = {f"{begin}ColumnValues.Compliance": share}
    if rule.tag("threshold") is not None:
        return _threshold(rule, setting, share, metrics)
    if test.kind is Kind.DATE and test.operator in _EXTREMES:
        extent = facts.extent(Times(column, mask))
        metrics = _extreme_metrics(test.operator, begin, "imum", extent) if extent.count else metrics
    return is_one(share, metrics)


def _fresh(rule: Rule, setting: Setting) -> Fresh:
    return Fresh(rule.parameters[0], setting.test(rule), setting.now.epoch_secs, setting.mask(rule))


def _freshness_needs(rule: Rule, setting: Setting) -> list[Measure]:
    return [_fresh(rule, setting)]


def _freshness(rule: Rule, setting: Setting, facts: Facts) -> Verdict:
    column = rule.parameters[0]
    found = facts.type_of(column)
    if found not in {*TIMES, "string", "null"}:
        raise RuleError(f"Column {column} is of type {found}, but DataFreshness needs dates.")
    counted = facts.counted(_fresh(rule, setting))
    share = ratio(counted.found, counted.rows, column)
    reason = "" if share == 1.0 else f"{100 * share:.2f} % of rows passed the threshold"
    return Verdict(share == 1.0, reason, {f"Column.{column}.DataFreshness.Compliance": share})


def _outside(rule: Rule, setting: Setting, facts: Facts) -> Verdict:
    """Judge a number that was found elsewhere."""
    metrics = facts.outside(rule)
    name, value = next(iter(metrics.items()))
    if rule.condition is None or rule.condition.kind is not Kind.NUMBER or rule.tag("threshold") is not None:
        return _threshold(rule, setting, value, metrics)
    return compared(value, setting.test(rule, name), metrics)


def watched(rule: Rule) -> Rule:
    """Return the rule, without a meaningful condition, whose metrics a DetectAnomalies rule watches."""
    name, *parameters = rule.parameters
    return measuring(Rule(OTHER_SPELLINGS.get(name, name), tuple(parameters), line=rule.line))


def measuring(analyzer: Rule) -> Rule:
    """Return the rule that measures what an analyzer does; its condition plays no part."""
    return replace(analyzer, condition=ANY) if analyzer.type.kinds else analyzer


def _watched_needs(rule: Rule, setting: Setting) -> Sequence[Measure]:
    inner = watched(rule)
    return judge_of(inner).needs(inner, setting)


def _anomalies(rule: Rule, setting: Setting, facts: Facts) -> Verdict:
    inner = watched(rule)
    metrics = judge_of(inner).verdict(inner, setting, facts).metrics
    for name, value in metrics.items():
        expected = forecast(setting.earlier.get(name, ()))
        if expected is not None and not expected.contains(value):
            reason = (
                f"Value: {value} of {name} is outside of the expected range from {expected.lower} to {expected.upper};"
                f" {expected.values} earlier values let us expect {expected.expected}."
            )
            return Verdict(False, reason, metrics)
    return Verdict(True, "", metrics)


def _statistics_needs(rule: Rule, setting: Setting) -> list[Measure]:
    return [Rows(setting.mask(rule)), Statistics(rule.parameters[0])]


def _statistics(rule: Rule, setting: Setting, facts: Facts) -> Verdict:
    rows = facts.state(Rows(setting.mask(rule)))
    assert isinstance(rows, int)
    found = facts.state(Statistics(rule.parameters[0]))
    assert isinstance(found, dict)
    metrics = {"Dataset.*.RowCount": float(rows)}
    for column, states in found.items():
        begin = f"Column.{column}."
        for measure, state in states.items():
            if isinstance(measure, Complete) and rows:
                metrics[f"{begin}Completeness"] = state.found / rows
            elif isinstance(measure, Groups) and not isinstance(state, str) and not state.too_many:
                known = measure.frequencies(state)
                if known.filled:
                    metrics[f"{begin}Uniqueness"] = known.once / known.filled
                    metrics[f"{begin}DistinctValuesCount"] = float(_distinct(known, column))
                    metrics[f"{begin}Entropy"] = known.entropy
            elif isinstance(state, Extent | Spread) and state.count:
                end = "imumLength" if isinstance(measure, Lengths) else "imum"
                metrics |= {f"{begin}Min{end}": float(state.least), f"{begin}Max{end}": float(state.most)}
                if isinstance(state, Spread):
                    metrics |= {f"{begin}Mean": state.mean, f"{begin}Sum": state.total}
                    metrics[f"{begin}StandardDeviation"] = _deviation(state)
    return Verdict(True, "", metrics)


def _distribution_measure(rule: Rule, setting: Setting) -> Distribution:
    bins, _ = _bins(rule)
    # Another number of bins begins anew.
    frozen = {column: one.edges for column, one in setting.distributions.items() if len(one.edges) == bins + 1}
    return Distribution(rule.parameters[0], tuple(sorted(frozen.items())))


def _bins(rule: Rule) -> tuple[int, bool]:
    """Return the number of bins, and whether bins that no longer fit are replaced."""
    bins, rebin = rule.tag("bins"), rule.tag("rebin")
    return (
        MOST_BINS if bins is None else int(str(bins.operands[0])),
        rebin is None or getattr(rebin.operands[0], "value", "") == "true",
    )


def _distribution_needs(rule: Rule, setting: Setting) -> list[Measure]:
    return [_distribution_measure(rule, setting)]


def _distribution(rule: Rule, setting: Setting, facts: Facts) -> Verdict:
    bins, rebin = _bins(rule)
    found: dict[str, ValueCounts] = {}
    for column, state in facts.values(_distribution_measure(rule, setting)).items():
        if isinstance(state, str):  # other columns have a distribution all the same
            continue
        with suppress(RuleError):
            before = setting.distributions.get(column)
            if one := counted(facts.type_of(column), state, bins, rebin=rebin, before=before):
                found[distribution_name(column)] = one
    return Verdict(True, distributions=found)


JUDGES: Mapping[str, Judge] = {
    "RowCount": Judge(lambda rule, setting: [Rows(setting.mask(rule))], _row_count),
    "ColumnCount": Judge(nothing, _column_count),
    "Completeness": Judge(_complete, _completeness),
    "IsComplete": Judge(_complete, _completeness),
    "Uniqueness": Judge(_grouped, _uniqueness),
    "IsUnique": Judge(_grouped, _uniqueness),
    "IsPrimaryKey": Judge(_key, _primary_key),
    "UniqueValueRatio": Judge(_grouped, _frequency("UniqueValueRatio", _unique_value_ratio)),
    "DistinctValuesCount": Judge(_grouped, _frequency("DistinctValuesCount", _distinct)),
    "Entropy": Judge(_grouped, _frequency("Entropy", _entropy)),
    "Mean": Judge(_numbers, _moment("Mean", _mean)),
    "Sum": Judge(_numbers, _moment("Sum", _total)),
    "Variance": Judge(_numbers, _moment("Variance", _variance)),
    "StandardDeviation": Judge(_numbers, _moment("StandardDeviation", _deviation)),
    "ColumnCorrelation": Judge(_together, _correlation),
    "ColumnExists": Judge(nothing, _column_exists),
    "ColumnNamesMatchPattern": Judge(nothing, _names_match),
    "ColumnDataType": Judge(_data_type_needs, _data_type),
    "ColumnLength": Judge(_length_needs, _length),
    "ColumnValues": Judge(_values_needs, _values),
    "DataFreshness": Judge(_freshness_needs, _freshness),
    "DetectAnomalies": Judge(_watched_needs, _anomalies),
    "AllStatistics": Judge(_statistics_needs, _statistics),
    "Distribution": Judge(_distribution_needs, _distribution),
}
ELSEWHERE = Judge(nothing, _outside)
"""Judges rules whose value is found by Spark SQL or in a listing of files."""


def judge_of(rule: Rule) -> Judge:
    """Return how rules of a type are judged."""
    return JUDGES.get(rule.type_name, ELSEWHERE)
