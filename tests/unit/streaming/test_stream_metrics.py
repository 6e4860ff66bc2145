import urllib.request
from dataclasses import replace

import pytest
from prometheus_client import CollectorRegistry
from prometheus_client.openmetrics.exposition import generate_latest
from prometheus_client.openmetrics.parser import text_string_to_metric_families

from etlcore.errors import ConfigError
from streaming.metrics import COUNTERS, GAUGES, HISTOGRAMS, StreamMetrics
from streaming.metrics_server import serve
from streaming.progress import BatchStats

BATCH = BatchStats(
    query="clicks",
    batch_id=7,
    window_secs=10.0,
    started_epoch=1_000.0,
    duration_secs=4.0,
    previous_started_epoch=980.0,
    phase_secs={"fetch": 0.5, "write": 1.5},
    rows_in=1_000,
    rows_out=990,
    bytes_in=291_000,
    bytes_out=40_000,
    files=3,
    rejected={"malformed_json": 10},
    lag_records={"events-0": 5, "events-1": 0},
    lag_secs={"events-0": 1.5},
)


@pytest.fixture
def registry():
    return CollectorRegistry()


@pytest.fixture
def metrics(registry):
    return StreamMetrics(registry, job="shop")


def sample(registry, name, **labels):
    return registry.get_sample_value(f"gluepot_{name}", {"job": "shop", "query": "clicks", **labels})


@pytest.mark.parametrize(
    ("name", "labels", "value"),
    [
        ("batch_rows", {}, 1_000),
        ("last_batch_seconds", {}, 4.0),
        ("batch_id", {}, 7),
        ("input_rate", {}, 50.0),
        ("process_rate", {}, 250.0),
        ("window_seconds", {}, 10.0),
        ("batch_window_ratio", {}, 0.4),
        ("last_commit_timestamp_seconds", {}, 1_004.0),
        ("lag_records", {"partition": "events-0"}, 5),
        ("lag_seconds", {"partition": "events-0"}, 1.5),
        ("rows_in_total", {}, 1_000),
        ("rows_out_total", {}, 990),
        ("bytes_in_total", {}, 291_000),
        ("bytes_out_total", {}, 40_000),
        ("files_written_total", {}, 3),
        ("rows_rejected_total", {"reason": "malformed_json"}, 10),
        ("batch_duration_seconds_sum", {}, 4.0),
        ("batch_duration_seconds_bucket", {"le": "5.0"}, 1),
        ("batch_duration_seconds_bucket", {"le": "2.0"}, 0),
        ("batch_phase_seconds_sum", {"phase": "write"}, 1.5),
    ],
)
def test_a_batch_is_seen_in_every_metric(registry, metrics, name, labels, value):
    metrics.observe(BATCH)
    assert sample(registry, name, **labels) == value


def test_counters_grow_from_batch_to_batch_while_gauges_show_the_last_one(registry, metrics):
    metrics.observe(BATCH)
    metrics.observe(replace(BATCH, batch_id=8, rows_in=1))
    assert sample(registry, "rows_in_total") == 1_001
    assert sample(registry, "batch_rows") == 1
    assert sample(registry, "batch_id") == 8


def test_a_partition_that_is_gone_takes_its_lag_along(registry, metrics):
    metrics.observe(BATCH)
    metrics.observe(replace(BATCH, lag_records={"events-1": 2}, lag_secs={}))
    assert sample(registry, "lag_records", partition="events-0") is None
    assert sample(registry, "lag_seconds", partition="events-0") is None
    assert sample(registry, "lag_records", partition="events-1") == 2


def test_a_partition_whose_age_is_no_longer_known_shows_none(registry, metrics):
    metrics.observe(BATCH)
    metrics.observe(replace(BATCH, lag_secs={}))
    assert sample(registry, "lag_records", partition="events-0") == 5
    assert sample(registry, "lag_seconds", partition="events-0") is None


def test_queries_keep_their_lag_apart(registry, metrics):
    metrics.observe(BATCH)
    metrics.observe(replace(BATCH, query="orders", lag_records={}, lag_secs={}))
    assert sample(registry, "lag_records", partition="events-0") == 5


def test_failures_retries_and_empty_triggers_are_counted(registry, metrics):
    metrics.observe(BATCH)
    metrics.failure("clicks")
    metrics.failure("clicks")
    metrics.retry("clicks")
    metrics.empty("clicks")
    assert sample(registry, "failures_total") == 2
    assert sample(registry, "retries_total") == 1
    assert sample(registry, "empty_batches_total") == 1
    assert sample(registry, "batch_rows") == 0


def test_an_announced_query_shows_its_counters_at_zero(registry, metrics):
    metrics.announce("clicks", window_secs=30.0)
    assert sample(registry, "failures_total") == 0
    assert sample(registry, "window_seconds") == 30.0


def test_help_names_the_metric_that_glue_has(registry, metrics):
    helps = {family.name: family.documentation for family in registry.collect()}
    assert "glue.driver.streaming.numRecords" in helps["gluepot_batch_rows"]
    assert "glue.driver.streaming.batchProcessingTimeInMs" in helps["gluepot_last_batch_seconds"]
    assert "glue.driver.streaming.maxConsumerLagInMs" in helps["gluepot_lag_seconds"]


def test_exposition_is_valid_openmetrics_with_every_metric(registry, metrics):
    metrics.observe(BATCH)
    text = generate_latest(registry).decode()
    names = {family.name for family in text_string_to_metric_families(text)}
    assert names == {f"gluepot_{m.name}" for m in (*GAUGES, *COUNTERS, *HISTOGRAMS)}


def test_server_answers_in_openmetrics_on_a_free_loopback_port(registry, metrics):
    metrics.observe(BATCH)
    server = serve(registry)
    request = urllib.request.Request(server.url, headers={"Accept": "application/openmetrics-text; version=1.0.0"})
    with urllib.request.urlopen(request, timeout=5) as response:
        text, kind = response.read().decode(), response.headers["Content-Type"]
    server.stop()
    assert server.url.startswith("http://127.0.0.1:")
    assert kind.startswith("application/openmetrics-text")
    assert 'gluepot_rows_in_total{job="shop",query="clicks"} 1000.0' in text
    assert text.endswith("# EOF\n")


def test_a_stopped_server_gives_its_port_back(registry):
    first = serve(registry)
    first.stop()
    again = serve(registry, port=first.port)
    again.stop()
    assert again.port == first.port


def test_a_taken_port_is_named_with_the_remedy(registry):
    server = serve(registry)
    with pytest.raises(ConfigError, match=rf"metrics port {server.port} on 127\.0\.0\.1.*--metrics-port, or 0"):
        serve(registry, port=server.port)
    server.stop()


@pytest.mark.parametrize(("host", "port"), [("127.0.0.1", 70_000), ("192.0.2.1", 0)])
def test_an_address_that_cannot_be_is_a_config_error(registry, host, port):
    with pytest.raises(ConfigError, match="cannot be used"):
        serve(registry, host, port)
