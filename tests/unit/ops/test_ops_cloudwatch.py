from __future__ import annotations

import pytest
from prometheus_client import CollectorRegistry
from prometheus_client.openmetrics.exposition import generate_latest
from prometheus_client.openmetrics.parser import text_string_to_metric_families

from gluepot.core.clock import FakeClock
from gluepot.ops.cloudwatch import GLUE_METRICS, GlueNames
from gluepot.streaming.observe.metric_names import ADVICE, AT_SCRAPE, COUNTERS, GAUGES, LAG
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


def test_a_lag_that_is_not_known_is_not_shown(names, value):
    names.update(BatchStats("clicks", 1, 10.0, 0.0, 2.5))
    assert value("glue_glue_driver_streaming_max_consumer_lag_in_ms_average", "gauge") is None


def test_the_names_are_valid_openmetrics(names, value):
    names.update(BATCH)
    assert list(text_string_to_metric_families(generate_latest(value.registry).decode()))


def test_glues_names_in_the_catalogue_are_shown_unless_they_are_of_the_cluster():
    known = {one.glue.split(" ")[0] for one in (*GAUGES, *LAG, *ADVICE, *AT_SCRAPE, *COUNTERS) if one.glue}
    of_cluster = {name for name in known if "ExecutorAllocationManager" in name or ".jvm." in name}
    assert known - of_cluster <= {metric.name for metric in GLUE_METRICS}
