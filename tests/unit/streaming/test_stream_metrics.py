from dataclasses import replace

import pytest
from prometheus_client import CollectorRegistry
from prometheus_client.openmetrics.exposition import generate_latest
from prometheus_client.openmetrics.parser import text_string_to_metric_families

from gluepot.engine.account import Account, Reading, Writes
from gluepot.quality.outcomes import RuleOutcome
from gluepot.quality.results import Checked, Result, Source
from gluepot.streaming.advisor import Advice, Limit
from gluepot.streaming.observe.capacity import Capacity
from gluepot.streaming.observe.lag import Lag
from gluepot.streaming.observe.metric_names import ADVICE as ADVICE_METRICS
from gluepot.streaming.observe.metric_names import (
    CHECK_COUNTERS,
    CHECK_GAUGES,
    COUNTERS,
    GAUGES,
    HISTOGRAMS,
    LAG,
    MOST_LABEL_VALUES,
    ROWS_COMMITTED,
)
from gluepot.streaming.observe.metrics import StreamMetrics
from gluepot.streaming.progress import BatchStats

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
    file_sizes_bytes=(10_000, 12_000, 18_000),
    schema_changes={"added": 2},
    rejected={"malformed_json": 10},
    misfits={"price": 4},
    lag_records={"events-0": 5, "events-1": 0},
    lag_secs={"events-0": 1.5},
    latency_secs={"events-0": 1.5, "events-1": 3.0},
    streams=[("kafka", "events")],
    positions={"events-0": 120, "events-1": 80},
    rows_in_table={"file:///tables/clicks": 5_990},
    account=Account({"events": Reading(1_000, 988, 10, 2)}, Writes(995, 985, 3, 7)),
)

ADVICE = Advice(epoch=1_004.0, workers=2, wanted_workers=2, limit=Limit.UNKNOWN, reason="Too few batches.")


@pytest.fixture
def registry():
    return CollectorRegistry()


@pytest.fixture
def metrics(registry):
    return StreamMetrics(registry, job="shop", by_partition=True)


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
        ("lag_total_records", {}, 5),
        ("lag_worst_records", {}, 5),
        ("lag_worst_seconds", {}, 1.5),
        ("source_info", {"source": "kafka", "stream": "events"}, 1),
        ("partitions", {}, 2),
        ("position", {"partition": "events-0"}, 120),
        ("batches_total", {}, 1),
        ("schema_changes_total", {"kind": "added"}, 2),
        ("record_latency_seconds_count", {}, 2),
        ("record_latency_seconds_bucket", {"le": "2.0"}, 1),
        ("file_size_bytes_sum", {}, 40_000),
        ("file_size_bytes_bucket", {"le": "16384.0"}, 2),
        ("rows_in_total", {}, 1_000),
        ("rows_out_total", {}, 990),
        ("rows_committed_total", {"table": "file:///tables/clicks"}, 5_990),
        ("bytes_in_total", {}, 291_000),
        ("bytes_out_total", {}, 40_000),
        ("files_written_total", {}, 3),
        ("rows_rejected_total", {"reason": "malformed_json"}, 10),
        ("rows_delivered_total", {}, 988),
        ("rows_rejected_in_read_total", {}, 10),
        ("rows_left_out_total", {}, 2),
        ("rows_arrived_total", {}, 995),
        ("rows_refused_total", {}, 3),
        ("rows_skipped_total", {}, 7),
        ("values_nulled_total", {"column": "price"}, 4),
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


def test_commits_to_groups_are_counted_apart_from_those_that_failed(registry, metrics):
    metrics.group_commits("clicks", made=2, failed=1)
    metrics.group_commits("clicks", made=3, failed=0)
    assert sample(registry, "group_commits_total") == 5
    assert sample(registry, "group_commit_failures_total") == 1


def test_an_announced_query_shows_its_counters_at_zero(registry, metrics):
    metrics.announce("clicks", window_secs=30.0)
    assert sample(registry, "failures_total") == 0
    assert sample(registry, "window_seconds") == 30.0


def test_schema_changes_of_an_announced_query_are_at_zero_by_kind(registry, metrics):
    metrics.announce("clicks", window_secs=30.0)
    assert [sample(registry, "schema_changes_total", kind=kind) for kind in ("added", "type")] == [0, 0]


def test_a_position_that_a_metric_cannot_hold_exactly_is_not_shown(registry, metrics):
    metrics.observe(replace(BATCH, positions={"s-shardId-0": 2**53 + 1, "s-shardId-1": 2**53}))
    assert sample(registry, "position", partition="s-shardId-0") is None
    assert sample(registry, "position", partition="s-shardId-1") == 2**53


def test_capacity_is_of_the_job(registry, metrics):
    metrics.capacity(Capacity(workers=3, slots=12))
    assert registry.get_sample_value("gluepot_workers", {"job": "shop"}) == 3
    assert registry.get_sample_value("gluepot_task_slots", {"job": "shop"}) == 12


def test_advice_is_shown_with_the_one_limit_that_holds_the_stream_back(registry, metrics):
    metrics.advise("clicks", replace(ADVICE, limit=Limit.SKEW))
    metrics.advise("clicks", replace(ADVICE, limit=Limit.WORKERS, wanted_workers=5, confidence=0.75))
    assert sample(registry, "advised_workers") == 5
    assert sample(registry, "advice_confidence") == 0.75
    assert {limit: sample(registry, "advice_limit", limit=limit) for limit in Limit} == {
        limit: float(limit == Limit.WORKERS) for limit in Limit
    }


def test_what_the_advisor_has_not_learned_yet_is_absent(registry, metrics):
    metrics.advise("clicks", ADVICE)
    assert sample(registry, "worker_rate") is None
    metrics.advise("clicks", replace(ADVICE, fixed_secs=0.5, worker_rate=2_000.0))
    assert (sample(registry, "batch_fixed_seconds"), sample(registry, "worker_rate")) == (0.5, 2_000.0)


def test_help_names_the_metric_that_glue_has(registry, metrics):
    helps = {family.name: family.documentation for family in registry.collect()}
    assert "glue.driver.streaming.numRecords" in helps["gluepot_batch_rows"]
    assert "glue.driver.streaming.batchProcessingTimeInMs" in helps["gluepot_last_batch_seconds"]
    assert "glue.driver.streaming.maxConsumerLagInMs" in helps["gluepot_lag_worst_seconds"]


def test_exposition_is_valid_openmetrics_with_every_metric(registry, metrics):
    metrics.observe(BATCH)
    text = generate_latest(registry).decode()
    names = {family.name for family in text_string_to_metric_families(text)}
    shown = (*GAUGES, *LAG, *ADVICE_METRICS, *COUNTERS, ROWS_COMMITTED, *HISTOGRAMS, *CHECK_GAUGES, *CHECK_COUNTERS)
    assert names == {f"gluepot_{metric.name}" for metric in shown}


def test_lag_by_partition_is_shown_on_request_only(registry):
    StreamMetrics(registry, job="shop").observe(BATCH)
    assert sample(registry, "lag_records", partition="events-0") is None
    assert sample(registry, "lag_worst_records") == 5


def test_a_broker_that_is_away_leaves_the_lag_as_it_was_known(registry, metrics):
    metrics.observe(BATCH)
    metrics.observe(replace(BATCH, lag_records={}, lag_secs={}))
    assert sample(registry, "lag_total_records") == 5


def test_committed_rows_are_those_of_the_tables_and_absent_before_the_first_batch(registry, metrics):
    metrics.announce("clicks", window_secs=30.0)
    assert sample(registry, "rows_committed_total", table="file:///tables/clicks") is None
    metrics.observe(BATCH)
    metrics.observe(replace(BATCH, batch_id=8, rows_in_table={"file:///tables/clicks": 6_000}))
    assert sample(registry, "rows_committed_total", table="file:///tables/clicks") == 6_000


def test_a_table_that_a_batch_does_not_write_to_keeps_its_rows(registry, metrics):
    metrics.observe(BATCH)
    metrics.observe(replace(BATCH, rows_in_table={"file:///tables/orders": 7}))
    assert sample(registry, "rows_committed_total", table="file:///tables/clicks") == 5_990
    assert sample(registry, "rows_committed_total", table="file:///tables/orders") == 7


def test_of_many_tables_those_written_to_last_are_shown(registry, metrics):
    for n in range(MOST_LABEL_VALUES + 1):
        metrics.observe(replace(BATCH, rows_in_table={f"file:///tables/{n}": n}))
        metrics.observe(replace(BATCH, rows_in_table={"file:///tables/0": 1_000 + n}))
    shown = {
        n for n in range(MOST_LABEL_VALUES + 1) if sample(registry, "rows_committed_total", table=f"file:///tables/{n}")
    }
    assert shown == {0, *range(2, MOST_LABEL_VALUES + 1)}


def test_committed_rows_do_not_say_that_they_began_with_the_process(registry, metrics):
    metrics.observe(BATCH)
    text = generate_latest(registry).decode()
    assert "gluepot_rows_committed_total" in text
    assert "gluepot_rows_committed_created" not in text


def test_lag_is_shown_between_two_batches(registry, metrics):
    metrics.observe(BATCH)
    metrics.lag("clicks", Lag({"events-0": 70, "events-1": 2}, {"events-0": 12.0}))
    assert (sample(registry, "lag_total_records"), sample(registry, "lag_worst_seconds")) == (72, 12.0)
    assert sample(registry, "lag_records", partition="events-1") == 2


def test_reasons_beyond_the_bound_are_counted_together(registry, metrics):
    reasons = {f"reason {n}": 1 for n in range(MOST_LABEL_VALUES + 3)}
    metrics.observe(replace(BATCH, rejected=reasons))
    metrics.observe(replace(BATCH, rejected={"reason 0": 1, "another": 1}))
    assert sample(registry, "rows_rejected_total", reason="other") == 4
    assert sample(registry, "rows_rejected_total", reason="reason 0") == 2


def check(number: int, *passed: bool, context: str = "node 1") -> Checked:
    outcomes = [RuleOutcome("RowCount > 1", one) for one in passed]
    return Checked(Result(Source("shop", context), f"query/{number}/{context}/1", "jr_7", 0, 5, outcomes))


def of_context(registry, context="node 1"):
    """Rules that passed, rules that failed, and the score."""
    names = ("quality_rules_passed_total", "quality_rules_failed_total", "quality_score")
    labels = {"job": "shop", "context": context}
    return tuple(registry.get_sample_value(f"gluepot_{name}", labels) for name in names)


def test_rules_are_counted_by_context_and_the_score_is_that_of_the_newest_evaluation(metrics, registry):
    metrics.checked(check(1, True, True, False, False))
    metrics.checked(check(2, True, True, True, False))
    metrics.checked(check(1, True, context="node 2"))
    assert of_context(registry) == (5, 3, 0.75)
    assert of_context(registry, "node 2") == (1, 0, 1.0)


def test_a_repeated_evaluation_counts_once_and_sets_the_score(metrics, registry):
    metrics.checked(check(1, True, False))
    metrics.checked(check(1, True, True))
    assert of_context(registry) == (1, 1, 1.0)


def test_a_ruleset_of_analyzers_alone_has_the_best_score(metrics, registry):
    metrics.checked(check(1))
    assert of_context(registry) == (0, 0, 1.0)


def test_further_contexts_than_a_label_may_have_are_counted_together(metrics, registry):
    for number in range(MOST_LABEL_VALUES + 3):
        metrics.checked(check(1, True, context=f"node {number}"))
    assert of_context(registry, "other")[0] == 3
