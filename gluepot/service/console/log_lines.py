"""Lines of logs as people read them. Pure."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from gluepot.core.masking import mask, mask_text
from gluepot.service.decisions.log_streams import LogEvent

# A browser is slow with longer lines, and nobody reads them there.
_MOST_CHARS = 4000
_OWN = frozenset({"ts", "level", "msg", "logger", "job", "run_id"})
_LEVELS = frozenset({"debug", "info", "warning", "error", "critical"})


@dataclass(frozen=True, slots=True)
class LogLine:
    """One line.

    Args:
        time: of day, UTC; empty for a line that does not tell it.
        level: in lower case; empty if it has none.
        text: what happened, or the line as it is.
        values: the rest, as `name=value`.
    """

    time: str
    level: str
    text: str
    values: str


@dataclass(frozen=True, slots=True)
class LogPiece:
    """A part of a log.

    Args:
        lines: its lines.
        end: where the next part begins, in bytes.
        left_out: how many lines before these were left out, because there were too many.
    """

    lines: Sequence[LogLine]
    end: int
    left_out: int = 0


def newest_lines(events: Sequence[LogEvent], begin: int, most: int) -> LogPiece:
    """Return the newest lines.

    Args:
        events: the lines.
        begin: where they begin, in bytes.
        most: how many are shown.
    """
    shown = events[-most:]
    return LogPiece([log_line(one.message) for one in shown], _end(events, begin), len(events) - len(shown))


def first_lines(events: Sequence[LogEvent], begin: int, most: int) -> LogPiece:
    """Return the first lines; arguments as in `newest_lines`."""
    shown = events[:most]
    return LogPiece([log_line(one.message) for one in shown], _end(shown, begin))


def log_line(message: str) -> LogLine:
    """Return a line without secrets. One of our own log is taken apart."""
    found = _own(message)
    if found is None:
        return LogLine("", "", _cut(mask_text(message)), "")
    level = str(found.get("level", ""))
    values = mask({name: value for name, value in found.items() if name not in _OWN})
    return LogLine(
        str(found["ts"])[11:19],
        level if level in _LEVELS else "",
        _cut(mask_text(str(found["msg"]))),
        _cut(" ".join(f"{name}={value}" for name, value in values.items())),
    )


def _own(message: str) -> dict[str, Any] | None:
    if not message.startswith("{"):
        return None
    try:
        found = json.loads(message)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) and {"ts", "msg"} <= found.keys() else None


def _end(events: Sequence[LogEvent], begin: int) -> int:
    return events[-1].end if events else begin


def _cut(text: str) -> str:
    return text if len(text) <= _MOST_CHARS else f"{text[:_MOST_CHARS]} ..."
