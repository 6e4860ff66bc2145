"""The options of `EvaluateDataQuality` (docs/glue 12.5)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from gluepot.bookmarks import jobrun
from gluepot.bookmarks.ledger.connect import ledger_url
from gluepot.core.errors import ConfigError
from gluepot.evaluation.check import Publication
from gluepot.evaluation.examiner import Options
from gluepot.evaluation.history.store import shared_history
from gluepot.quality.results import Checked, Source

DEFAULT_CONTEXT = "default_context"
_METHODS = ("COLUMN", "ROW")


def evaluation_options(given: Mapping[str, Any]) -> Options:
    """Return how a ruleset is evaluated; keys that are not known are ignored, as Glue does.

    Raises:
        ConfigError: the method of composites is none that there is.
    """
    method = str(given.get("compositeRuleEvaluation.method", "COLUMN")).upper()
    if method not in _METHODS:
        raise ConfigError(f"compositeRuleEvaluation.method is {method}; use one of {', '.join(_METHODS)}.")
    return Options(
        by_row=method == "ROW",
        filtered_as_skipped=str(given.get("rowLevelConfiguration.filteredRowLabel", "")).upper() == "SKIPPED",
        with_summary=str(given.get("publishAggregatedMetrics.status", "")).upper() == "ENABLED",
        with_labels=str(given.get("rowLevelConfiguration.ruleWithLabels", "")).upper() == "ENABLED",
    )


def publication(
    given: Mapping[str, Any], job: str, environ: Mapping[str, str], on_checked: Callable[[Checked], None] | None = None
) -> Publication:
    """Return what becomes of a result.

    Args:
        given: `publishing_options`.
        job: name of the job, if no `Job.init` gave another one.
        environ: says where results are kept.
        on_checked: called with each result.
    """
    run = jobrun.current()
    source = Source(run.name if run else job, str(given.get("dataQualityEvaluationContext") or DEFAULT_CONTEXT))
    publishes = str(given.get("enableDataQualityResultsPublishing", True)).lower() != "false"
    in_cloudwatch = str(given.get("enableDataQualityCloudWatchMetrics", False)).lower() == "true"
    return Publication(
        source,
        run.run_id if run else "",
        str(given.get("resultsS3Prefix") or ""),
        partial(shared_history, ledger_url(environ)) if publishes else None,
        on_checked,
        in_cloudwatch,
    )
