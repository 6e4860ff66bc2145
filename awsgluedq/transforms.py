"""`awsgluedq.transforms`, as job scripts import it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import partial
from typing import Any

from pyspark.sql.types import DoubleType, LongType, MapType, StringType, StructField, StructType

from awsglue.dynamicframe import DynamicFrame, DynamicFrameCollection
from awsglue.transforms import GlueTransform
from awsglue.writing import current_writer
from awsgluedq.options import evaluation_options, publication
from awsgluedq.subject import subject_of
from gluepot.engine.pipeline import FrameInput, Pipeline
from gluepot.evaluation.check import Check, plain_outcome
from gluepot.quality.dqdl.parser import parse
from gluepot.streaming.query import session

__all__ = ["EvaluateDataQuality"]

_OUTCOMES = StructType(
    [
        StructField("Rule", StringType()),
        StructField("Outcome", StringType()),
        StructField("FailureReason", StringType()),
        StructField("EvaluatedMetrics", MapType(StringType(), DoubleType())),
        StructField("EvaluatedRule", StringType()),
    ]
)
_COUNTS = ("PassedCount", "FailedCount", "SkippedCount", "TotalCount")


class EvaluateDataQuality(GlueTransform):
    """Evaluates a DQDL ruleset over a frame (docs/glue 12.5).

    The rows are measured in the pass of the first write of the same frame, if there is one. If the script asks for
    outcomes before, they are measured at that moment, and otherwise at the end of the batch function or in
    `job.commit()`.
    """

    DATA_QUALITY_RULE_OUTCOMES_KEY = "ruleOutcomes"
    DATA_QUALITY_ROW_LEVEL_OUTCOMES_KEY = "rowLevelOutcomes"
    ORIGINAL_DATA_KEY = "originalData"
    AGGREGATED_METRICS_KEY = "aggregatedMetrics"

    def __call__(
        self,
        frame: DynamicFrame,
        ruleset: str,
        publishing_options: Mapping[str, Any] = {},
        additional_options: Mapping[str, Any] = {},
        additional_data_sources: Mapping[str, DynamicFrame] = {},
        transformation_ctx: str = "",
    ) -> DynamicFrame:
        """Return one row for each rule: Rule, Outcome, FailureReason, EvaluatedMetrics, EvaluatedRule.

        Args:
            frame: what is checked.
            ruleset: DQDL.
            publishing_options: see docs/glue 12.5.
            additional_options: see docs/glue 12.5; keys that are not known are ignored.
            additional_data_sources: other frames by the alias that rules use.
            transformation_ctx: not used.

        Raises:
            DqdlError: the ruleset is not valid.
            InvalidWhereError: Spark does not understand a `where` of it.
        """
        check = _check(frame, ruleset, publishing_options, additional_options, additional_data_sources)
        return _rule_outcomes(frame, check)

    @classmethod
    def process_rows(
        cls,
        frame: DynamicFrame,
        ruleset: str,
        publishing_options: Mapping[str, Any] = {},
        additional_options: Mapping[str, Any] = {},
        additional_data_sources: Mapping[str, DynamicFrame] = {},
        transformation_ctx: str = "",
    ) -> DynamicFrameCollection:
        """Return a collection of `originalData`, `ruleOutcomes` and `rowLevelOutcomes`.

        The last one has the rows of the frame with the columns DataQualityRulesPass, DataQualityRulesFail,
        DataQualityRulesSkip and DataQualityEvaluationResult. With `publishAggregatedMetrics.status` there is also
        `aggregatedMetrics`, one row with numbers of rows and rules. Arguments and errors are those of a call.
        """
        check = _check(frame, ruleset, publishing_options, additional_options, additional_data_sources)
        by_row = DynamicFrame(check.row_outcomes, frame.glue_ctx, cls.DATA_QUALITY_ROW_LEVEL_OUTCOMES_KEY)
        frames = {
            cls.ORIGINAL_DATA_KEY: frame,
            cls.DATA_QUALITY_RULE_OUTCOMES_KEY: _rule_outcomes(frame, check),
            cls.DATA_QUALITY_ROW_LEVEL_OUTCOMES_KEY: by_row,
        }
        if check.options.with_summary:
            key = cls.AGGREGATED_METRICS_KEY
            frames[key] = DynamicFrame(partial(_aggregated_metrics, frame, check), frame.glue_ctx, key)
        return DynamicFrameCollection(frames, frame.glue_ctx)


def _check(
    frame: DynamicFrame,
    ruleset: str,
    publishing: Mapping[str, Any],
    additional: Mapping[str, Any],
    sources: Mapping[str, DynamicFrame],
) -> Check:
    rules = parse(ruleset)
    current = session.current()
    return Check(
        subject_of(frame, sources),
        rules,
        evaluation_options(additional),
        publication(publishing, current.job, dict(os.environ), current.checked),
        current_writer(),
        current.clock,
    )


def _rule_outcomes(frame: DynamicFrame, check: Check) -> DynamicFrame:
    return DynamicFrame(
        partial(_outcome_rows, frame, check), frame.glue_ctx, EvaluateDataQuality.DATA_QUALITY_RULE_OUTCOMES_KEY
    )


def _outcome_rows(frame: DynamicFrame, check: Check) -> Pipeline:
    rows = [tuple(plain_outcome(one).values()) for one in check.evaluation().outcomes]
    if not check.options.with_summary:
        return _rows(frame, rows, _OUTCOMES)
    summary = check.summary()
    counted = []
    for row in rows:
        passed, failed = summary.passed[row[0]], summary.failed[row[0]]
        counted.append((*row, passed, failed, summary.rows - passed - failed, summary.rows))
    return _rows(frame, counted, StructType([*_OUTCOMES, *(StructField(name, LongType()) for name in _COUNTS)]))


def _aggregated_metrics(frame: DynamicFrame, check: Check) -> Pipeline:
    summary, outcomes = check.summary(), check.evaluation().outcomes
    passed = sum(one.passed for one in outcomes)
    numbers = {
        "TotalRowsProcessed": summary.rows,
        "PassedRows": summary.rows - summary.failed_rows,
        "FailedRows": summary.failed_rows,
        "TotalRulesProcessed": len(outcomes),
        "RulesPassed": passed,
        "RulesFailed": len(outcomes) - passed,
    }
    schema = StructType([StructField(name, LongType()) for name in numbers])
    return _rows(frame, [tuple(numbers.values())], schema)


def _rows(frame: DynamicFrame, rows: list[tuple[Any, ...]], schema: StructType) -> Pipeline:
    return Pipeline(FrameInput(frame.glue_ctx.spark_session.createDataFrame(rows, schema)))
