"""What a run's ops server is told of."""

from __future__ import annotations

import pytest

from gluepot.core.job_parameters import JobParameters
from gluepot.ops.start import OpsSettings, registered
from gluepot.quality.outcomes import RuleOutcome
from gluepot.quality.results import Checked, Result, Source
from gluepot.streaming.query.session import StreamSession

RESULT = Result(Source("shop", "node 1"), "q/0/node 1/1", "jr_7", 0, 5, [RuleOutcome("RowCount > 1", False)])


@pytest.fixture
def parameters():
    return JobParameters.parse(["job.py", "--JOB_NAME", "shop"])


def test_checks_reach_the_metrics(parameters):
    streams = StreamSession(job="shop")
    registry = registered(OpsSettings(), parameters, streams)
    streams.checked(Checked(RESULT, in_cloudwatch=True))
    labels = {"job": "shop", "context": "node 1"}
    assert registry.get_sample_value("gluepot_quality_rules_failed_total", labels) == 1


def test_checks_reach_glues_names_where_these_are_wanted(parameters):
    streams = StreamSession(job="shop")
    registered(OpsSettings(cloudwatch_names=True), parameters, streams)
    watchers = [getattr(watch, "__qualname__", "") for watch in streams.check_watchers]
    assert watchers == ["StreamMetrics.checked", "GlueNames.checked"]


def test_a_watcher_that_fails_is_counted_and_costs_the_job_nothing(parameters):
    streams = StreamSession(job="shop")
    registry = registered(OpsSettings(), parameters, streams)

    def broken(checked: Checked) -> None:
        raise RuntimeError("broken")

    streams.check_watchers.insert(0, broken)
    streams.checked(Checked(RESULT))
    failures = {"job": "shop", "query": "", "task": "test_ops_start"}
    assert registry.get_sample_value("gluepot_side_task_failures_total", failures) == 1
    assert registry.get_sample_value("gluepot_quality_score", {"job": "shop", "context": "node 1"}) == 0
