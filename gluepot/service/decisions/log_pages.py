"""Pages of log events: what a page holds, how much text a call looks at, and where the next page begins. Pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from gluepot.service.decisions.log_streams import LogEvent, LogStream

_MOST_DIGITS = 18


@dataclass(frozen=True, slots=True)
class Position:
    """A place in the text of a group.

    Args:
        number: of the stream.
        offset: in its text, in bytes.
        carried_ms: the time of the lines that follow, until one tells its own.
    """

    number: int
    offset: int
    carried_ms: int

    @property
    def token(self) -> str:
        """What a client gives back to go on here."""
        return f"{self.number}/{self.offset}/{self.carried_ms}"


@dataclass(frozen=True, slots=True)
class Limits:
    """What one call does at most.

    Args:
        events: how many events it returns.
        text_bytes: how much text it returns.
        read_bytes: after how much text it looks at no more.
        streams: how many streams it opens.
    """

    events: int = 10_000
    text_bytes: int = 1_000_000
    read_bytes: int = 2_000_000
    streams: int = 500


@dataclass(frozen=True, slots=True)
class LogPage:
    """A page of events.

    Args:
        events: with their streams.
        end: where the next page begins; None if there is no stream.
        is_last: whether all text was looked at.
    """

    events: Sequence[tuple[LogStream, LogEvent]]
    end: Position | None
    is_last: bool


def position_in(token: str) -> Position | None:
    """Return the position that a token stands for; None if no answer had it."""
    parts = token.split("/")
    if len(parts) != 3 or not all(one.isascii() and one.isdecimal() and len(one) <= _MOST_DIGITS for one in parts):
        return None
    return Position(*map(int, parts))


def begin_of(stream: LogStream) -> Position:
    """Return where a stream begins."""
    return Position(stream.number, 0, stream.created_ms)


def log_page(
    streams: Sequence[LogStream],
    read: Callable[[LogStream, int, int], Sequence[LogEvent]],
    begin: Position | None,
    is_wanted: Callable[[LogEvent], bool],
    limits: Limits,
) -> LogPage:
    """Return a page of events, stream after stream.

    A page may be empty although events follow, if it took much text to find none.

    Args:
        streams: those that the call may open, in the order of their numbers, and one more if there are more.
        read: returns the next lines of a stream, given where they begin and the time that they carry.
        begin: where the page begins; None for the begin of the first stream.
        is_wanted: whether an event belongs to the answer.
        limits: of the call.
    """
    events: list[tuple[LogStream, LogEvent]] = []
    end, text_left, read_left = begin, limits.text_bytes, limits.read_bytes
    for stream in streams[: limits.streams]:
        if end is None or end.number != stream.number:
            end = begin_of(stream)
        while piece := read(stream, end.offset, end.carried_ms) if read_left > 0 else []:
            for event in piece:
                if is_wanted(event):
                    if len(events) == limits.events or (event.size > text_left and events):
                        return LogPage(events, end, is_last=False)
                    events.append((stream, event))
                    text_left -= event.size
                end = Position(stream.number, event.end, event.at_ms)
            read_left -= sum(event.size for event in piece)
        if read_left <= 0:
            return LogPage(events, end, is_last=False)
    return LogPage(events, end, is_last=len(streams) <= limits.streams)
