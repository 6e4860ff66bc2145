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
    Metric("last_batch_seconds", "Time of the last batch.", glue="glue.driver.streaming.batchProcessingTimeInMs"),
    Metric("batch_id", "Number of the last committed batch."),
    Metric("input_rate", "Rows per second since the previous batch began."),
    Metric("process_rate", "Rows per second of batch time."),
    Metric("window_seconds", "Configured time between two batch starts; 0 for none."),
    Metric("batch_window_ratio", "Time of the last batch over the window; above 1 the stream falls behind."),
    Metric("last_commit_timestamp_seconds", "When the last batch was committed, in seconds since 1970 UTC."),
    Metric("source_info", "Always 1: the stream that the query reads.", by=("source", "stream")),
    Metric("partitions", "Partitions or shards of the query's streams."),
    Metric("workers", "Workers at the end of the last batch.", of_job=True, glue=f"{_EXECUTORS}.numberAllExecutors"),
    Metric("task_slots", "Tasks that run at a time, all workers together.", of_job=True),
    Metric(
        "position",
        "Where the next batch begins: the offset after the last committed record. Absent for Kinesis, whose sequence"
        " numbers are too long for a metric.",
        by=("partition",),
        opt_in=True,
    ),
)

# Gauges that a separate thread sets about once a second, and also each batch.
LAG = (
    Metric("lag_total_records", "Records that are not committed, over all partitions."),
    Metric("lag_worst_records", "Records that are not committed in the partition that has most of them."),
    Metric(
        "lag_worst_seconds",
        "How long the oldest record that is not committed has waited, at most; 0 when none waits.",
        glue="glue.driver.streaming.maxConsumerLagInMs (in ms)",
    ),
    Metric("lag_records", "Records that are not committed.", by=("partition",), opt_in=True),
    Metric(
        "lag_seconds",
        "How long the oldest record that is not committed has waited, at most; 0 when none waits.",
        by=("partition",),
        opt_in=True,
    ),
)

# Gauges that are set with each batch if there is an advisor (`--advice-log`).
ADVICE = (
    Metric(
        "advised_workers",
        "Workers that the advisor wants; an autoscaler follows this number.",
        glue=f"{_EXECUTORS}.numberMaxNeededExecutors",
    ),
    Metric("advice_confidence", "0 to 1: how well the advisor's model of a batch fits."),
    Metric("advice_limit", "1 for what limits the stream first, 0 for the other limits.", by=("limit",)),
    Metric("batch_fixed_seconds", "Learned part of a batch's time that does not depend on its size; absent before."),
    Metric("worker_rate", "Learned rows per second of one worker; absent before."),
)

# Gauges that are computed at each scrape.
AT_SCRAPE = (
    Metric("last_commit_age_seconds", "Time since the last commit, or since the page was opened before the first."),
    Metric("running_batch_seconds", "How long the running batch has run; 0 between batches."),
    Metric("lease_held", "1 while this driver may publish; 0 when another one took over, or after the end."),
    Metric("failures_in_a_row", "Failed attempts since the last good batch."),
    Metric(
        "resident_memory_bytes",
        "Resident memory by role: driver (Python), jvm, workers (all Python workers together, shared pages counted in"
        " each). Linux only.",
        by=("role",),
        of_job=True,
    ),
    Metric("run_start_timestamp_seconds", "When this run began, in seconds since 1970 UTC.", of_job=True),
    Metric(
        "upstream_commit_age_seconds",
        "How old the last commit of a job of --after was when this run began to work.",
        by=("upstream",),
        of_job=True,
    ),
    Metric(
        "jvm_heap_used_bytes",
        "Heap of the driver's Java in use after its last collection. Linux only.",
        of_job=True,
        glue="glue.driver.jvm.heap.used",
    ),
    Metric("jvm_heap_capacity_bytes", "Heap that the driver's Java has now. Linux only.", of_job=True),
    Metric("processes", "Processes by role: driver, jvm, workers. Linux only.", by=("role",), of_job=True),
)

# Counters that are computed at each scrape.
COUNTED_AT_SCRAPE = (
    Metric(
        "throttled_reads",
        "Kinesis only: reads ahead, and with enhanced fan-out subscriptions, that the service refused because they came"
        " too often; they are repeated later.",
    ),
    Metric(
        "retried_tasks",
        "Tasks that succeeded after an attempt of them had failed; tasks that Spark runs without our code are not"
        " counted.",
        of_job=True,
    ),
    Metric(
        "throttled_writes",
        "Records that Kinesis, DynamoDB, OpenSearch or MongoDB did not take, by throttling or in an outage, and that"
        " were sent again; each refusal counts.",
        of_job=True,
    ),
    Metric(
        "cpu_seconds",
        "Processor time by role: driver (Python), jvm, workers; its rate is cores used. Linux only.",
        by=("role",),
        of_job=True,
    ),
    Metric("jvm_gc_seconds", "Time the driver's Java spent on collecting garbage. Linux only.", of_job=True),
)

# Gauges of a run that has ended; only a push gateway keeps them.
AT_END = (
    Metric("run_success", "1 if the run ended well, 0 if not.", of_job=True),
    Metric("run_end_timestamp_seconds", "When the run ended, in seconds since 1970 UTC.", of_job=True),
    Metric("run_duration_seconds", "From the begin of the run to its end.", of_job=True),
    Metric("run_rows_out", "Records written outside of streams.", of_job=True),
    Metric("run_rows_in", "Records read outside of streams.", of_job=True),
    Metric("run_rows_delivered", "Records read outside of streams that became rows for the script.", of_job=True),
    Metric("run_rows_rejected_in_read", "Records that could not be read, and are kept.", of_job=True),
    Metric("run_rows_left_out", "Records that could not be read, left out with --on-malformed=drop.", of_job=True),
    Metric("run_rows_refused", "Rows outside of streams that were not written, and are kept.", of_job=True),
    Metric("run_files_written", "Files published outside of streams.", of_job=True),
)

COUNTERS = (
    Metric("rows_in", "Records read.", glue="glue.driver.aggregate.recordsRead"),
    Metric("rows_out", "Records written.", glue="glue.driver.recordsWritten"),
    Metric("bytes_in", "Payload bytes read.", glue="glue.driver.aggregate.bytesRead"),
    Metric("bytes_out", "Bytes of published files.", glue="glue.driver.bytesWrittten"),  # AWS's own spelling
    Metric("files_written", "Published files.", glue="glue.driver.filesWritten"),
    Metric("rows_delivered", "Records read that became rows for the script."),
    Metric("rows_rejected_in_read", "Records read that could not be read as rows, and are kept."),
    Metric("rows_left_out", "Records that could not be read, left out with --on-malformed=drop."),
    Metric("rows_arrived", "Rows that came to a write."),
    Metric("rows_refused", "Rows that were not written, and are kept."),
    Metric("rows_skipped", "Rows that an earlier attempt of the batch has written."),
    Metric("rows_rejected", "Records kept as rejects, whether in a read, a transform or a write.", by=("reason",)),
    Metric("values_nulled", "Values that became null because the declared schema has another type.", by=("column",)),
    Metric("schema_changes", "Columns of the stream that are new (added) or changed their type (type).", by=("kind",)),
    Metric("batches", "Committed batches."),
    Metric("retries", "Batches started again after a failure."),
    Metric("failures", "Failed attempts of a batch."),
    Metric("empty_batches", "Triggers that found no record."),
    Metric("group_commits", "Commits to a consumer group after a batch (`commitGroupOffsets`)."),
    Metric("group_commit_failures", "Commits to a consumer group that failed; the batch is not affected."),
    Metric(
        "side_task_failures",
        "Errors in side tasks of a batch, such as the log of advice.",
        by=("task",),
    ),
)

# Gauges and counters that are set with each check of data quality.
CHECK_GAUGES = (
    Metric(
        "quality_score",
        "Share of the rules that hold, 0 to 1, in the newest evaluation of the context.",
        by=("context",),
        of_job=True,
    ),
)
CHECK_COUNTERS = (
    Metric(
        "quality_rules_passed",
        "Data quality rules that held.",
        by=("context",),
        glue="glue.data.quality.rules.passed",
        of_job=True,
    ),
    Metric(
        "quality_rules_failed",
        "Data quality rules that did not hold.",
        by=("context",),
        glue="glue.data.quality.rules.failed",
        of_job=True,
    ),
)

# The counter that continues where the last run of a query ended.
ROWS_COMMITTED = Metric(
    "rows_committed",
    "Rows that the query has in a table of files, over all of its runs: what the table's manifests say.",
    by=("table",),
)

HISTOGRAMS = (
    Distribution("batch_duration_seconds", "Time from the begin of a batch to its commit."),
    Distribution(
        "batch_phase_seconds",
        "Time by phase of a batch. In tasks, summed over them: fetch, parse, transform, write. In the driver: publish"
        " (writes become visible), commit (the batch is noted as done, and what only earlier attempts wrote is taken"
        " back). In Spark: planning (latestOffset, getBatch, queryPlanning), checkpoint (walCommit, commitOffsets).",
        by=("phase",),
    ),
    Distribution(
        "record_latency_seconds",
        "From the creation of a record to its commit: the newest record of each partition in each batch. The oldest one"
        " of the batch waited up to a window longer.",
        buckets=LATENCY_SECS_BUCKETS,
    ),
    Distribution("file_size_bytes", "Size of a published file with records.", buckets=FILE_BYTES_BUCKETS),
)


def document() -> str:
    """Return docs/metrics.md."""
    sections = (
        ("Counters", "Exposed with the suffix `_total`. They start at 0 with the process.", COUNTERS, "_total"),
        (
            "The counter that outlives a process",
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
        ("Gauges of the moment", "Computed at each scrape, also while a batch runs.", AT_SCRAPE, ""),
        ("At the end", "Sent with all others to a push gateway (`--push-gateway`) when a run ends.", AT_END, ""),
        (
            "Counters of the moment",
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

`gluepot run --metrics-port 9400` serves them at `/metrics`, as OpenMetrics or Prometheus text,
whichever is asked for. Below, the labels of a metric are in parentheses. `job` is the job's name,
`query` that of a stream: scrape with `honor_labels: true`, or Prometheus renames the first.
`reason` shows at most {MOST_LABEL_VALUES} values; what comes later is `other`. Metrics with the label `partition`
are there with `--metrics-by-partition` only. With `--cloudwatch-names`, AWS Glue's own metrics are
there too, as Prometheus' exporter for CloudWatch names them
(`glue_glue_driver_streaming_num_records_average`): boards made of those need no change. Those of
data quality (`glue_data_quality_glue_data_quality_rules_failed_sum`, with `evaluation_context` and
`job_name`) are there for checks with `enableDataQualityCloudWatchMetrics`.

A counter counts what this process committed. An attempt that failed adds to `failures_total` and to
nothing else but data quality; what it had published counts once, with the attempt that succeeds.
Over restarts, count rows with `gluepot_rows_committed_total`, which agrees with the table's
manifests (`gluepot table history`).
"""

_LASTING = f"""\
Exposed with the suffix `_total`. From the first batch of a run on, it counts the rows that all runs
of the query have published. So `increase()` is right over restarts, and includes the rows of a
process that died before it was scraped. Only the {MOST_LABEL_VALUES} tables written to last are shown. A new query
starts from its own rows, for example after a checkpoint was rewound."""

_CHECKED = f"""\
Set when a check of data quality (`EvaluateDataQuality`) has its result, which may be before the
batch is committed: a script can stop the job because of it. `context` is the evaluation context, of
which {MOST_LABEL_VALUES} are shown. A repeated attempt of a batch sets the score again and does not count again."""

_LOOKED = """\
The records between the committed positions and the ends of the streams. The sources are asked about
once a second while batches run, hang or fail. That takes at most 2 % of a core: with thousands of
partitions they are asked every 15 s. A batch that is committed in between subtracts its own records
from the last answer; records that arrived since count from the next answer on. Absent until a batch
is committed."""


def _list(metrics: tuple[Metric, ...], suffix: str) -> str:
    """Return a list item for each metric, in lines of at most `_COLUMNS` characters."""
    return "".join(f"{_wrapped(f'- {_said(one, suffix)}', indent='  ')}\n" for one in metrics)


def _said(one: Metric, suffix: str) -> str:
    labels = ", ".join(f"`{label}`" for label in one.labels) + (", opt-in" if one.opt_in else "")
    glue = f" AWS Glue's name: `{one.glue}`." if one.glue else ""
    return f"**`{PREFIX}{one.name}{suffix}`** ({labels}): {one.meaning}{glue}"


def _wrapped(text: str, indent: str = "") -> str:
    return textwrap.fill(text, _COLUMNS, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)
