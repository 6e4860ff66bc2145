"""The live view of a terminal: one line per query."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.live import Live
from rich.table import Table
from rich.text import Text

from gluepot.core.clock import Clock
from gluepot.streaming.progress import BatchStats, input_rate, process_rate, window_ratio
from gluepot.streaming.side_tasks import side_task

COLUMNS = 9
BUSY_RATIO = 0.8
"""Share of the window from which a batch is shown in yellow; above the whole window it is red."""
IDLE_SECS = 10.0
"""How long no batch was committed before the line says so; longer windows take their own time."""


def render(stats_by_query: Mapping[str, BatchStats], now_epoch: float) -> Table:
    """Return one row per query: clock, batch, rows, input and process rate, batch time against window, lag, idle time.

    Args:
        stats_by_query: the newest batch of each query.
        now_epoch: the time, in seconds since 1970.
    """
    table = Table.grid(padding=(0, 2))
    for _ in range(COLUMNS):
        table.add_column(no_wrap=True)
    for query, stats in stats_by_query.items():
        table.add_row(
            Text(datetime.fromtimestamp(now_epoch).astimezone().strftime("%H:%M:%S"), style="dim"),
            Text(query, style="bold"),
            f"batch {stats.batch_id}",
            _rows(stats),
            f"in {input_rate(stats):,.0f}/s",
            f"process {process_rate(stats):,.0f}/s",
            _time(stats),
            _lag(stats),
            _idle(stats, now_epoch),
        )
    return table


class LiveView:
    """Keeps the lines up to date while it is open, once a second; log lines appear above them.

    For terminals only: `console` must be one. Safe to update from the threads of several queries.
    """

    def __init__(self, console: Console, clock: Clock) -> None:
        self._stats: dict[str, BatchStats] = {}
        self._clock = clock
        self._live = Live(console=console, get_renderable=self._rendered, refresh_per_second=1)

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
        self._live.refresh()

    def _rendered(self) -> Table:
        return render(self._stats, self._clock.epoch())


def _rows(stats: BatchStats) -> str:
    rejected = sum(stats.rejected.values())
    return f"{stats.rows_in:,} rows" + (f" ({rejected:,} rejected)" if rejected else "")


def _time(stats: BatchStats) -> Text:
    if stats.window_secs <= 0:
        return Text(f"{stats.duration_secs:.1f} s")
    ratio = window_ratio(stats)
    style = "red" if ratio > 1 else "yellow" if ratio > BUSY_RATIO else "green"
    return Text(f"{stats.duration_secs:.1f} of {stats.window_secs:g} s", style=style)


def _idle(stats: BatchStats, now_epoch: float) -> str:
    secs = now_epoch - stats.committed_epoch
    return f"idle {_duration(secs)}" if secs > max(IDLE_SECS, 2 * stats.window_secs) else ""


def _duration(secs: float) -> str:
    if secs < 60:
        return f"{secs:.0f} s"
    return f"{secs / 60:.0f} min" if secs < 3600 else f"{secs / 3600:.1f} h"


def _lag(stats: BatchStats) -> str:
    if not stats.lag_records:
        return ""
    age = f", {max(stats.lag_secs.values()):.0f} s" if stats.lag_secs else ""
    return f"lag {sum(stats.lag_records.values()):,}{age}"
