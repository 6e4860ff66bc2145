"""What several boards have in common: selectors, events, panels."""

from __future__ import annotations

from scripts.dashboards.panels import (
    CORES,
    COUNT,
    ROWS_PER_SEC,
    SECS,
    Event,
    Line,
    Panel,
    Variable,
)

JOB = 'job=~"$job"'
QUERY = f'{JOB}, query=~"$query"'
CHOSEN = f'gluepot_source_info{{{JOB}, stream=~"$stream"}}'
STREAM_NAME = "{{job}} {{stream}}"
QUERY_NAME = "{{job}} {{query}}"

ANY_JOB = Variable("job", "job", "gluepot_window_seconds")
ONE_JOB = Variable("job", "job", "gluepot_window_seconds", several=False)
QUERIES = Variable("query", "query", f"gluepot_window_seconds{{{JOB}}}")
STREAMS = Variable("stream", "stream", f"gluepot_source_info{{{JOB}}}")

EVENTS = (
    Event("Start of a run", f"time() - gluepot_run_start_timestamp_seconds{{{JOB}}} < 60", "blue"),
    Event(
        "Schema change",
        f"sum by (job, query, kind) (increase(gluepot_schema_changes_total{{{JOB}}}[1m])) > 0",
        "purple",
    ),
    Event(
        "Advice taken",
        f"delta(gluepot_workers{{{JOB}}}[2m]) != 0"
        f" and on (job) gluepot_workers{{{JOB}}} == on (job) max by (job) (gluepot_advised_workers{{{JOB}}})",
        "orange",
    ),
)


def rate(name: str, labels: str = QUERY) -> str:
    """Return PromQL of a counter's rise a second."""
    return f"rate(gluepot_{name}{{{labels}}}[$__rate_interval])"


def quantile(share: float, name: str) -> str:
    """Return PromQL of the value that this share of a histogram does not exceed."""
    return f"histogram_quantile({share}, sum by (job, query, le) ({rate(f'{name}_bucket')}))"


def of_query(name: str) -> str:
    """Return PromQL of a gauge of the chosen queries."""
    return f"gluepot_{name}{{{QUERY}}}"


def of_job(name: str) -> str:
    """Return PromQL of a metric of the chosen jobs."""
    return f"gluepot_{name}{{{JOB}}}"


RATES = Panel(
    "Input and process rate",
    "Records a second that come in, and that a running batch works off. Where the two lines meet, batches take the"
    " whole window and more traffic makes the stream late.",
    [Line(of_query("input_rate"), f"{QUERY_NAME} in"), Line(of_query("process_rate"), f"{QUERY_NAME} processed")],
    ROWS_PER_SEC,
)
BATCH_AND_WINDOW = Panel(
    "Batch time and window",
    "Batches should take a stable time well below the window; the first ones after a start are slower.",
    [
        Line(of_query("last_batch_seconds"), f"{QUERY_NAME} batch"),
        Line(of_query("window_seconds"), f"{QUERY_NAME} window"),
    ],
    SECS,
)
ROWS_OF_BATCH = Panel(
    "Records of a batch",
    "A flat line is a steady stream, or a limit per batch that is hit each time while a backlog grows unseen: look at"
    " the lag.",
    [Line(of_query("batch_rows"), QUERY_NAME)],
    COUNT,
)
LATENCY = Panel(
    "From creation to commit",
    "The newest record of each partition and batch; the oldest one waited up to a window longer.",
    [
        Line(quantile(0.5, "record_latency_seconds"), f"{QUERY_NAME} half"),
        Line(quantile(0.95, "record_latency_seconds"), f"{QUERY_NAME} 95 %"),
        Line(quantile(0.99, "record_latency_seconds"), f"{QUERY_NAME} 99 %"),
    ],
    SECS,
    warn_at=120,
    bad_at=300,
)
LAG_RECORDS = Panel(
    "Records waiting",
    "Behind the newest ones, over all partitions. It swings with the window; it must not climb.",
    [Line(of_query("lag_total_records"), QUERY_NAME)],
    COUNT,
)
CORES_USED = Panel(
    "Cores used and task slots",
    "Processor time per second by role, and how many tasks run at a time. Workers far below the slots wait: for the"
    " source, the target, or one large partition.",
    [Line(rate("cpu_seconds_total", JOB), "{{job}} {{role}}"), Line(of_job("task_slots"), "{{job}} slots")],
    CORES,
)
