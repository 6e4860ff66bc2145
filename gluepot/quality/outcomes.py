"""What an evaluation found: the outcome of each rule, and figures without a rule."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from gluepot.quality.distributions import ValueCounts
from gluepot.quality.dqdl.ruleset import Labels, Rule

PASSED = "Passed"
FAILED = "Failed"


@dataclass(frozen=True, slots=True)
class RuleOutcome:
    """The outcome of a rule (docs/glue 12.5).

    Args:
        rule: its text.
        passed: whether it holds.
        reason: why not; empty if it holds.
        metrics: what was measured, by Glue's names.
        evaluated: the rule's text with numbers in place of earlier values.
        labels: of the rule.
    """

    rule: str
    passed: bool
    reason: str = ""
    metrics: Mapping[str, float] = field(default_factory=dict)
    evaluated: str = ""
    labels: Labels = ()

    @property
    def outcome(self) -> str:
        """The outcome in Glue's words."""
        return PASSED if self.passed else FAILED


@dataclass(frozen=True, slots=True)
class AnalyzerOutcome:
    """What one analyzer measured.

    Args:
        analyzer: its text.
        metrics: what it measured, by Glue's names; empty if it could measure nothing.
        reason: why it measured nothing.
    """

    analyzer: str
    metrics: Mapping[str, float] = field(default_factory=dict)
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Evaluation:
    """What one evaluation of a ruleset found.

    Args:
        outcomes: one for each rule, in order.
        analyzers: one for each analyzer, in order.
        rows: number of rows, if it was measured.
        history: metrics by their names in the history, which distinguish metrics of different rows.
        distributions: of columns, by Glue's names.
        origins: by a metric's name in the history the rule or analyzer that has measured it, if it can be observed.
    """

    outcomes: Sequence[RuleOutcome]
    analyzers: Sequence[AnalyzerOutcome] = ()
    rows: int | None = None
    history: Mapping[str, float] = field(default_factory=dict)
    distributions: Mapping[str, ValueCounts] = field(default_factory=dict)
    origins: Mapping[str, Rule] = field(default_factory=dict)

    @property
    def analyzed(self) -> Mapping[str, float]:
        """What all analyzers measured, by Glue's names."""
        return merged_metrics(self.analyzers)

    @property
    def score(self) -> float:
        """The share of rules that hold; 1.0 without rules."""
        return sum(one.passed for one in self.outcomes) / len(self.outcomes) if self.outcomes else 1.0


def merged_metrics(analyzers: Sequence[AnalyzerOutcome]) -> Mapping[str, float]:
    """Return what several analyzers measured."""
    return {name: value for one in analyzers for name, value in one.metrics.items()}
