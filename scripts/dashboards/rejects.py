"""The board of records that did not go on, and of columns that changed."""

from __future__ import annotations

from scripts.dashboards.common import (
    ANY_JOB,
    EVENTS,
    QUERIES,
    QUERY,
    QUERY_NAME,
    of_query,
    rate,
)
from scripts.dashboards.panels import (
    COUNT,
    ROWS_PER_SEC,
    SHARE,
    Board,
    Line,
    Panel,
    Row,
)

REJECTS = Board(
    "gluepot-rejects",
    "Gluepot: dead letters and schema",
    "Records that did not go on, and columns that changed. `gluepot dlq list TABLE` shows the records themselves.",
    [ANY_JOB, QUERIES],
    [
        Row(
            "Dead letters",
            [
                Panel(
                    "Rejected",
                    "In the time shown.",
                    [Line(f"sum(increase(gluepot_rows_rejected_total{{{QUERY}}}[$__range]))", "")],
                    COUNT,
                    "number",
                    6,
                    warn_at=1,
                ),
                Panel(
                    "Share of the records",
                    "Rejected over read, in the time shown.",
                    [
                        Line(
                            f"sum(increase(gluepot_rows_rejected_total{{{QUERY}}}[$__range]))"
                            f" / sum(increase(gluepot_rows_in_total{{{QUERY}}}[$__range]))",
                            "",
                        )
                    ],
                    SHARE,
                    "number",
                    6,
                    warn_at=0.001,
                    bad_at=0.01,
                ),
                Panel(
                    "Columns that changed",
                    "In the time shown, by kind.",
                    [Line(f"sum by (kind) (increase(gluepot_schema_changes_total{{{QUERY}}}[$__range]))", "{{kind}}")],
                    COUNT,
                    "number",
                    12,
                ),
                Panel(
                    "Rejected by reason",
                    "A second.",
                    [
                        Line(
                            f"sum by (job, query, reason) ({rate('rows_rejected_total')})",
                            f"{QUERY_NAME} {{{{reason}}}}",
                        )
                    ],
                    ROWS_PER_SEC,
                ),
                Panel(
                    "Reasons",
                    "Since each process began.",
                    [Line(f"sort_desc(sum by (job, query, reason) ({of_query('rows_rejected_total')}))", "")],
                    COUNT,
                    "table",
                ),
            ],
        ),
        Row(
            "Schema",
            [
                Panel(
                    "Columns added or changed",
                    "In 5 min, by kind: `added` is new, `type` has another type.",
                    [Line(f"increase(gluepot_schema_changes_total{{{QUERY}}}[5m])", f"{QUERY_NAME} {{{{kind}}}}")],
                    COUNT,
                ),
                Panel(
                    "Read and written",
                    "Records a second. What lies between the lines was rejected, or left out by the script.",
                    [
                        Line(rate("rows_in_total"), f"{QUERY_NAME} in"),
                        Line(rate("rows_out_total"), f"{QUERY_NAME} out"),
                    ],
                    ROWS_PER_SEC,
                ),
            ],
        ),
    ],
    EVENTS,
)
