"""Log files of runs as the events of log streams."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from pathlib import Path

_MOST_BYTES = 1_000_000
_TERMS = re.compile(r'([?-]?)(?:"((?:[^"\\]|\\.)*)"|(\S+))')


@dataclass(frozen=True, slots=True)
class LogEvent:
    """A line of a log.

    Args:
        offset: where it begins in the file, in bytes.
        end: where the next line begins.
        at_ms: when it was written, as well as that is known, in milliseconds since 1970.
        message: the line.
    """

    offset: int
    end: int
    at_ms: int
    message: str


def read_events(path: Path, offset: int, begun_ms: int) -> Iterator[LogEvent]:
    """Yield the whole lines of a file, a megabyte of them at most.

    Args:
        path: the file; one that is not there has no lines.
        offset: where to begin, in bytes; the begin of a line.
        begun_ms: the time of lines before the first one that tells its time.
    """
    try:
        with path.open("rb") as file:
            file.seek(offset)
            content = file.read(_MOST_BYTES)
    except FileNotFoundError:
        return
    whole = content[: content.rfind(b"\n") + 1] or (content if len(content) == _MOST_BYTES else b"")
    at_ms = begun_ms
    for line in whole.splitlines(keepends=True):
        message = line.decode(errors="replace").rstrip("\r\n")
        at_ms = time_of(message) or at_ms
        yield LogEvent(offset, offset + len(line), at_ms, message)
        offset += len(line)


def tail_offset(path: Path, most_bytes: int | None = None) -> int:
    """Return the begin of the first whole line in the last bytes of a file.

    Args:
        path: the file; one that is not there has no lines.
        most_bytes: how many bytes; None for a megabyte.
    """
    most = most_bytes or _MOST_BYTES
    try:
        size = path.stat().st_size
        if size <= most:
            return 0
        with path.open("rb") as file:
            file.seek(size - most)
            return size - most + len(file.readline())
    except FileNotFoundError:
        return 0


def time_of(message: str) -> int | None:
    """Return the time that a line of our own log tells, in milliseconds since 1970; None for other lines."""
    if not message.startswith("{"):
        return None
    try:
        return round(datetime.fromisoformat(json.loads(message)["ts"]).timestamp() * 1000)
    except (ValueError, KeyError, TypeError):
        return None


def matches(pattern: str, message: str) -> bool:
    """Return whether a message has the terms of a filter pattern.

    Terms are words or quoted texts. All have to be there; of those with `?` one is enough; those with `-` must not be.
    """
    terms = _terms(pattern)
    needed = all(text in message for sign, text in terms if not sign)
    excluded = any(text in message for sign, text in terms if sign == "-")
    options = [text for sign, text in terms if sign == "?"]
    return needed and not excluded and (not options or any(text in message for text in options))


@lru_cache(maxsize=64)
def _terms(pattern: str) -> tuple[tuple[str, str], ...]:
    """Return the sign and the text of each term of a filter pattern."""
    return tuple((sign, quoted or word) for sign, quoted, word in _TERMS.findall(pattern))
