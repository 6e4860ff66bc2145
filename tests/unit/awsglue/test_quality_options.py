"""What the publishing options of `EvaluateDataQuality` decide."""

from __future__ import annotations

import pytest

from awsgluedq.options import DEFAULT_CONTEXT, publication
from gluepot.quality.results import Source


@pytest.mark.parametrize(
    ("given", "in_cloudwatch"),
    [({}, False), (True, True), (False, False), ("true", True), ("True", True), ("false", False)],
)
def test_glues_metrics_are_published_only_where_the_script_asks_for_them(given, in_cloudwatch):
    options = {} if given == {} else {"enableDataQualityCloudWatchMetrics": given}
    assert publication(options, "shop", {}).in_cloudwatch == in_cloudwatch


@pytest.mark.parametrize(("given", "kept"), [({}, True), (True, True), (False, False), ("false", False)])
def test_results_are_kept_unless_the_script_forbids_it(given, kept):
    options = {} if given == {} else {"enableDataQualityResultsPublishing": given}
    assert (publication(options, "shop", {}).history is not None) == kept


def test_a_check_without_a_context_has_glues_default():
    assert publication({}, "shop", {}).source == Source("shop", DEFAULT_CONTEXT)
    assert publication({"dataQualityEvaluationContext": "node 1"}, "shop", {}).source == Source("shop", "node 1")
