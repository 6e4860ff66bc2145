"""Remembers the newest result of data quality for each evaluation context, in a memory of limited size."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field

from gluepot.quality.outcomes import RuleOutcome
from gluepot.quality.results import Checked
from gluepot.streaming.side_tasks import side_task

MOST_CONTEXTS = 24
MOST_RULES = 40
MOST_METRICS = 6
MOST_CHARS = 400


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of one rule as the page shows it; long texts are cut.

    Args:
        rule: text of the rule.
        passed: whether it holds.
        reason: why not; empty if it holds.
        metrics: names and values of what was measured.
    """

    rule: str
    passed: bool
    reason: str
    metrics: Sequence[tuple[str, str]]

    @classmethod
    def of(cls, one: RuleOutcome) -> Outcome:
        """Return what to keep of an outcome."""
        metrics = [(cut(name), f"{value:.6g}") for name, value in list(one.metrics.items())[:MOST_METRICS]]
        return cls(cut(one.rule), one.passed, cut(one.reason), metrics)


@dataclass(frozen=True, slots=True)
class CheckedContext:
    """The newest result of an evaluation context.

    Args:
        context: the evaluation context.
        epoch: when it was evaluated, in seconds since 1970 UTC.
        passed: number of rules that hold.
        failed: number of rules that do not hold.
        rows: number of rows that were evaluated; None if that is not known.
        outcomes: at most `MOST_RULES`, those that failed first.
    """

    context: str
    epoch: float
    passed: int
    failed: int
    rows: int | None
    outcomes: Sequence[Outcome]


@dataclass(slots=True)
class LatestChecks:
    """The newest results of a job's checks. Safe to use from any thread, without waiting for a batch."""

    _lock: threading.Lock = field(default_factory=threading.Lock)
    _contexts: dict[str, CheckedContext] = field(default_factory=dict)

    @side_task("page")
    def update(self, checked: Checked) -> None:
        """Take a result in the place of the earlier one of its context; the oldest contexts give way to new ones."""
        result = checked.result
        failed_first = sorted(result.outcomes, key=lambda one: one.passed)
        newest = CheckedContext(
            cut(result.source.context),
            result.completed_ms / 1000,
            result.passed,
            result.failed,
            result.rows,
            [Outcome.of(one) for one in failed_first[:MOST_RULES]],
        )
        with self._lock:
            self._contexts.pop(result.source.context, None)
            self._contexts[result.source.context] = newest
            while len(self._contexts) > MOST_CONTEXTS:
                del self._contexts[next(iter(self._contexts))]

    def newest_first(self) -> list[CheckedContext]:
        """Return the results; contexts with failed rules come first, then the newest."""
        with self._lock:
            known = list(reversed(self._contexts.values()))
        return sorted(known, key=lambda one: not one.failed)


def cut(text: str) -> str:
    """Return a text, shortened if it is long."""
    return text if len(text) <= MOST_CHARS else f"{text[:MOST_CHARS]}…"
