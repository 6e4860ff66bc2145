"""The board of one topic or stream."""

from __future__ import annotations

from scripts.dashboards.common import (
    ANY_JOB,
    CHOSEN,
    EVENTS,
    JOB,
    STREAM_NAME,
    STREAMS,
    of_job,
    rate,
)
from scripts.dashboards.panels import (
    COUNT,
    ROWS_PER_SEC,
    SECS,
    Board,
    Line,
    Panel,
    Row,
)

FETCHING = f'{JOB}, phase="fetch"'


def _of_stream(joined: str, expr: str) -> str:
    """Return values of queries as those of the streams they read; `joined` makes one of those of several processes."""
    return f"{CHOSEN} * on (job, query) group_left () {joined} by (job, query) ({expr})"


def _by_partition(name: str) -> str:
    return f"topk(20, {of_job(name)} and on (job, query) {CHOSEN})"


SOURCE = Board(
    "gluepot-source",
    "Gluepot: one source",
    "A topic of Kafka or a stream of Kinesis, as the jobs that read it see it. A job that reads several in one query"
    " counts them together.",
    [ANY_JOB, STREAMS],
    [
        Row(
            "Lag",
            [
                Panel(
                    "Records waiting",
                    "Behind the newest ones, over all partitions or shards.",
                    [Line(_of_stream("max", of_job("lag_total_records")), STREAM_NAME)],
                    COUNT,
                ),
                Panel(
                    "How long the oldest record has waited",
                    "In the partition or shard that is furthest behind.",
                    [Line(_of_stream("max", of_job("lag_worst_seconds")), STREAM_NAME)],
                    SECS,
                    warn_at=120,
                    bad_at=300,
                ),
                Panel(
                    "Records waiting by partition",
                    "With `--metrics-by-partition`. One line far above the others is a hot key.",
                    [Line(_by_partition("lag_records"), "{{partition}}")],
                    COUNT,
                ),
                Panel(
                    "Age by partition",
                    "With `--metrics-by-partition`.",
                    [Line(_by_partition("lag_seconds"), "{{partition}}")],
                    SECS,
                ),
            ],
        ),
        Row(
            "Reading",
            [
                Panel(
                    "Records read",
                    "A second.",
                    [Line(_of_stream("sum", rate("rows_in_total", JOB)), STREAM_NAME)],
                    ROWS_PER_SEC,
                ),
                Panel(
                    "Bytes read",
                    "Payload, a second. A shard of Kinesis gives 2 MB/s to all its readers together.",
                    [Line(_of_stream("sum", rate("bytes_in_total", JOB)), STREAM_NAME)],
                    "Bps",
                ),
                Panel(
                    "Positions",
                    "Offset behind the last record committed, with `--metrics-by-partition`; of Kafka.",
                    [Line(_by_partition("position"), "{{partition}}")],
                    COUNT,
                ),
                Panel(
                    "Partitions and empty triggers",
                    "Partitions or shards, and triggers in 5 min that found nothing.",
                    [
                        Line(_of_stream("max", of_job("partitions")), f"{STREAM_NAME} partitions"),
                        Line(
                            _of_stream("sum", f"increase(gluepot_empty_batches_total{{{JOB}}}[5m])"),
                            f"{STREAM_NAME} empty",
                        ),
                    ],
                    COUNT,
                ),
                Panel(
                    "Waiting for the source",
                    "Seconds of fetching a second, summed over tasks.",
                    [
                        Line(
                            _of_stream("sum", rate("batch_phase_seconds_sum", FETCHING)),
                            STREAM_NAME,
                        )
                    ],
                    COUNT,
                ),
                Panel(
                    "Reads refused",
                    "By the service, in 5 min, because they came too often. Of Kinesis.",
                    [
                        Line(
                            # Only streams that have a limit count; a topic of Kafka refuses nothing.
                            _of_stream(
                                "sum",
                                f"increase(gluepot_throttled_reads_total{{{JOB}}}[5m])"
                                f" or on (job, query) gluepot_source_info{{{JOB}}} * 0",
                            ),
                            STREAM_NAME,
                        )
                    ],
                    COUNT,
                ),
            ],
        ),
    ],
    EVENTS,
)
