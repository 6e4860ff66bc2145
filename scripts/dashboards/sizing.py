"""The board for sizing."""

from __future__ import annotations

from scripts.dashboards.common import (
    ANY_JOB,
    BATCH_AND_WINDOW,
    CORES_USED,
    EVENTS,
    LAG_RECORDS,
    LATENCY,
    QUERIES,
    QUERY_NAME,
    RATES,
    ROWS_OF_BATCH,
    of_job,
    of_query,
    quantile,
)
from scripts.dashboards.panels import (
    COUNT,
    ROWS_PER_SEC,
    SECS,
    SHARE,
    Board,
    Line,
    Number,
    Panel,
    Row,
)

_BY_SLOT = f"avg_over_time({of_query('process_rate')}[10m]) / on (job) group_left () {of_job('task_slots')}"
_ARRIVING = f"avg_over_time({of_query('input_rate')}[10m])"

SIZING = Board(
    "gluepot-sizing",
    "Gluepot: sizing",
    "How many workers, and which window: the method of AWS's best practices for Glue streaming. Let ten batches pass"
    " after a start; a batch should take less than half the latency that is asked for, because a record may wait a"
    " window and then a batch.",
    [ANY_JOB, QUERIES, Number("sla", "Latency asked for, seconds", 60)],
    [
        Row(
            "Does it fit?",
            [
                Panel(
                    "Share of the window",
                    "Batch time over window, average of 10 min. Above 80 % little more traffic fits.",
                    [Line(f"avg_over_time({of_query('batch_window_ratio')}[10m])", QUERY_NAME)],
                    SHARE,
                    "number",
                    6,
                    warn_at=0.7,
                    bad_at=1,
                ),
                Panel(
                    "Share of half the latency",
                    "Batch time (95 %) over half of the latency asked for: above 100 % the goal is missed even without"
                    " a backlog.",
                    [Line(f"{quantile(0.95, 'batch_duration_seconds')} / ($sla / 2)", QUERY_NAME)],
                    SHARE,
                    "number",
                    6,
                    warn_at=0.8,
                    bad_at=1,
                ),
                Panel(
                    "Task slots needed",
                    "Records that arrive a second over those that one slot works off a second, 10 min; what there is"
                    " should be a quarter more.",
                    [Line(f"{_ARRIVING} / ({_BY_SLOT})", QUERY_NAME)],
                    COUNT,
                    "number",
                    6,
                ),
                Panel(
                    "Workers wanted",
                    "What the advisor says, with `--advice-log`.",
                    [Line(of_query("advised_workers"), QUERY_NAME)],
                    COUNT,
                    "number",
                    6,
                ),
            ],
        ),
        Row(
            "Input and work",
            [
                RATES,
                Panel(
                    "Batch time, window, half the latency",
                    BATCH_AND_WINDOW.says,
                    [*BATCH_AND_WINDOW.lines, Line("vector($sla / 2)", "half the latency asked for")],
                    SECS,
                ),
                ROWS_OF_BATCH,
                LATENCY,
                LAG_RECORDS,
            ],
        ),
        Row(
            "Capacity",
            [
                Panel(
                    "Records a second of one slot",
                    "The figure to divide the expected traffic by. Larger batches go faster, up to a point.",
                    [Line(_BY_SLOT, QUERY_NAME)],
                    ROWS_PER_SEC,
                ),
                Panel(
                    "Workers, slots, partitions",
                    "Each partition is a task: slots beyond them stand idle unless the batch is repartitioned.",
                    [
                        Line(of_job("workers"), "{{job}} workers"),
                        Line(of_job("task_slots"), "{{job}} slots"),
                        Line(of_query("partitions"), f"{QUERY_NAME} partitions"),
                        Line(of_query("advised_workers"), f"{QUERY_NAME} workers wanted"),
                    ],
                    COUNT,
                ),
                CORES_USED,
                Panel(
                    "Held back by",
                    "What the advisor takes for the limit, and how sure its model of a batch is.",
                    [
                        Line(f"{of_query('advice_limit')} == 1", f"{QUERY_NAME} {{{{limit}}}}"),
                        Line(of_query("advice_confidence"), f"{QUERY_NAME} confidence"),
                    ],
                    COUNT,
                ),
            ],
        ),
    ],
    EVENTS,
)
