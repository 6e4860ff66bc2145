"""The result of one evaluation, as it is reported and kept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from gluepot.quality.distributions import ValueCounts
from gluepot.quality.observations import Observation
from gluepot.quality.outcomes import RuleOutcome


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
class Result:
    """One evaluation.

    Args:
        source: of what.
        evaluation: identifies it. Saving another result under the same text, as the replay of a batch does, replaces
            it.
        run_id: of the job's run.
        started_ms: milliseconds since 1970.
        completed_ms: milliseconds since 1970.
        outcomes: one for each rule.
        analyzed: what analyzers measured.
        metrics: what later evaluations may compare with, by their names in the history.
        distributions: of columns, by Glue's names.
        observations: what was not as earlier evaluations let us expect.
    """

    source: Source
    evaluation: str
    run_id: str
    started_ms: int
    completed_ms: int
    outcomes: Sequence[RuleOutcome]
    analyzed: Mapping[str, float] = field(default_factory=dict)
    metrics: Mapping[str, float] = field(default_factory=dict)
    distributions: Mapping[str, ValueCounts] = field(default_factory=dict)
    observations: Sequence[Observation] = ()

    @property
    def score(self) -> float:
        """The share of rules that hold; 1.0 without rules."""
        return sum(one.passed for one in self.outcomes) / len(self.outcomes) if self.outcomes else 1.0
