"""The board of one job."""

from __future__ import annotations

from scripts.dashboards.common import (
    BATCH_AND_WINDOW,
    CORES_USED,
    EVENTS,
    JOB,
    LAG_RECORDS,
    LATENCY,
    ONE_JOB,
    QUERIES,
    QUERY,
    QUERY_NAME,
    RATES,
    ROWS_OF_BATCH,
    of_job,
    of_query,
    quantile,
    rate,
)
from scripts.dashboards.panels import (
    BYTES,
    COUNT,
    SECS,
    SHARE,
    Board,
    Line,
    Panel,
    Row,
)

ONE = Board(
    "gluepot-job",
    "Gluepot: one job",
    "What a job does, how fast, and with what.",
    [ONE_JOB, QUERIES],
    [
        Row("Keeping up", [RATES, BATCH_AND_WINDOW, LAG_RECORDS, LATENCY]),
        Row(
            "Batches",
            [
                ROWS_OF_BATCH,
                Panel(
                    "Time by phase",
                    "Seconds of work a second: phases in tasks are sums over tasks and can be more than one.",
                    [Line(f"sum by (job, query, phase) ({rate('batch_phase_seconds_sum')})", "{{query}} {{phase}}")],
                    COUNT,
                ),
                Panel(
                    "Bytes",
                    "Payload read and files published, a second.",
                    [
                        Line(rate("bytes_in_total"), f"{QUERY_NAME} in"),
                        Line(rate("bytes_out_total"), f"{QUERY_NAME} out"),
                    ],
                    "Bps",
                ),
                Panel(
                    "Size of files",
                    "Small files make readers slow: fewer tasks, a longer window or compaction make larger ones.",
                    [
                        Line(quantile(0.5, "file_size_bytes"), f"{QUERY_NAME} half"),
                        Line(quantile(0.95, "file_size_bytes"), f"{QUERY_NAME} 95 %"),
                    ],
                    BYTES,
                ),
            ],
        ),
        Row(
            "Trouble",
            [
                Panel(
                    "Failures and retries",
                    "Attempts of batches that failed, and that were started again, in 5 min.",
                    [
                        Line(f"increase(gluepot_failures_total{{{QUERY}}}[5m])", f"{QUERY_NAME} failed"),
                        Line(f"increase(gluepot_retries_total{{{QUERY}}}[5m])", f"{QUERY_NAME} retried"),
                    ],
                    COUNT,
                ),
                Panel(
                    "Since the last commit",
                    "And how long the running batch has run.",
                    [
                        Line(of_query("last_commit_age_seconds"), f"{QUERY_NAME} since the commit"),
                        Line(of_query("running_batch_seconds"), f"{QUERY_NAME} running"),
                    ],
                    SECS,
                    warn_at=300,
                    bad_at=900,
                ),
            ],
        ),
        Row(
            "Data quality",
            [
                Panel(
                    "Rules that hold",
                    "Share in the newest evaluation, by evaluation context. The page of the job and `gluepot quality"
                    " history` name the rules that failed.",
                    [Line(of_job("quality_score"), "{{context}}")],
                    SHARE,
                ),
                Panel(
                    "Rules that failed",
                    "In 5 min, by evaluation context.",
                    [Line(f"increase(gluepot_quality_rules_failed_total{{{JOB}}}[5m])", "{{context}}")],
                    COUNT,
                ),
            ],
        ),
        Row(
            "Machine",
            [
                Panel("Memory", "Resident, by role.", [Line(of_job("resident_memory_bytes"), "{{role}}")], BYTES),
                CORES_USED,
                Panel(
                    "Java's heap",
                    "In use after the last collection, and what it has.",
                    [Line(of_job("jvm_heap_used_bytes"), "used"), Line(of_job("jvm_heap_capacity_bytes"), "has")],
                    BYTES,
                ),
                Panel(
                    "Collecting garbage",
                    "Share of the time that the driver's Java spends on it.",
                    [Line(rate("jvm_gc_seconds_total", JOB), "{{job}}")],
                    SHARE,
                    warn_at=0.1,
                    bad_at=0.3,
                ),
            ],
        ),
    ],
    EVENTS,
)
