from __future__ import annotations

import pytest
from prometheus_client import CollectorRegistry
from prometheus_client.openmetrics.exposition import generate_latest
from prometheus_client.openmetrics.parser import text_string_to_metric_families

from gluepot.core.clock import FakeClock
from gluepot.ops.cloudwatch import GLUE_METRICS, QUALITY_METRICS, GlueNames
from gluepot.quality.outcomes import RuleOutcome
from gluepot.quality.results import Checked, Result, Source
from gluepot.streaming.observe.metric_names import ADVICE, AT_SCRAPE, CHECK_COUNTERS, COUNTERS, GAUGES, LAG
from gluepot.streaming.progress import BatchStats

BATCH = BatchStats(
    "clicks", 1, 10.0, 0.0, 2.5, rows_in=100, rows_out=90, bytes_in=5_000, files=2, lag_secs={"c-0": 1.5, "c-1": 0.5}
)


@pytest.fixture
def clock():
    return FakeClock(3_000.0)


@pytest.fixture
def names(clock):
    return GlueNames("shop", "jr_7", clock.epoch)


@pytest.fixture
def value(names):
    registry = CollectorRegistry()
    registry.register(names)

    def value(name: str, kind: str, run: str = "ALL") -> float | None:
        return registry.get_sample_value(name, {"job": "glue", "job_name": "shop", "job_run_id": run, "type": kind})

    value.registry = registry
    return value


def test_gauges_are_those_of_the_last_batch_in_glues_units(names, value):
    names.update(BATCH)
    assert value("glue_glue_driver_streaming_batch_processing_time_in_ms_average", "gauge") == 2_500
    assert value("glue_glue_driver_streaming_num_records_maximum", "gauge") == 100
    assert value("glue_glue_driver_streaming_max_consumer_lag_in_ms_average", "gauge", "jr_7") == 1_500


def test_counts_are_what_came_together_in_the_last_half_minute_reported(names, value, clock):
    names.update(BATCH)
    names.update(BATCH)
    assert value("glue_glue_driver_aggregate_records_read_sum", "count") is None
    clock.sleep(30.0)
    names.update(BATCH)
    assert value("glue_glue_driver_aggregate_records_read_sum", "count") == 200
    clock.sleep(30.0)
    assert value("glue_glue_driver_aggregate_records_read_sum", "count") == 100
    clock.sleep(30.0)
    assert value("glue_glue_driver_aggregate_records_read_sum", "count") is None


def check(number: int, *passed: bool, context: str = "node 1", in_cloudwatch: bool = True) -> Checked:
    outcomes = [RuleOutcome("RowCount > 1", one) for one in passed]
    result = Result(Source("shop", context), f"query/{number}/{context}/1", "jr_7", 0, 5, outcomes)
    return Checked(result, in_cloudwatch=in_cloudwatch)


def quality(value, outcome: str, context: str = "node 1") -> float | None:
    name = f"glue_data_quality_glue_data_quality_rules_{outcome}_sum"
    labels = {"job": "glue_data_quality", "job_name": "shop", "evaluation_context": context}
    return value.registry.get_sample_value(name, labels)


def test_rules_are_summed_by_context_in_the_last_report(names, value, clock):
    names.checked(check(1, True, True, False))
    names.checked(check(2, True, False, False))
    names.checked(check(1, True, context="node 2"))
    assert quality(value, "passed") is None
    clock.sleep(30.0)
    assert (quality(value, "passed"), quality(value, "failed")) == (3, 3)
    assert (quality(value, "passed", "node 2"), quality(value, "failed", "node 2")) == (1, 0)
    clock.sleep(30.0)
    assert quality(value, "passed") is None


def test_a_check_that_is_not_meant_for_cloudwatch_or_is_repeated_does_not_count(names, value, clock):
    names.checked(check(1, True, False))
    names.checked(check(1, True, False))
    names.checked(check(2, False, in_cloudwatch=False))
    clock.sleep(30.0)
    assert (quality(value, "passed"), quality(value, "failed")) == (1, 1)


def test_further_contexts_than_a_label_may_have_are_left_out(names, value, clock):
    for number in range(60):
        names.checked(check(1, True, context=f"node {number}"))
    clock.sleep(30.0)
    assert [quality(value, "passed", f"node {number}") for number in (49, 50)] == [1, None]


def test_a_lag_that_is_not_known_is_not_shown(names, value):
    names.update(BatchStats("clicks", 1, 10.0, 0.0, 2.5))
    assert value("glue_glue_driver_streaming_max_consumer_lag_in_ms_average", "gauge") is None


def test_the_names_are_valid_openmetrics(names, value):
    names.update(BATCH)
    names.checked(check(1, True))
    assert list(text_string_to_metric_families(generate_latest(value.registry).decode()))


def test_glues_names_in_the_catalogue_are_shown_unless_they_are_of_the_cluster():
    known = {
        one.glue.split(" ")[0] for one in (*CHECK_COUNTERS, *GAUGES, *LAG, *ADVICE, *AT_SCRAPE, *COUNTERS) if one.glue
    }
    of_cluster = {name for name in known if "ExecutorAllocationManager" in name or ".jvm." in name}
    assert known - of_cluster <= {metric.name for metric in GLUE_METRICS} | QUALITY_METRICS.keys()
