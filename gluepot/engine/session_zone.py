"""The time zone of a session, as Spark sees it at this moment (docs/decisions/0071)."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from gluepot.frames.time_zone import UTC, TimeZone
from gluepot.frames.zone_rules import YearlyRule, time_zone

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SETTING = "spark.sql.session.timeZone"
_UTC_NAMES = frozenset({"UTC", "Etc/UTC", "GMT", "Z"})


def session_zone(spark: SparkSession) -> TimeZone:
    """Return the zone that Spark itself uses for casts and functions in this session, if they are called now."""
    name = spark.conf.get(SETTING)
    assert name is not None  # it has a default
    return UTC if name in _UTC_NAMES else _zone(spark, name)


@lru_cache(maxsize=8)
def _zone(spark: SparkSession, name: str) -> TimeZone:
    jvm: Any = spark.sparkContext._jvm  # noqa: SLF001  Python has no other way to Java's rules
    rules = jvm.org.apache.spark.sql.catalyst.util.DateTimeUtils.getZoneId(name).getRules()
    first = rules.getOffset(jvm.java.time.Instant.MIN).getTotalSeconds()
    transitions = rules.getTransitions().toString()
    zone = time_zone(name, first, transitions, [_rule(rule) for rule in rules.getTransitionRules()])
    return UTC if zone.is_utc else zone


def _rule(rule: Any) -> YearlyRule:
    weekday = rule.getDayOfWeek()
    time = 86_400 if rule.isMidnightEndOfDay() else rule.getLocalTime().toSecondOfDay()
    return YearlyRule(
        month=rule.getMonth().getValue(),
        day=rule.getDayOfMonthIndicator(),
        weekday=0 if weekday is None else weekday.getValue(),
        secs_of_day=time,
        clock=rule.getTimeDefinition().toString(),
        standard=rule.getStandardOffset().getTotalSeconds(),
        before=rule.getOffsetBefore().getTotalSeconds(),
        after=rule.getOffsetAfter().getTotalSeconds(),
    )
