"""Evaluates a ruleset: what to measure, and the outcomes that follow from what was measured. No Spark."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass

import pyarrow as pa

from gluepot.quality.checks import (
    JUDGES,
    UNMET,
    Facts,
    Setting,
    Verdict,
    judge_of,
    measuring,
    name_in_history,
    watched,
)
from gluepot.quality.distributions import ValueCounts
from gluepot.quality.dqdl.rule_types import OBSERVED_TYPES
from gluepot.quality.dqdl.ruleset import (
    Composite,
    Rule,
    Ruleset,
    TopRule,
    simple_rules,
)
from gluepot.quality.measures import Counted, Measure, Rows
from gluepot.quality.numbers import RuleError, is_dynamic
from gluepot.quality.outcomes import AnalyzerOutcome, Evaluation, RuleOutcome
from gluepot.quality.row_tests import RowTests


@dataclass(frozen=True, slots=True)
class RowsFulfilling:
    """Rows that a composite passes, with all its parts judged row by row.

    Args:
        rule: the composite.
        tests: judge rows.
    """

    rule: Composite
    tests: RowTests
    where: str = ""

    def __hash__(self) -> int:
        return hash(self.rule)

    def of(self, batch: pa.RecordBatch) -> Counted:
        """Return rows and how many of them pass; those that a `where` leaves out do."""
        if not batch.num_rows:  # a batch that stands for no rows may lack the columns of flags and masks
            return Counted(0, 0)
        passed = self.tests.passed(self.rule, batch)
        return Counted(batch.num_rows, passed.true_count + passed.null_count)

    def merged(self, one: Counted, other: Counted) -> Counted:
        """See `Measure`."""
        return Counted(one.rows + other.rows, one.found + other.found)


@dataclass(frozen=True, slots=True)
class Examination:
    """A ruleset and what it is judged in.

    Args:
        ruleset: the rules.
        setting: the time, masks and earlier values.
        tests: judge rows, for composites.
        by_row: whether composites are judged row by row, Glue's `compositeRuleEvaluation.method` ROW.
    """

    ruleset: Ruleset
    setting: Setting
    tests: RowTests
    by_row: bool = False

    def measures(self) -> tuple[Measure, ...]:
        """Return what has to be measured, each once. The number of rows is always among it."""
        found: dict[Measure, None] = {Rows(): None}
        for rule in self.simple_rules():
            with suppress(RuleError):  # judging it fails for the same reason
                found |= dict.fromkeys(judge_of(rule).needs(rule, self.setting))
        for one in self.ruleset.rules:
            if self.by_row and isinstance(one, Composite) and not _refusal(one, self.tests):
                found[RowsFulfilling(one, self.tests)] = None
        return tuple(found)

    def judged(self, facts: Facts) -> Evaluation:
        """Return the outcomes."""
        outcomes = [self._outcome(rule, facts) for rule in self.ruleset.rules]
        history: dict[str, float] = {}
        distributions: dict[str, ValueCounts] = {}
        origins: dict[str, Rule] = {}
        for one in self.simple_rules():
            with suppress(RuleError):
                verdict = judge_of(one).verdict(one, self.setting, facts)
                distributions |= verdict.distributions
                kept = {name_in_history(name, one): value for name, value in verdict.metrics.items()}
                history |= kept
                if one.type_name in OBSERVED_TYPES:
                    origins |= dict.fromkeys(kept, one)
        rows = facts.state(Rows())
        assert isinstance(rows, int)
        analyzers = [self._analyzed(one, facts) for one in self.ruleset.analyzers]
        return Evaluation(outcomes, analyzers, rows, history, distributions, origins)

    def simple_rules(self) -> Iterator[Rule]:
        """Yield the rules that have to be judged: parts of composites, and what analyzers and DetectAnomalies watch."""
        for rule in self.ruleset.rules:
            for one in simple_rules(rule):
                yield one
                if one.type_name == "DetectAnomalies":
                    yield watched(one)
        for one in self.ruleset.analyzers:
            yield measuring(one)

    def _outcome(self, rule: TopRule, facts: Facts) -> RuleOutcome:
        verdict, evaluated = self._verdict(rule, facts)
        return RuleOutcome(str(rule), verdict.passed, verdict.reason, verdict.metrics, evaluated, rule.labels)

    def _analyzed(self, analyzer: Rule, facts: Facts) -> AnalyzerOutcome:
        rule = measuring(analyzer)
        try:
            return AnalyzerOutcome(str(analyzer), judge_of(rule).verdict(rule, self.setting, facts).metrics)
        except RuleError as error:
            return AnalyzerOutcome(str(analyzer), reason=str(error))

    def _verdict(self, rule: TopRule, facts: Facts) -> tuple[Verdict, str]:
        try:
            if isinstance(rule, Composite):
                return self._by_row(rule, facts) if self.by_row else self._combined(rule, facts)
            verdict = judge_of(rule).verdict(rule, self.setting, facts)
        except RuleError as error:
            return Verdict(False, str(error)), str(rule)
        if verdict.test is not None and rule.condition is not None and is_dynamic(rule.condition.operands):
            return verdict, rule.text(condition=str(verdict.test))
        threshold = rule.tag("threshold")
        if verdict.test is not None and threshold is not None and is_dynamic(threshold.operands):
            return verdict, rule.text(threshold=str(verdict.test))
        return verdict, str(rule)

    def _combined(self, rule: Composite, facts: Facts) -> tuple[Verdict, str]:
        parts = [self._verdict(part, facts) for part in rule.parts]
        verdicts = [verdict for verdict, _ in parts]
        passed = (all if rule.word == "and" else any)(one.passed for one in verdicts)
        metrics = {name: value for one in verdicts for name, value in one.metrics.items()}
        reasons = dict.fromkeys(one.reason for one in verdicts if one.reason)
        evaluated = f" {rule.word} ".join(f"({text})" for _, text in parts)
        return Verdict(passed, "" if passed else ", ".join(reasons), metrics), evaluated

    def _by_row(self, rule: Composite, facts: Facts) -> tuple[Verdict, str]:
        if reason := _refusal(rule, self.tests):
            raise RuleError(reason)
        for part in simple_rules(rule):
            if part.type_name in JUDGES:
                facts.type_of(part.parameters[0])
        counted = facts.counted(RowsFulfilling(rule, self.tests))
        if not counted.rows:
            raise RuleError("There are no rows to measure.")
        share = counted.found / counted.rows
        return Verdict(share == 1.0, "" if share == 1.0 else UNMET.format(share)), str(rule)


def _refusal(rule: Composite, tests: RowTests) -> str:
    """Return why a composite cannot be judged row by row; an empty text if it can (docs/glue 12.4)."""
    for part in simple_rules(rule):
        if part.type.ratio or part.tags:
            return (
                f"{part} judges a share of all rows, so it cannot be a part of a rule that is judged row by row;"
                " use compositeRuleEvaluation.method COLUMN."
            )
        if not tests.has(part):
            return f"{part} has no result for each row; use compositeRuleEvaluation.method COLUMN."
    return ""
