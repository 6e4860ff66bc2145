"""Keeps the newest log lines of this process, in a memory of limited size."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from gluepot.core.masking import mask

MOST_LINES = 200
MOST_CHARS = 400
_OWN_COLUMNS = frozenset({"ts", "level", "event", "logger", "job", "run_id"})


@dataclass(frozen=True, slots=True)
class LogLine:
    """One line.

    Args:
        time: time in ISO format, UTC.
        level: level in lower case.
        event: name of the event.
        values: the other values as `name=value`, without secrets.
    """

    time: str
    level: str
    event: str
    values: str


@dataclass(slots=True)
class LogTail:
    """Keeps the newest lines. Appending and copying a deque are atomic, so threads need no lock."""

    _lines: deque[LogLine] = field(default_factory=lambda: deque(maxlen=MOST_LINES))

    def take(self, event: Mapping[str, Any]) -> None:
        """Add an event, in structlog's form before it becomes text."""
        values = mask({name: value for name, value in event.items() if name not in _OWN_COLUMNS})
        self._lines.append(
            LogLine(
                str(event.get("ts", "")),
                str(event.get("level", "info")),
                _cut(str(event.get("event", ""))),
                _cut(" ".join(f"{name}={value}" for name, value in values.items())),
            )
        )

    def newest_first(self) -> Sequence[LogLine]:
        """Return the lines."""
        return tuple(reversed(self._lines.copy()))


def _cut(text: str) -> str:
    return text if len(text) <= MOST_CHARS else f"{text[:MOST_CHARS]} ..."
