"""The rule types of DQDL as a table: what each takes and where it may be used (docs/glue 12.3)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from enum import Enum

UNLIMITED = 1_000
MOST_BINS = 20
"""The largest number of bins of a distribution, and the number that it has unless the ruleset says another."""


class Kind(Enum):
    """What a condition compares. The value is for messages."""

    NUMBER = "a number"
    STRING = "a text"
    DATE = "a date"
    DURATION = "a duration"
    SIZE = "a size"


@dataclass(frozen=True, slots=True)
class RuleType:
    """What a rule type takes.

    Args:
        name: as in rulesets; case counts.
        kinds: kinds of condition that it takes; empty if it takes none, because its result is true or false.
        least: the least number of parameters.
        most: the largest number of parameters.
        optional: whether the condition may be left out although the type takes one.
        where: whether `where` may follow.
        tags: the words that may follow `with`.
        rows: whether it gives a result for each row.
        ratio: whether it compares a share of the rows, which cannot be a part of a composite that is evaluated by row.
        dynamic: whether its condition may use `last`.
        dynamic_threshold: whether its threshold may.
        is_rule: false for a type that is only an analyzer.
        is_analyzer: whether it may be listed under `Analyzers`.
    """

    name: str
    kinds: tuple[Kind, ...] = ()
    least: int = 0
    most: int = 0
    optional: bool = False
    where: bool = False
    tags: tuple[str, ...] = ()
    rows: bool = False
    ratio: bool = False
    dynamic: bool = False
    dynamic_threshold: bool = False
    is_rule: bool = True
    is_analyzer: bool = False


_NUMBER = (Kind.NUMBER,)
_FILES = ("recentFiles", "uriRegex", "filterOrder")

_ALL = (
    RuleType("RowCount", _NUMBER, where=True, dynamic=True, is_analyzer=True),
    RuleType("ColumnCount", _NUMBER, dynamic=True, is_analyzer=True),
    RuleType("RowCountMatch", _NUMBER, 1, 1, dynamic=True),
    RuleType("SchemaMatch", _NUMBER, 1, 1, dynamic=True),
    RuleType("DatasetMatch", _NUMBER, 2, 3, rows=True, ratio=True, dynamic=True),
    RuleType("ReferentialIntegrity", _NUMBER, 2, 2, rows=True, ratio=True, dynamic=True),
    RuleType("AggregateMatch", _NUMBER, 2, 2),
    RuleType("Completeness", _NUMBER, 1, 1, where=True, rows=True, ratio=True, dynamic=True, is_analyzer=True),
    RuleType("IsComplete", (), 1, 1, where=True, rows=True),
    RuleType("Uniqueness", _NUMBER, 1, UNLIMITED, where=True, rows=True, ratio=True, dynamic=True, is_analyzer=True),
    RuleType("IsUnique", (), 1, UNLIMITED, where=True, rows=True),
    RuleType("IsPrimaryKey", (), 1, UNLIMITED, where=True, rows=True),
    RuleType("UniqueValueRatio", _NUMBER, 1, 1, where=True, rows=True, ratio=True, dynamic=True, is_analyzer=True),
    RuleType("DistinctValuesCount", _NUMBER, 1, 1, where=True, dynamic=True, is_analyzer=True),
    RuleType("Entropy", _NUMBER, 1, 1, where=True, dynamic=True, is_analyzer=True),
    RuleType("Mean", _NUMBER, 1, 1, where=True, dynamic=True, is_analyzer=True),
    RuleType("Sum", _NUMBER, 1, 1, where=True, dynamic=True, is_analyzer=True),
    RuleType("StandardDeviation", _NUMBER, 1, 1, where=True, dynamic=True, is_analyzer=True),
    RuleType("Variance", _NUMBER, 1, 1, where=True, dynamic=True),
    RuleType("ColumnCorrelation", _NUMBER, 2, 2, where=True, dynamic=True, is_analyzer=True),
    RuleType("ColumnExists", (), 1, 1),
    RuleType("ColumnNamesMatchPattern", (), 1, 1),
    RuleType("ColumnDataType", (Kind.STRING,), 1, 1, where=True, tags=("threshold", "format"), dynamic_threshold=True),
    RuleType("ColumnLength", _NUMBER, 1, 1, where=True, rows=True, is_analyzer=True),
    RuleType(
        "ColumnValues",
        (Kind.NUMBER, Kind.STRING, Kind.DATE),
        1,
        1,
        where=True,
        tags=("threshold", "timeZone"),
        rows=True,
        is_analyzer=True,
    ),
    RuleType("DataFreshness", (Kind.DURATION,), 1, 1, where=True, rows=True),
    RuleType(
        "CustomSql",
        _NUMBER,
        1,
        1,
        optional=True,
        tags=("threshold",),
        rows=True,
        dynamic=True,
        dynamic_threshold=True,
        is_analyzer=True,
    ),
    RuleType("DetectAnomalies", (), 1, UNLIMITED),
    RuleType("FileFreshness", (Kind.DATE,), 0, 1, tags=("threshold", "failFast", "timeZone", *_FILES)),
    RuleType("FileSize", (Kind.SIZE,), 0, 1, tags=("threshold", "failFast", *_FILES)),
    RuleType("FileUniqueness", _NUMBER, 0, 1, tags=("matchFileName", *_FILES)),
    RuleType("FileMatch", (Kind.STRING,), 0, 2, optional=True, tags=("hashAlgorithm", "matchFileName", *_FILES)),
    RuleType("AllStatistics", (), 1, 1, is_rule=False, is_analyzer=True),
    RuleType("Distribution", (), 1, 1, tags=("bins", "rebin"), is_rule=False, is_analyzer=True),
)

TYPES: Mapping[str, RuleType] = {one.name: one for one in _ALL}
OTHER_SPELLINGS: Mapping[str, str] = {"CustomSQL": "CustomSql"}
"""The guide uses this spelling as well (docs/glue 12.3)."""

ANOMALY_TYPES = frozenset(
    {
        *(
            "RowCount",
            "ColumnCount",
            "Completeness",
            "Uniqueness",
            "UniqueValueRatio",
            "DistinctValuesCount",
            "Entropy",
        ),
        *("Mean", "Sum", "StandardDeviation", "ColumnCorrelation", "ColumnLength", "ColumnValues", "CustomSql"),
    }
)
"""The rule types that `DetectAnomalies` may name."""
OBSERVED_TYPES = ANOMALY_TYPES | {"AllStatistics"}
"""The rule types and analyzers whose metrics are observed."""


def nearest(name: str) -> str:
    """Return the rule type whose name is most like `name`; an empty text if none is."""
    of_any_case = next((one for one in TYPES if one.lower() == name.lower()), None)
    return of_any_case or next(iter(get_close_matches(name, TYPES, 1, 0.6)), "")
