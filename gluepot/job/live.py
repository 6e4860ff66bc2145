"""The live view of a terminal: one line per query."""

from __future__ import annotations

from collections.abc import Mapping
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.live import Live
from rich.table import Table
from rich.text import Text

from gluepot.streaming.progress import BatchStats, input_rate, process_rate, window_ratio
from gluepot.streaming.side_tasks import side_task

COLUMNS = 7
BUSY_RATIO = 0.8
"""Share of the window from which a batch is shown in yellow; above the whole window it is red."""


def render(stats_by_query: Mapping[str, BatchStats]) -> Table:
    """Return one row per query: batch, rows, input and process rate, batch time against window, lag."""
    table = Table.grid(padding=(0, 2))
    for _ in range(COLUMNS):
        table.add_column(no_wrap=True)
    for query, stats in stats_by_query.items():
        table.add_row(
            Text(query, style="bold"),
            f"batch {stats.batch_id}",
            _rows(stats),
            f"in {input_rate(stats):,.0f}/s",
            f"process {process_rate(stats):,.0f}/s",
            _time(stats),
            _lag(stats),
        )
    return table


class LiveView:
    """Keeps the lines up to date while it is open; log lines appear above them.

    For terminals only: `console` must be one. Safe to update from the threads of several queries.
    """

    def __init__(self, console: Console) -> None:
        self._stats: dict[str, BatchStats] = {}
        self._live = Live(render(self._stats), console=console, auto_refresh=False)

    def __enter__(self) -> Self:
        """Start to draw."""
        self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Leave the last state on the screen."""
        self._live.stop()

    @side_task("live_view")
    def update(self, stats: BatchStats) -> None:
        """Show a query's newest batch."""
        self._stats = {**self._stats, stats.query: stats}
        self._live.update(render(self._stats), refresh=True)


def _rows(stats: BatchStats) -> str:
    rejected = sum(stats.rejected.values())
    return f"{stats.rows_in:,} rows" + (f" ({rejected:,} rejected)" if rejected else "")


def _time(stats: BatchStats) -> Text:
    if stats.window_secs <= 0:
        return Text(f"{stats.duration_secs:.1f} s")
    ratio = window_ratio(stats)
    style = "red" if ratio > 1 else "yellow" if ratio > BUSY_RATIO else "green"
    return Text(f"{stats.duration_secs:.1f} of {stats.window_secs:g} s", style=style)


def _lag(stats: BatchStats) -> str:
    if not stats.lag_records:
        return ""
    age = f", {max(stats.lag_secs.values()):.0f} s" if stats.lag_secs else ""
    return f"lag {sum(stats.lag_records.values()):,}{age}"
