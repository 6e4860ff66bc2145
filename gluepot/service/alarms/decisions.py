"""Alarms of CloudWatch: what a request may define, and which state data puts an alarm in. Pure.

The rules for missing data are those of AWS's guide "Configuring how CloudWatch alarms treat missing data": its two
tables of examples are tests.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from gluepot.service.decisions.metric_math import Series
from gluepot.service.decisions.metrics import MINUTE_MS, STATISTICS, check_period, check_statistic, metric_of
from gluepot.service.errors import ServiceError
from gluepot.service.events.rules import is_place

OK, ALARM, INSUFFICIENT_DATA = "OK", "ALARM", "INSUFFICIENT_DATA"
STATES = (OK, ALARM, INSUFFICIENT_DATA)
ACTIONS = {OK: "OKActions", ALARM: "AlarmActions", INSUFFICIENT_DATA: "InsufficientDataActions"}
"""The member of a definition that has the actions of a state."""
MISSING, IGNORE, BREACHING, NOT_BREACHING = "missing", "ignore", "breaching", "notBreaching"
FIRST_REASON = "Unchecked: Initial alarm creation"

_ARN = re.compile(r"arn:aws[a-z-]*:cloudwatch:[^:]*:[^:]*:alarm:(?P<name>.+)", re.DOTALL)
_FURTHER_PERIODS = 2
"""How many periods before the evaluated ones are read; they count where later data is missing."""
_SETTLE_MS = 10_000
"""How long after the end of a minute its data is expected; runs hand theirs over every few seconds."""
_MOST_ACTIONS, _MOST_METRICS = 5, 10
_HOUR_SECS, _DAY_SECS, _WEEK_SECS = 3600, 24 * 3600, 7 * 24 * 3600
_KEPT = (
    *("AlarmDescription", "ActionsEnabled", *ACTIONS.values(), "MetricName", "Namespace", "Statistic"),
    *("ExtendedStatistic", "Dimensions", "Period", "Unit", "EvaluationPeriods", "DatapointsToAlarm", "Threshold"),
    *("ComparisonOperator", "TreatMissingData", "EvaluateLowSampleCountPercentile", "Metrics"),
)
_OF_A_METRIC = ("MetricName", "Namespace", "Period", "Statistic", "ExtendedStatistic", "Dimensions", "Unit")


class Comparison(NamedTuple):
    """How a value is compared with the threshold.

    Args:
        breaches: whether a value is on the wrong side.
        words: for reasons.
    """

    breaches: Callable[[float, float], bool]
    words: str


COMPARISONS: Mapping[str, Comparison] = {
    "GreaterThanOrEqualToThreshold": Comparison(operator.ge, "greater than or equal to"),
    "GreaterThanThreshold": Comparison(operator.gt, "greater than"),
    "LessThanThreshold": Comparison(operator.lt, "less than"),
    "LessThanOrEqualToThreshold": Comparison(operator.le, "less than or equal to"),
}


@dataclass(frozen=True, slots=True)
class Alarm:
    """An alarm.

    Args:
        name: its name.
        definition: as `PutMetricAlarm` takes it, without name and tags.
        configured_ms: when it was defined, in milliseconds since 1970.
        state: one of `STATES`.
        reason: of the state, for people.
        reason_data: of the state, as JSON; empty if there is none.
        state_ms: when the state was set last.
        transitioned_ms: when the state changed last.
        next_ms: when to evaluate the alarm next.
    """

    name: str
    definition: Mapping[str, Any]
    configured_ms: int
    state: str
    reason: str
    reason_data: str
    state_ms: int
    transitioned_ms: int
    next_ms: int

    @property
    def periods(self) -> int:
        """How many periods are evaluated."""
        return int(self.definition["EvaluationPeriods"])

    @property
    def needed(self) -> int:
        """How many of them must breach the threshold."""
        return int(self.definition.get("DatapointsToAlarm") or self.periods)

    @property
    def missing(self) -> str:
        """How missing data counts."""
        return str(self.definition.get("TreatMissingData") or MISSING)

    @property
    def comparison(self) -> Comparison:
        """How values are compared with the threshold."""
        return COMPARISONS[self.definition["ComparisonOperator"]]

    @property
    def threshold(self) -> float:
        """What values are compared with."""
        return float(self.definition["Threshold"])

    @property
    def actions(self) -> Sequence[str]:
        """Where a change to the present state is sent: ARNs of topics, and URLs."""
        if not self.definition.get("ActionsEnabled", True):
            return ()
        return tuple(self.definition.get(ACTIONS[self.state]) or ())

    @property
    def all_actions(self) -> list[str]:
        """Where changes to any state are sent."""
        return [action for member in ACTIONS.values() for action in self.definition.get(member) or ()]

    @property
    def queries(self) -> list[Mapping[str, Any]]:
        """What is asked for, as `GetMetricData` takes it."""
        given = self.definition
        if given.get("Metrics"):
            return list(given["Metrics"])
        metric = {name: given[name] for name in ("Namespace", "MetricName", "Dimensions") if given.get(name)}
        unit = {"Unit": given["Unit"]} if given.get("Unit") else {}
        stat = {"Metric": metric, "Period": given["Period"], "Stat": _statistic(given), **unit}
        return [{"Id": "m1", "MetricStat": stat, "ReturnData": True}]

    @property
    def period_secs(self) -> int:
        """How long a period is."""
        return _periods(self.definition)[0]

    @property
    def watched(self) -> str:
        """The id of the query whose values are compared."""
        return next(str(query["Id"]) for query in self.queries if query.get("ReturnData", True))


class Range(NamedTuple):
    """The time whose data decides.

    Args:
        begin_ms: of the first period, in milliseconds since 1970.
        end_ms: of the last one.
    """

    begin_ms: int
    end_ms: int


class Judgement(NamedTuple):
    """What data says of an alarm.

    Args:
        state: the state that it should have.
        evaluated: the data that decided, by time, the newest first.
        missing: how many periods had to be filled in.
    """

    state: str
    evaluated: Sequence[tuple[int, float]]
    missing: int


def definition_of(request: Mapping[str, Any]) -> dict[str, Any]:
    """Return the definition of an alarm.

    Raises:
        ServiceError: it could not be evaluated here, or not on AWS.
    """
    unknown = [name for name in request if name not in {*_KEPT, "AlarmName", "Tags"} and request[name] is not None]
    if unknown:
        raise _wrong(f"{unknown[0]} is not available here; define the alarm with a metric and a threshold.")
    _check_threshold(request)
    _check_metric(request)
    _check_range(request)
    _check_actions(request)
    return {name: request[name] for name in _KEPT if request.get(name) is not None}


def next_evaluation_ms(now_ms: int) -> int:
    """Return when to evaluate an alarm again: once a minute, as CloudWatch does for periods of a minute or more."""
    settled_ms = now_ms - _SETTLE_MS
    return settled_ms - settled_ms % MINUTE_MS + MINUTE_MS + _SETTLE_MS


def range_of(alarm: Alarm, now_ms: int) -> Range:
    """Return the time whose data decides now: whole minutes, and some periods more than are evaluated."""
    settled_ms = now_ms - _SETTLE_MS
    end_ms = settled_ms - settled_ms % MINUTE_MS
    return Range(end_ms - (alarm.periods + _FURTHER_PERIODS) * alarm.period_secs * 1000, end_ms)


def judged(alarm: Alarm, within: Range, values: Series) -> Judgement:
    """Return the state that data puts an alarm in.

    Args:
        alarm: the alarm, with its present state.
        within: the time of the data.
        values: by the begin of their period; a period without data is left out.
    """
    breaches = alarm.comparison.breaches
    newest = sorted(((at_ms, value) for at_ms, value in values.items()), reverse=True)
    if len(newest) >= alarm.periods:
        evaluated = newest[: alarm.periods]
        breaching = sum(breaches(value, alarm.threshold) for _, value in evaluated)
        return Judgement(ALARM if breaching >= alarm.needed else OK, evaluated, 0)
    missing = alarm.periods - len(newest)
    breaching = sum(breaches(value, alarm.threshold) for _, value in newest)
    filled = missing if alarm.missing == BREACHING else 0
    if breaching + filled >= alarm.needed:
        return Judgement(ALARM, newest, missing)
    if alarm.missing in {BREACHING, NOT_BREACHING}:
        return Judgement(OK, newest, missing)
    return Judgement(_with_gaps(alarm, within, newest, breaching), newest, missing)


def _with_gaps(alarm: Alarm, within: Range, newest: Sequence[tuple[int, float]], breaching: int) -> str:
    """Return the state where too little data breaches, and nothing stands for the missing data."""
    if breaching < len(newest):
        return OK
    if alarm.missing == IGNORE:
        return alarm.state
    if not newest:
        return INSUFFICIENT_DATA
    # All that is there breaches. It raises the alarm once it is as old as the data that would be needed.
    period_ms = alarm.period_secs * 1000
    oldest_age = (within.end_ms - newest[-1][0]) // period_ms
    return ALARM if oldest_age >= alarm.needed else alarm.state


def _statistic(given: Mapping[str, Any]) -> str:
    return str(given.get("Statistic") or given.get("ExtendedStatistic"))


def _periods(given: Mapping[str, Any]) -> list[int]:
    """Return the different periods of a definition, in seconds."""
    if not given.get("Metrics"):
        return [int(given["Period"])]
    return sorted({int(query["MetricStat"]["Period"]) for query in given["Metrics"] if query.get("MetricStat")})


def _check_threshold(given: Mapping[str, Any]) -> None:
    for name in ("ComparisonOperator", "EvaluationPeriods", "Threshold"):
        if given.get(name) is None:
            raise ServiceError("MissingParameter", f"The parameter {name} is required.")
    if given["ComparisonOperator"] not in COMPARISONS:
        raise _wrong(
            f"ComparisonOperator {given['ComparisonOperator']} is not available here; use one of"
            f" {', '.join(COMPARISONS)}."
        )
    periods, needed = given["EvaluationPeriods"], given.get("DatapointsToAlarm")
    if periods < 1 or (needed is not None and not 1 <= needed <= periods):
        raise _wrong(
            f"EvaluationPeriods is {periods} and DatapointsToAlarm {needed}; use a number from 1 on, and at most as"
            " many datapoints as periods."
        )
    if (missing := given.get("TreatMissingData")) not in {None, MISSING, IGNORE, BREACHING, NOT_BREACHING}:
        raise _wrong(f"TreatMissingData is {missing!r}; use {MISSING}, {IGNORE}, {BREACHING} or {NOT_BREACHING}.")


def _check_metric(given: Mapping[str, Any]) -> None:
    if given.get("Metrics"):
        both = [name for name in _OF_A_METRIC if given.get(name) is not None]
        if both:
            raise ServiceError("InvalidParameterCombination", f"{both[0]} and Metrics cannot be combined; omit one.")
        _check_queries(given["Metrics"])
        return
    for name in ("MetricName", "Namespace", "Period"):
        if given.get(name) is None:
            raise ServiceError("MissingParameter", f"The parameter {name} is required if there is no Metrics.")
    if (given.get("Statistic") is None) == (given.get("ExtendedStatistic") is None):
        raise ServiceError("InvalidParameterCombination", "Give either Statistic or ExtendedStatistic.")
    check_statistic(_statistic(given))
    metric_of(given["Namespace"], given)
    if given.get("Statistic") is not None and given["Statistic"] not in STATISTICS:
        raise _wrong(f"Statistic is {given['Statistic']!r}; give a percentile in ExtendedStatistic.")


def _check_queries(queries: Sequence[Mapping[str, Any]]) -> None:
    if len(queries) > _MOST_METRICS:
        raise _wrong(f"Metrics has {len(queries)} members; {_MOST_METRICS} are allowed.")
    if sum(bool(query.get("ReturnData", True)) for query in queries) != 1:
        raise _wrong("Exactly one member of Metrics must have ReturnData true; set it to false for the others.")
    if not any(query.get("MetricStat") for query in queries):
        raise _wrong("Metrics has no MetricStat; an alarm needs at least one metric.")


def _check_range(given: Mapping[str, Any]) -> None:
    periods = _periods(given)
    if len(periods) > 1:
        raise _wrong(f"The metrics of the alarm have the periods {periods}; give all of them the same one.")
    period_secs, number = periods[0], given["EvaluationPeriods"]
    check_period(period_secs)
    if period_secs < MINUTE_MS // 1000:
        raise _wrong(f"The period is {period_secs} seconds; data is kept by the minute, so use 60 or more.")
    most_secs = _DAY_SECS if period_secs < _HOUR_SECS else _WEEK_SECS
    if period_secs * number > most_secs:
        raise _wrong(
            f"{number} periods of {period_secs} seconds are more than {most_secs} seconds, which is the longest time"
            " that an alarm of this period may look back."
        )


def _check_actions(given: Mapping[str, Any]) -> None:
    for member in ACTIONS.values():
        actions = given.get(member) or ()
        if len(actions) > _MOST_ACTIONS:
            raise _wrong(f"{member} has {len(actions)} members; {_MOST_ACTIONS} are allowed.")
        if (other := next((action for action in actions if not is_place(action)), None)) is not None:
            raise _wrong(
                f"The action {other!r} is not available here; use the ARN of an SNS topic, or a URL that begins with"
                " http:// or https://."
            )


def alarm_of_arn(arn: str) -> str | None:
    """Return the name of the alarm that an ARN is of; None if it is of something else."""
    matched = _ARN.fullmatch(arn)
    return None if matched is None else matched["name"]


def _wrong(message: str) -> ServiceError:
    return ServiceError("InvalidParameterValue", message)
