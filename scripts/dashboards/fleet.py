"""The board of all jobs."""

from __future__ import annotations

from scripts.dashboards.common import (
    ANY_JOB,
    EVENTS,
    JOB,
    QUERY_NAME,
    of_job,
    rate,
)
from scripts.dashboards.panels import (
    BYTES,
    COUNT,
    ROWS_PER_SEC,
    SECS,
    SHARE,
    Board,
    Line,
    Panel,
    Row,
)

FLEET = Board(
    "gluepot-fleet",
    "Gluepot: all jobs",
    "Which jobs run, which fall behind, which fail.",
    [ANY_JOB],
    [
        Row(
            "Now",
            [
                Panel(
                    "Streams",
                    "Queries that report.",
                    [Line(f"count({of_job('window_seconds')})", "")],
                    COUNT,
                    "number",
                    4,
                ),
                Panel(
                    "Not publishing",
                    "Streams whose driver holds no lease: they ended, or another driver took over.",
                    [Line(f"count({of_job('lease_held')} == 0) or vector(0)", "")],
                    COUNT,
                    "number",
                    4,
                    bad_at=1,
                ),
                Panel(
                    "Over their window",
                    "Streams whose batches took longer than the window for 10 min on average: they fall behind.",
                    [Line(f"count(avg_over_time({of_job('batch_window_ratio')}[10m]) > 1) or vector(0)", "")],
                    COUNT,
                    "number",
                    4,
                    warn_at=1,
                ),
                Panel(
                    "Oldest newest record",
                    "How long the oldest record that is not committed has waited, at most, of all streams.",
                    [Line(f"max({of_job('lag_worst_seconds')})", "")],
                    SECS,
                    "number",
                    4,
                    warn_at=120,
                    bad_at=300,
                ),
                Panel(
                    "Records waiting",
                    "Behind the newest ones, of all streams.",
                    [Line(f"sum({of_job('lag_total_records')})", "")],
                    COUNT,
                    "number",
                    4,
                ),
                Panel(
                    "Failing",
                    "Streams whose last attempt failed.",
                    [Line(f"count({of_job('failures_in_a_row')} > 0) or vector(0)", "")],
                    COUNT,
                    "number",
                    4,
                    warn_at=1,
                ),
            ],
        ),
        Row(
            "Streams",
            [
                Panel(
                    "Longest without a commit",
                    "Time since the last commit, by stream. An idle stream has none either.",
                    [Line(f"sort_desc(max by (job, query) ({of_job('last_commit_age_seconds')}))", "")],
                    SECS,
                    "table",
                    warn_at=300,
                    bad_at=900,
                ),
                Panel(
                    "Fullest windows",
                    "Share of the window that a batch took, average of 10 min.",
                    [Line(f"sort_desc(max by (job, query) (avg_over_time({of_job('batch_window_ratio')}[10m])))", "")],
                    SHARE,
                    "table",
                    warn_at=0.8,
                    bad_at=1,
                ),
                Panel(
                    "Records in",
                    "By job.",
                    [Line(f"sum by (job) ({rate('rows_in_total', JOB)})", "{{job}}")],
                    ROWS_PER_SEC,
                ),
                Panel(
                    "How long the oldest record has waited",
                    "By stream, in the partition that is furthest behind.",
                    [Line(of_job("lag_worst_seconds"), QUERY_NAME)],
                    SECS,
                    warn_at=120,
                    bad_at=300,
                ),
                Panel(
                    "Failed attempts",
                    "In the last 15 min, by stream.",
                    [Line(f"increase(gluepot_failures_total{{{JOB}}}[15m])", QUERY_NAME)],
                    COUNT,
                ),
                Panel(
                    "Memory",
                    "Resident, driver and workers together, by job.",
                    [Line(f"sum by (job) ({of_job('resident_memory_bytes')})", "{{job}}")],
                    BYTES,
                ),
            ],
        ),
    ],
    EVENTS,
)
