"""Prints rows as a table for people or as JSON for programs."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, Literal

Output = Literal["text", "json"]
Row = dict[str, Any]


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
        from rich.box import SIMPLE  # noqa: PLC0415  every command imports this module
        from rich.console import Console  # noqa: PLC0415  as above
        from rich.table import Table  # noqa: PLC0415  as above
        from rich.text import Text  # noqa: PLC0415  as above

        table = Table(box=SIMPLE, show_edge=False)
        for name in rows[0]:
            table.add_column(name.replace("_", " "), overflow="fold")
        for row in rows:
            table.add_row(*(Text(_text(value)) for value in row.values()))  # Text: names may look like markup
        console = Console()
        console.print(table) if console.is_terminal else Console(width=250).print(table)
    else:
        print(nothing)


def time_of(epoch_ms: int | None) -> str | None:
    """Return a time stamp as ISO text in UTC."""
    return None if epoch_ms is None else datetime.fromtimestamp(epoch_ms / 1000, UTC).isoformat(timespec="milliseconds")


def counted(number: int, noun: str) -> str:
    """Return a number with its noun: `1 shard`, `2 shards`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _text(value: object) -> str:
    match value:
        case None:
            return "-"
        case bool():
            return "yes" if value else "no"
        case list():
            return ", ".join(map(str, value))
        case _:
            return str(value)
