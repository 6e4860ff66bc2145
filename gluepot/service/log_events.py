"""Log files of runs as the events of log streams."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from datetime import datetime
from functools import lru_cache
from pathlib import Path

from gluepot.service.decisions.log_streams import LogEvent

_MOST_BYTES = 1_000_000
_TERMS = re.compile(r'([?-]?)(?:"((?:[^"\\]|\\.)*)"|(\S+))')


def read_text(path: Path, offset: int, *, has_ended: bool = False) -> bytes:
    """Return the next whole lines of a file, a megabyte of them at most; a longer line comes in parts.

    Args:
        path: the file; one that is not there has no lines.
        offset: where to begin, in bytes; the begin of a line.
        has_ended: whether nothing follows the text that is there, so that its last line is whole without a line break.
    """
    try:
        with path.open("rb") as file:
            file.seek(offset)
            content = file.read(_MOST_BYTES)
    except FileNotFoundError:
        return b""
    is_full = len(content) == _MOST_BYTES
    whole = content if has_ended and not is_full else content[: content.rfind(b"\n") + 1]
    return whole or (content if is_full else b"")


def events_in(text: bytes, offset: int, carried_ms: int) -> Iterator[LogEvent]:
    """Yield lines as events.

    Args:
        text: the lines.
        offset: where they begin in their file, in bytes.
        carried_ms: the time of lines before the first one that tells its time.
    """
    at_ms = carried_ms
    for line in text.splitlines(keepends=True):
        message = line.decode(errors="replace").rstrip("\r\n")
        at_ms = time_of(message) or at_ms
        yield LogEvent(offset, offset + len(line), at_ms, message)
        offset += len(line)


def put_text(events: Iterable[tuple[int, str]]) -> bytes:
    """Return times and messages, which a client has put, as text that `put_events` reads."""
    return b"".join(json.dumps(event).encode() + b"\n" for event in events)


def put_events(text: bytes, offset: int) -> Iterator[LogEvent]:
    """Yield the events that a client has put.

    Args:
        text: of `put_text`.
        offset: how many events of the stream come before it.
    """
    for number, line in enumerate(text.splitlines(), offset):
        at_ms, message = json.loads(line)
        yield LogEvent(number, number + 1, at_ms, message)


def tail_offset(path: Path, end: int | None = None, most_bytes: int = _MOST_BYTES) -> int:
    """Return the begin of the first whole line in the last bytes of a file.

    Args:
        path: the file; one that is not there has no lines.
        end: the end of these bytes; None for that of the file.
        most_bytes: how many bytes.
    """
    try:
        size = path.stat().st_size
        begin = (size if end is None else min(end, size)) - most_bytes
        if begin <= 0:
            return 0
        with path.open("rb") as file:
            file.seek(begin)
            return begin + len(file.readline(most_bytes))
    except FileNotFoundError:
        return 0


def time_of(message: str) -> int | None:
    """Return the time that a line of our own log tells, in milliseconds since 1970; None for other lines."""
    if not message.startswith("{"):
        return None
    try:
        at_ms = round(datetime.fromisoformat(json.loads(message)["ts"]).timestamp() * 1000)
    except (ValueError, KeyError, TypeError, OverflowError, RecursionError):  # scripts print any JSON
        return None
    return at_ms if at_ms > 0 else None


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
