"""Prints rows as a table for people or as JSON for programs."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from threading import Timer
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table

Output = Literal["text", "json"]
Row = dict[str, Any]
_PIPE_WIDTH = 10_000


@contextmanager
def told_after(secs: float, sentence: str) -> Iterator[None]:
    """Tell people on standard error what the block waits for, if it takes longer than some seconds."""
    timer = Timer(secs, lambda: print(sentence, file=sys.stderr, flush=True))
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def show(rows: Sequence[Row], output: Output, nothing: str) -> None:
    """Print rows that have the same keys, as a table or a JSON list.

    Args:
        rows: the rows to show.
        output: text or json.
        nothing: the sentence to print as text if there are no rows.
    """
    if output == "json":
        print(json.dumps(rows, ensure_ascii=False))
    elif rows:
        print_wide(table(rows))
    else:
        print(nothing)


def table(rows: Sequence[Mapping[str, Any]], columns: Sequence[str] = (), *, thousands: bool = False) -> Table:
    """Return rows as all commands show them: numbers to the right, a line below the names of the columns.

    Args:
        rows: at least one; the first has all columns.
        columns: the columns to show; all by default.
        thousands: separate thousands by commas, for columns that hold quantities and no ids.
    """
    from rich.box import SIMPLE  # noqa: PLC0415  every command imports this module
    from rich.table import Table  # noqa: PLC0415  as above
    from rich.text import Text  # noqa: PLC0415  as above

    names = list(columns or rows[0])
    made = Table(box=SIMPLE, show_edge=False)
    for name in names:
        numbers = all(isinstance(row[name], int | float | None) for row in rows) and not isinstance(rows[0][name], bool)
        made.add_column(name.replace("_", " "), overflow="fold", justify="right" if numbers else "left")
    for row in rows:
        # Text, because names may look like markup.
        made.add_row(*(Text(_text(row[name], thousands=thousands)) for name in names))
    return made


def print_wide(shown: RenderableType) -> None:
    """Print to the terminal in its width, and to anything else without wrapping a line."""
    from rich.console import Console  # noqa: PLC0415  as above

    console = Console()
    (console if console.is_terminal else Console(width=_PIPE_WIDTH)).print(shown)


def time_of(epoch_ms: int | None) -> str | None:
    """Return a time stamp as ISO text in UTC."""
    return None if epoch_ms is None else datetime.fromtimestamp(epoch_ms / 1000, UTC).isoformat(timespec="milliseconds")


def _text(value: object, *, thousands: bool = False) -> str:
    match value:
        case None:
            return "-"
        case bool():
            return "yes" if value else "no"
        case int() if thousands:
            return f"{value:,}"
        case list():
            return ", ".join(map(str, value))
        case _:
            return str(value)
