"""Adds to each row which rules it passes, fails and skips (docs/glue 12.5)."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from gluepot.frames.chunk import Chunk
from gluepot.quality.dqdl.ruleset import TopRule
from gluepot.quality.measures import OWN
from gluepot.quality.numbers import RuleError
from gluepot.quality.outcomes import FAILED, PASSED
from gluepot.quality.results import RowSummary
from gluepot.quality.row_tests import RowTests

PASS_COLUMN = "DataQualityRulesPass"  # noqa: S105  not a password
FAIL_COLUMN = "DataQualityRulesFail"
SKIP_COLUMN = "DataQualityRulesSkip"
RESULT_COLUMN = "DataQualityEvaluationResult"


@dataclass(frozen=True, slots=True)
class RowOutcomes:
    """Adds the four columns of row outcomes and removes those that the evaluation has added for itself.

    Columns of these names, as an earlier check leaves them, are replaced.

    Args:
        rules: in order.
        tests: judge rows.
        skip_filtered: whether a row that a rule's `where` leaves out skips the rule; otherwise it passes.
        with_labels: whether the texts show the labels.
    """

    rules: tuple[TopRule, ...]
    tests: RowTests
    skip_filtered: bool = False
    with_labels: bool = False

    def __call__(self, chunk: Chunk) -> Chunk:
        """Return the chunk with the columns."""
        batch = chunk.batch
        rows = batch.num_rows
        passed = np.zeros((len(self.rules), rows), dtype=bool)
        failed = np.zeros_like(passed)
        for at, rule in enumerate(self.rules):
            flags = self._flags(rule, batch)
            if flags is None:
                continue
            filtered = pc.is_null(flags).to_numpy(zero_copy_only=False)
            holds = pc.fill_null(flags, pa.scalar(False)).to_numpy(zero_copy_only=False)
            passed[at] = holds if self.skip_filtered else holds | filtered
            failed[at] = ~holds & ~filtered
        texts = [self._text(rule) for rule in self.rules]
        columns = {
            PASS_COLUMN: _listed(texts, passed),
            FAIL_COLUMN: _listed(texts, failed),
            SKIP_COLUMN: _listed(texts, ~(passed | failed)),
            RESULT_COLUMN: pc.if_else(pa.array(failed.any(axis=0)), FAILED, PASSED)
            if rows
            else pa.nulls(0, pa.string()),
        }
        kept = batch.select([name for name in batch.schema.names if not name.startswith(OWN) and name not in columns])
        for name, column in columns.items():
            kept = kept.append_column(name, column)
        return replace(chunk, batch=kept)

    def _flags(self, rule: TopRule, batch: pa.RecordBatch) -> pa.BooleanArray | None:
        if not self.tests.has(rule):
            return None
        try:
            return self.tests.passed(rule, batch)
        except RuleError:
            return None

    def _text(self, rule: TopRule) -> str:
        if not self.with_labels or not rule.labels:
            return str(rule)
        labels = ",".join(f'"{key}"="{value}"' for key, value in rule.labels)
        return f"{rule} labels=[{labels}]"


@dataclass(frozen=True, slots=True)
class SummaryOfRows:
    """Measures rows that have the columns of `RowOutcomes`; see `Measure`."""

    where: str = ""

    def of(self, batch: pa.RecordBatch) -> RowSummary:
        """Return how some rows fared."""
        failed_rows = pc.equal(batch.column(RESULT_COLUMN), FAILED).true_count
        passed, failed = (_counts(batch.column(name)) for name in (PASS_COLUMN, FAIL_COLUMN))
        return RowSummary(batch.num_rows, failed_rows, passed, failed)

    def merged(self, one: RowSummary, other: RowSummary) -> RowSummary:
        """Return how the rows of both fared."""
        return RowSummary(
            one.rows + other.rows,
            one.failed_rows + other.failed_rows,
            one.passed + other.passed,
            one.failed + other.failed,
        )


def _counts(lists: pa.ListArray) -> Counter[str]:
    """Return how often each text is in the lists."""
    return Counter({one["values"]: one["counts"] for one in pc.value_counts(lists.flatten()).to_pylist()})


def _listed(texts: list[str], chosen: npt.NDArray[np.bool_]) -> pa.Array:
    """Return for each row the texts that are chosen for it.

    Args:
        texts: one for each line of `chosen`.
        chosen: a column for each row.
    """
    by_row = np.ascontiguousarray(chosen.T)
    ends = np.concatenate(([0], np.cumsum(by_row.sum(axis=1)))).astype(np.int32)
    values = pa.array(texts, pa.string()).take(pa.array(np.nonzero(by_row)[1]))
    return pa.ListArray.from_arrays(pa.array(ends), values)
