"""Keeps the index of log streams in the service's database."""

from __future__ import annotations

from collections.abc import Collection, Container, Sequence
from dataclasses import fields
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    RowMapping,
    and_,
    bindparam,
    delete,
    func,
    insert,
    or_,
    select,
    tuple_,
    update,
)

from gluepot.service.decisions.log_streams import FILES, LogStream, Window
from gluepot.service.store.tables import log_streams

_T = log_streams.c
_CHANGING = ("place", "first_ms", "last_ms", "written_ms", "size", "carried_ms", "is_open")
_SAME = [one.name for one in fields(LogStream) if one.name != "group"]
_HIGHEST = "\U0010ffff"


class LogRows:
    """Log streams, in one transaction.

    Args:
        connection: of the transaction.
    """

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def stream(self, group: str, name: str) -> LogStream | None:
        """Return a stream; None if there is none of this name."""
        query = select(log_streams).where(_T.log_group == group, _T.name == name)
        row = self._connection.execute(query).mappings().first()
        return None if row is None else _stream(row)

    def of_numbers(self, numbers: Sequence[int]) -> list[LogStream]:
        """Return the streams of runs.

        Args:
            numbers: of the runs.
        """
        query = select(log_streams).where(_T.log_group.in_(list(FILES)), _T.number.in_(numbers))
        return [_stream(row) for row in self._connection.execute(query).mappings()]

    def in_range(self, group: str, window: Window, first: int, most: int, prefix: str = "") -> list[LogStream]:
        """Return streams that may have events in a range of times, in the order of their numbers.

        Args:
            group: the group.
            window: the range; a stream to which more text may be added may have any time.
            first: the smallest number.
            most: the largest number of streams.
            prefix: only streams whose names begin so.
        """
        query = select(log_streams).where(_T.log_group == group, _T.number >= first)
        overlaps: list[ColumnElement[bool]] = [_T.last_ms >= window.begin_ms] if window.begin_ms > 0 else []
        if window.end_ms is not None:
            overlaps.append(_T.first_ms < window.end_ms)
        if overlaps:
            query = query.where(or_(_T.is_open, and_(*overlaps)))
        query = query.where(*_begins(prefix)).order_by(_T.number).limit(most)
        return [_stream(row) for row in self._connection.execute(query).mappings()]

    def by_name(self, group: str, prefix: str, after: str | None, most: int, *, descending: bool) -> list[LogStream]:
        """Return a page of streams in the order of their names.

        Args:
            group: the group.
            prefix: only streams whose names begin so.
            after: the name that comes before the first one; None for the first page.
            most: the largest number of streams.
            descending: the last name first.
        """
        query = select(log_streams).where(_T.log_group == group, *_begins(prefix))
        if after is not None:
            query = query.where(_T.name < after if descending else _T.name > after)
        query = query.order_by(_T.name.desc() if descending else _T.name).limit(most)
        return [_stream(row) for row in self._connection.execute(query).mappings()]

    def by_time(self, group: str, after: tuple[int, str] | None, most: int, *, descending: bool) -> list[LogStream]:
        """Return a page of streams in the order in which text was added last.

        Args:
            group: the group.
            after: time and name of the stream before the first one; None for the first page.
            most: the largest number of streams.
            descending: the newest first.
        """
        query = select(log_streams).where(_T.log_group == group)
        place = tuple_(_T.written_ms, _T.name)
        if after is not None:
            query = query.where(place < after if descending else place > after)
        order = [_T.written_ms.desc(), _T.name.desc()] if descending else [_T.written_ms, _T.name]
        query = query.order_by(*order).limit(most)
        return [_stream(row) for row in self._connection.execute(query).mappings()]

    def save(self, streams: Sequence[LogStream], known: Container[tuple[str, int]]) -> None:
        """Save streams. One of an older run with the same name is replaced, and one of a newer run stays.

        Args:
            streams: of runs.
            known: group and number of those that are there.
        """
        there = [one for one in streams if (one.group, one.number) in known]
        added = [one for one in streams if (one.group, one.number) not in known and self._makes_room(one)]
        if there:
            columns: dict[str, Any] = {name: bindparam(f"new_{name}") for name in _CHANGING}
            same = _T.log_group == bindparam("of_group"), _T.number == bindparam("of_number")
            changed = [
                {"of_group": one.group, "of_number": one.number}
                | {f"new_{name}": getattr(one, name) for name in _CHANGING}
                for one in there
            ]
            self._connection.execute(update(log_streams).where(*same).values(columns), changed)
        if added:
            self._connection.execute(insert(log_streams), [_row(one) for one in added])

    def _makes_room(self, stream: LogStream) -> bool:
        """Delete the stream of an older run with the same name; return False if it is of a newer one."""
        if stream.name == stream.run:  # no other run has it
            return True
        other = self.stream(stream.group, stream.name)
        if other is None:
            return True
        if other.number > stream.number:
            return False
        self._connection.execute(delete(log_streams).where(_T.log_group == stream.group, _T.number == other.number))
        return True

    def add(self, group: str, name: str, now_ms: int) -> LogStream:
        """Add a stream that clients write."""
        newest = select(func.max(_T.number)).where(_T.log_group == group)
        # Tokens name numbers, so that no stream may have that of one that was deleted.
        number = max(self._connection.execute(newest).scalar() or 0, now_ms) + 1
        stream = LogStream(group, number, name, "", "", now_ms, 0, 0, 0, 0, 0, is_open=False)
        self._connection.execute(insert(log_streams).values(_row(stream)))
        return stream

    def change(self, stream: LogStream) -> None:
        """Save a stream that clients write."""
        self.save([stream], {(stream.group, stream.number)})

    def delete(self, stream: LogStream) -> None:
        """Delete a stream."""
        this = _T.log_group == stream.group, _T.number == stream.number
        self._connection.execute(delete(log_streams).where(*this))

    def delete_group(self, group: str) -> None:
        """Delete the streams of a group."""
        self._connection.execute(delete(log_streams).where(_T.log_group == group))

    def stored_bytes(self, groups: Sequence[str]) -> dict[str, int]:
        """Return how much text groups have; those without a stream are left out."""
        query = select(_T.log_group, func.sum(_T.size)).where(_T.log_group.in_(groups)).group_by(_T.log_group)
        return {group: int(size) for group, size in self._connection.execute(query)}

    def forget_runs(self, numbers: Collection[int]) -> None:
        """Delete the streams of runs.

        Args:
            numbers: of the runs.
        """
        self._connection.execute(delete(log_streams).where(_T.log_group.in_(list(FILES)), _T.number.in_(numbers)))


def _begins(prefix: str) -> list[ColumnElement[bool]]:
    # By comparison, because an index serves no LIKE, which also ignores case in SQLite.
    return [_T.name >= prefix, _T.name < prefix + _HIGHEST] if prefix else []


def _stream(row: RowMapping) -> LogStream:
    return LogStream(**{"group" if name == "log_group" else name: value for name, value in row.items()})


def _row(stream: LogStream) -> dict[str, Any]:
    return {"log_group": stream.group, **{name: getattr(stream, name) for name in _SAME}}
