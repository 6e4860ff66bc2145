"""A finished evaluation, with all that the result of AWS Glue's API holds (docs/glue 12.6)."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from gluepot.core.datasets import Dataset
from gluepot.quality.distributions import ValueCounts
from gluepot.quality.observations import Observation
from gluepot.quality.outcomes import AnalyzerOutcome, RuleOutcome, merged_metrics


@dataclass(frozen=True, slots=True)
class Source:
    """Whose metrics are compared with each other.

    Args:
        job: the job's name.
        context: the evaluation context.
    """

    job: str
    context: str


@dataclass(frozen=True, slots=True)
class CatalogTable:
    """A table of the Data Catalog that an evaluation is about, or that a ruleset is meant for.

    Args:
        database: its database.
        name: its name.
        catalog_id: the account of its catalog; empty for our own.
    """

    database: str
    name: str
    catalog_id: str = ""


@dataclass(frozen=True, slots=True)
class RowSummary:
    """How many rows pass and fail rules, Glue's `publishAggregatedMetrics.status`.

    Args:
        rows: number of rows.
        failed_rows: number of rows that fail a rule.
        passed: how many rows pass each rule, by its text.
        failed: how many rows fail each rule, by its text.
    """

    rows: int = 0
    failed_rows: int = 0
    passed: Counter[str] = field(default_factory=Counter)
    failed: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True, slots=True)
class Result:
    """The result of one evaluation.

    Args:
        source: the job and context that it belongs to.
        evaluation: identifies it. Saving another result under the same text, as the replay of a batch does, replaces
            it.
        run_id: id of the job's run; empty outside of jobs.
        started_ms: milliseconds since 1970.
        completed_ms: milliseconds since 1970.
        outcomes: one for each rule.
        analyzers: one for each analyzer.
        metrics: the metrics that later evaluations may compare with, by their names in the history.
        rows: number of rows that were evaluated; None if that is not known.
        summary: how many rows pass and fail; None if the script did not ask for it.
        ruleset: name of the ruleset; empty if it has none, as in jobs.
        ruleset_run_id: id of the evaluation run that the API started; empty in jobs.
        table: the table of the Data Catalog that was evaluated; None in jobs.
        distributions: of columns, by Glue's names.
        observations: what was not as earlier evaluations let us expect.
    """

    source: Source
    evaluation: str
    run_id: str
    started_ms: int
    completed_ms: int
    outcomes: Sequence[RuleOutcome]
    analyzers: Sequence[AnalyzerOutcome] = ()
    metrics: Mapping[str, float] = field(default_factory=dict)
    rows: int | None = None
    summary: RowSummary | None = None
    ruleset: str = ""
    ruleset_run_id: str = ""
    table: CatalogTable | None = None
    distributions: Mapping[str, ValueCounts] = field(default_factory=dict)
    observations: Sequence[Observation] = ()

    @property
    def id(self) -> str:
        """The id by which the API names the result; a replaced result keeps it."""
        return result_id(self.evaluation)

    @property
    def passed(self) -> int:
        """The number of rules that hold."""
        return sum(one.passed for one in self.outcomes)

    @property
    def failed(self) -> int:
        """The number of rules that do not hold."""
        return len(self.outcomes) - self.passed

    @property
    def score(self) -> float:
        """The share of rules that hold; 1.0 without rules."""
        return self.passed / len(self.outcomes) if self.outcomes else 1.0

    @property
    def analyzed(self) -> Mapping[str, float]:
        """What all analyzers measured, by Glue's names."""
        return merged_metrics(self.analyzers)


@dataclass(frozen=True, slots=True)
class Checked:
    """A new result, as those who report it get it.

    Args:
        result: the result.
        origins: the datasets that the checked rows come from, as far as they are known; a stream has no namespace here,
            because only its connector knows its address.
        in_cloudwatch: whether the script asked for Glue's metrics in CloudWatch, by
            `enableDataQualityCloudWatchMetrics`.
    """

    result: Result
    origins: tuple[Dataset, ...] = ()
    in_cloudwatch: bool = False


def result_id(evaluation: str) -> str:
    """Return the API's id of a result."""
    return f"dqresult-{hashlib.sha256(evaluation.encode()).hexdigest()[:40]}"
