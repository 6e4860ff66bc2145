"""The options of `EvaluateDataQuality` (docs/glue 12.5)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from gluepot.bookmarks import jobrun
from gluepot.core.errors import ConfigError
from gluepot.evaluation.check import Publication
from gluepot.evaluation.examiner import Options
from gluepot.quality.results import Checked, Source

if TYPE_CHECKING:
    from gluepot.evaluation.history.store import History

DEFAULT_CONTEXT = "default_context"
_METHODS = ("COLUMN", "ROW")
_SCOPES = ("ALL", "NONE")


def evaluation_options(given: Mapping[str, Any]) -> Options:
    """Return how a ruleset is evaluated; keys that are not known are ignored, as Glue does.

    Raises:
        ConfigError: the method of composites or the scope of observations is none that there is.
    """
    method = str(given.get("compositeRuleEvaluation.method", "COLUMN")).upper()
    if method not in _METHODS:
        raise ConfigError(f"compositeRuleEvaluation.method is {method}; use one of {', '.join(_METHODS)}.")
    scope = str(given.get("observations.scope", "NONE")).upper()
    if scope not in _SCOPES:
        raise ConfigError(f"observations.scope is {scope}; use one of {', '.join(_SCOPES)}.")
    return Options(
        by_row=method == "ROW",
        filtered_as_skipped=str(given.get("rowLevelConfiguration.filteredRowLabel", "")).upper() == "SKIPPED",
        with_summary=str(given.get("publishAggregatedMetrics.status", "")).upper() == "ENABLED",
        observes=scope == "ALL",
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
        partial(_history, environ) if publishes else None,
        on_checked,
        in_cloudwatch,
    )


def _history(environ: Mapping[str, str]) -> History:
    # These load SQLAlchemy, which takes longer than all other imports of a script; many checks keep no result.
    from gluepot.bookmarks.ledger.connect import ledger_url  # noqa: PLC0415
    from gluepot.evaluation.history.store import shared_history  # noqa: PLC0415

    return shared_history(ledger_url(environ))
