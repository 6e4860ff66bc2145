"""Every metric of a job: name, labels, meaning, and AWS Glue's name for the number. It makes docs/metrics.md."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass

PREFIX = "gluepot_"
_COLUMNS = 100
# The number of distinct values of one label that a query may show. Further values are counted under `other`.
MOST_LABEL_VALUES = 50

# From our shortest time for an empty function to half an hour, with the usual windows (10, 30, 60, 100 s) as bounds.
BATCH_SECS_BUCKETS = (0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10, 20, 30, 60, 100, 120, 300, 600, 1800)

# From below the shortest window to a backlog of a day.
LATENCY_SECS_BUCKETS = (0.5, 1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1800, 3600, 14400, 86400)

# From 4 KiB to 4 GiB. Files below 1 MiB are too small for most readers.
FILE_BYTES_BUCKETS = tuple(float(1 << power) for power in range(12, 33, 2))


@dataclass(frozen=True, slots=True)
class Metric:
    """The name, labels and meaning of one metric.

    Args:
        name: the name without the prefix `gluepot_`, and for counters without the suffix `_total`.
        meaning: the help text, unit included.
        by: labels in addition to `job` and `query`.
        glue: AWS's name of the same number (job metrics of the Glue guide), or empty.
        of_job: whether the metric describes the job as a whole and has no label `query`.
        opt_in: whether it is shown only on request (`--metrics-by-partition`).
    """

    name: str
    meaning: str
    by: tuple[str, ...] = ()
    glue: str = ""
    of_job: bool = False
    opt_in: bool = False

    @property
    def help(self) -> str:
        """The help text as exposed, with the name of AWS's metric if there is one."""
        return f"{self.meaning} AWS Glue: {self.glue}." if self.glue else self.meaning

    @property
    def labels(self) -> tuple[str, ...]:
        """Label names in the order in which callers give the values."""
        own = ("job",) if self.of_job else ("job", "query")
        return own + self.by


@dataclass(frozen=True, slots=True)
class Distribution(Metric):
    """A histogram.

    Args:
        buckets: upper bounds.
    """

    buckets: tuple[float, ...] = BATCH_SECS_BUCKETS


_EXECUTORS = "glue.driver.ExecutorAllocationManager.executors"

# Gauges that are set with each batch.
GAUGES = (
    Metric("batch_rows", "Records in the last batch.", glue="glue.driver.streaming.numRecords"),
    Metric("last_batch_seconds", "Duration of the last batch.", glue="glue.driver.streaming.batchProcessingTimeInMs"),
    Metric("batch_id", "Number of the last committed batch."),
    Metric("input_rate", "Rows per second since the start of the previous batch."),
    Metric("process_rate", "Rows per second of batch time."),
    Metric("window_seconds", "Configured time between two batch starts; 0 if there is none."),
    Metric("batch_window_ratio", "Duration of the last batch divided by the window; above 1 the stream falls behind."),
    Metric("last_commit_timestamp_seconds", "Commit time of the last batch, in seconds since 1970 UTC."),
    Metric("source_info", "Always 1: the stream that the query reads.", by=("source", "stream")),
    Metric("partitions", "Partitions or shards of the query's streams."),
    Metric("workers", "Workers at the end of the last batch.", of_job=True, glue=f"{_EXECUTORS}.numberAllExecutors"),
    Metric("task_slots", "Tasks that can run at the same time on all workers together.", of_job=True),
    Metric(
        "position",
        "Start of the next batch: the offset after the last committed record. Absent for Kinesis, because sequence"
        " numbers are too long for a metric.",
        by=("partition",),
        opt_in=True,
    ),
)

# Gauges that a separate thread sets about once a second, and also each batch.
LAG = (
    Metric("lag_total_records", "Uncommitted records of all partitions."),
    Metric("lag_worst_records", "Uncommitted records of the partition with the most."),
    Metric(
        "lag_worst_seconds",
        "Maximum age of the oldest uncommitted record; 0 if there is none.",
        glue="glue.driver.streaming.maxConsumerLagInMs (in ms)",
    ),
    Metric("lag_records", "Uncommitted records.", by=("partition",), opt_in=True),
    Metric(
        "lag_seconds",
        "Maximum age of the oldest uncommitted record; 0 if there is none.",
        by=("partition",),
        opt_in=True,
    ),
)

# Gauges that are set with each batch if there is an advisor (`--advice-log`).
ADVICE = (
    Metric(
        "advised_workers",
        "Number of workers that the advisor recommends; an autoscaler uses it.",
        glue=f"{_EXECUTORS}.numberMaxNeededExecutors",
    ),
    Metric("advice_confidence", "Fit of the advisor's model of a batch, 0 to 1."),
    Metric("advice_limit", "1 for the first limit that the stream reaches, 0 for the others.", by=("limit",)),
    Metric(
        "batch_fixed_seconds",
        "Estimated part of a batch's duration that does not depend on its size; absent until it is known.",
    ),
    Metric("worker_rate", "Estimated rows per second of one worker; absent until it is known."),
)

# Gauges that are computed at each scrape.
AT_SCRAPE = (
    Metric(
        "last_commit_age_seconds",
        "Time since the last commit; before the first commit, since the metrics server started.",
    ),
    Metric("running_batch_seconds", "Duration of the running batch so far; 0 between batches."),
    Metric("lease_held", "1 while this driver may publish; 0 after another driver took over, or after the end."),
    Metric("failures_in_a_row", "Failed attempts since the last successful batch."),
    Metric(
        "resident_memory_bytes",
        "Resident memory by role: driver (Python), jvm, workers (all Python workers together, shared pages counted in"
        " each). Linux only.",
        by=("role",),
        of_job=True,
    ),
    Metric("run_start_timestamp_seconds", "Start of this run, in seconds since 1970 UTC.", of_job=True),
    Metric(
        "upstream_commit_age_seconds",
        "Age of the last commit of a job of --after at the start of this run.",
        by=("upstream",),
        of_job=True,
    ),
    Metric(
        "jvm_heap_used_bytes",
        "Used heap of the driver's JVM after its last garbage collection. Linux only.",
        of_job=True,
        glue="glue.driver.jvm.heap.used",
    ),
    Metric("jvm_heap_capacity_bytes", "Current heap size of the driver's JVM. Linux only.", of_job=True),
    Metric("processes", "Processes by role: driver, jvm, workers. Linux only.", by=("role",), of_job=True),
)

# Counters that are computed at each scrape.
COUNTED_AT_SCRAPE = (
    Metric(
        "throttled_reads",
        "Kinesis only: throttled reads, and with enhanced fan-out throttled subscriptions; they are retried later.",
    ),
    Metric(
        "retried_tasks",
        "Tasks that succeeded after a failed attempt; tasks that Spark runs without Gluepot's code are not counted.",
        of_job=True,
    ),
    Metric(
        "throttled_writes",
        "Records that Kinesis, DynamoDB, OpenSearch or MongoDB did not accept because of throttling or an outage, and"
        " that were sent again; each refusal counts.",
        of_job=True,
    ),
    Metric(
        "cpu_seconds",
        "CPU time by role: driver (Python), jvm, workers; its rate is the number of used cores. Linux only.",
        by=("role",),
        of_job=True,
    ),
    Metric("jvm_gc_seconds", "Time that the driver's JVM spent on garbage collection. Linux only.", of_job=True),
)

# Gauges of a run that has ended; only a push gateway keeps them.
AT_END = (
    Metric("run_success", "1 if the run succeeded, 0 if not.", of_job=True),
    Metric("run_end_timestamp_seconds", "End of the run, in seconds since 1970 UTC.", of_job=True),
    Metric("run_duration_seconds", "Duration of the run.", of_job=True),
    Metric("run_rows_out", "Records written outside of streams.", of_job=True),
    Metric("run_rows_in", "Records read outside of streams.", of_job=True),
    Metric("run_rows_delivered", "Records read outside of streams and delivered to the script.", of_job=True),
    Metric(
        "run_rows_rejected_in_read", "Malformed records outside of streams that were rejected and stored.", of_job=True
    ),
    Metric("run_rows_left_out", "Malformed records outside of streams, dropped by --on-malformed=drop.", of_job=True),
    Metric("run_rows_refused", "Rows outside of streams that a write refused and stored.", of_job=True),
    Metric("run_files_written", "Files published outside of streams.", of_job=True),
)

COUNTERS = (
    Metric("rows_in", "Records read.", glue="glue.driver.aggregate.recordsRead"),
    Metric("rows_out", "Records written.", glue="glue.driver.recordsWritten"),
    Metric("bytes_in", "Payload bytes read.", glue="glue.driver.aggregate.bytesRead"),
    Metric("bytes_out", "Bytes of published files.", glue="glue.driver.bytesWrittten"),  # AWS's own spelling
    Metric("files_written", "Published files.", glue="glue.driver.filesWritten"),
    Metric("rows_delivered", "Records read and delivered to the script."),
    Metric("rows_rejected_in_read", "Malformed records that were rejected and stored."),
    Metric("rows_left_out", "Malformed records, dropped by --on-malformed=drop."),
    Metric("rows_arrived", "Rows that arrived at a write."),
    Metric("rows_refused", "Rows that a write refused and stored."),
    Metric("rows_skipped", "Rows that an earlier attempt of the batch had already written."),
    Metric("rows_rejected", "Rejected records that were stored, from reads, transforms and writes.", by=("reason",)),
    Metric("values_nulled", "Values that became null because they do not match the declared type.", by=("column",)),
    Metric("schema_changes", "Columns of the stream that are new (added) or have a new type (type).", by=("kind",)),
    Metric("batches", "Committed batches."),
    Metric("retries", "Batches retried after a failure."),
    Metric("failures", "Failed attempts of a batch."),
    Metric("empty_batches", "Triggers without new records."),
    Metric("group_commits", "Commits to a consumer group after a batch (`commitGroupOffsets`)."),
    Metric("group_commit_failures", "Commits to a consumer group that failed; the batch is not affected."),
    Metric(
        "side_task_failures",
        "Errors in side tasks of a batch, such as the advice log.",
        by=("task",),
    ),
)

# Gauges and counters that are set with each check of data quality.
CHECK_GAUGES = (
    Metric(
        "quality_score",
        "Share of passed rules, 0 to 1, in the newest evaluation of the context.",
        by=("context",),
        of_job=True,
    ),
)
CHECK_COUNTERS = (
    Metric(
        "quality_rules_passed",
        "Data quality rules that passed.",
        by=("context",),
        glue="glue.data.quality.rules.passed",
        of_job=True,
    ),
    Metric(
        "quality_rules_failed",
        "Data quality rules that failed.",
        by=("context",),
        glue="glue.data.quality.rules.failed",
        of_job=True,
    ),
)

# The counter that continues where the last run of a query ended.
ROWS_COMMITTED = Metric(
    "rows_committed",
    "Rows that all runs of the query have written to a table of files, according to its manifests.",
    by=("table",),
)

HISTOGRAMS = (
    Distribution("batch_duration_seconds", "Time from the start of a batch to its commit."),
    Distribution(
        "batch_phase_seconds",
        "Time by phase of a batch. Summed over all tasks: fetch, parse, transform, write. In the driver: publish"
        " (writes become visible), commit (the batch is marked as done, and output that only earlier attempts wrote is"
        " removed). In Spark: planning (latestOffset, getBatch, queryPlanning), checkpoint (walCommit, commitOffsets).",
        by=("phase",),
    ),
    Distribution(
        "record_latency_seconds",
        "Time from the creation of a record to its commit, for the newest record of each partition in each batch. The"
        " oldest record of the batch waited up to a window longer.",
        buckets=LATENCY_SECS_BUCKETS,
    ),
    Distribution("file_size_bytes", "Size of a published file with records.", buckets=FILE_BYTES_BUCKETS),
)


def document() -> str:
    """Return docs/metrics.md."""
    sections = (
        ("Counters", "Exposed with the suffix `_total`. They start at 0 with the process.", COUNTERS, "_total"),
        (
            "The counter across restarts",
            _LASTING,
            (ROWS_COMMITTED,),
            "_total",
        ),
        ("Data quality", _CHECKED, CHECK_GAUGES, ""),
        ("Counters of data quality", "Exposed with the suffix `_total`.", CHECK_COUNTERS, "_total"),
        ("Histograms", "Exposed as `_bucket`, `_sum` and `_count`.", HISTOGRAMS, ""),
        ("Gauges of the last batch", "Set when a batch is committed.", GAUGES, ""),
        (
            "Lag",
            _LOOKED,
            LAG,
            "",
        ),
        ("Advice", "Set when a batch is committed, with `--advice-log`.", ADVICE, ""),
        ("Gauges at scrape time", "Computed at each scrape, also while a batch runs.", AT_SCRAPE, ""),
        ("At the end", "Sent with all others to a push gateway (`--push-gateway`) when a run ends.", AT_END, ""),
        (
            "Counters at scrape time",
            "Computed at each scrape; exposed with the suffix `_total`.",
            COUNTED_AT_SCRAPE,
            "_total",
        ),
    )
    return _HEAD + "".join(
        f"\n## {title}\n\n{said}\n\n{_list(metrics, suffix)}" for title, said, metrics, suffix in sections
    )


_HEAD = f"""<!-- Made from streaming/observe/metric_names.py by `python -m scripts.documents`; do not edit. -->
# Metrics

`gluepot run --metrics-port 9400` serves metrics at `/metrics`, as OpenMetrics or Prometheus text.
The lists below show the labels of a metric in parentheses. `job` is the name of the job, and
`query` the name of the stream. Scrape with `honor_labels: true`; otherwise Prometheus renames
`job`. `reason` has at most {MOST_LABEL_VALUES} values; further values are counted as `other`. Metrics with the
label `partition` need `--metrics-by-partition`.

`--cloudwatch-names` also exposes AWS Glue's metrics, with the names of Prometheus' exporter for
CloudWatch (`glue_glue_driver_streaming_num_records_average`), so dashboards of these metrics need
no change. Data quality metrics (`glue_data_quality_glue_data_quality_rules_failed_sum`, with
`evaluation_context` and `job_name`) need checks with `enableDataQualityCloudWatchMetrics`.

Counters include what this process committed. A failed attempt only adds to `failures_total` and to
the data quality counters. Its published output counts once, with the attempt that succeeds. Across
restarts, count rows with `gluepot_rows_committed_total`, which matches the table's manifests
(`gluepot table history`).
"""

_LASTING = f"""\
Exposed with the suffix `_total`. It counts the rows that all runs of the query have published, from
the first batch of a run on. So `increase()` is correct across restarts, and includes the rows of a
process that crashed before it was scraped. Only the {MOST_LABEL_VALUES} most recently written tables are
shown. A new query, for example after a rewind of the checkpoint, starts from its own rows."""

_CHECKED = f"""\
Set when a data quality check (`EvaluateDataQuality`) has its result. This may be before the batch
is committed, because a script can stop the job based on the result. `context` is the evaluation
context; at most {MOST_LABEL_VALUES} are shown. A retried batch sets the score again and does not count again."""

_LOOKED = """\
Lag is the number of records between the committed positions and the ends of the streams. Gluepot
queries the ends about once a second, also while batches run, hang or fail. This takes at most 2 %
of a core: with thousands of partitions, it queries them every 15 s. A batch that is committed
between two queries reduces the lag by its records; new records count from the next query on. The
metrics are absent until the first batch is committed."""


def _list(metrics: tuple[Metric, ...], suffix: str) -> str:
    """Return a list item for each metric, in lines of at most `_COLUMNS` characters."""
    return "".join(f"{_wrapped(f'- {_said(one, suffix)}', indent='  ')}\n" for one in metrics)


def _said(one: Metric, suffix: str) -> str:
    labels = ", ".join(f"`{label}`" for label in one.labels) + (", opt-in" if one.opt_in else "")
    glue = f" AWS Glue's name: `{one.glue}`." if one.glue else ""
    return f"**`{PREFIX}{one.name}{suffix}`** ({labels}): {one.meaning}{glue}"


def _wrapped(text: str, indent: str = "") -> str:
    return textwrap.fill(text, _COLUMNS, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)
