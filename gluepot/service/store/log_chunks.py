"""Keeps text of log streams in the service's database, packed in chunks."""

from __future__ import annotations

import zlib
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, delete, insert, select

from gluepot.service.store.tables import log_chunks

_T = log_chunks.c
# Text that is added to a smaller chunk joins it, so that a stream that grows by lines has few chunks.
_FULL_BYTES = 250_000
# What one read returns at most, besides the chunk that goes beyond it.
_READ_BYTES, _READ_CHUNKS = 1_000_000, 8


@dataclass(frozen=True, slots=True)
class Chunk:
    """A part of the text of a stream.

    Args:
        begin: where it begins: in bytes of a run's file, in events of a client's stream.
        end: where the next one begins.
        last_ms: the latest time in it, in milliseconds since 1970.
        content: the text; chunks that follow one another can be joined.
    """

    begin: int
    end: int
    last_ms: int
    content: bytes


class LogChunkRows:
    """The text of log streams, in one transaction.

    Args:
        connection: of the transaction.
    """

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def add(self, group: str, number: int, chunk: Chunk) -> None:
        """Add text at the end of a stream. Text that is there already is not added again."""
        last = self._last(group, number)
        if last is not None and chunk.begin < last.ends:
            return
        if last is not None and last.ends == chunk.begin and last.size < _FULL_BYTES:
            before = _chunk(last)
            last_ms = max(before.last_ms, chunk.last_ms)
            chunk = Chunk(before.begin, chunk.end, last_ms, before.content + chunk.content)
            self._connection.execute(delete(log_chunks).where(*_of(group, number), _T.begins == before.begin))
        self._connection.execute(insert(log_chunks), [_row(group, number, chunk)])

    def add_first(self, chunks: Sequence[tuple[str, int, Chunk]]) -> None:
        """Add text to streams that have none yet, given their groups and numbers."""
        if chunks:
            self._connection.execute(insert(log_chunks), [_row(*one) for one in chunks])

    def end(self, group: str, number: int) -> int:
        """Return where the text that is there ends."""
        last = self._last(group, number)
        return 0 if last is None else last.ends

    def read(self, group: str, number: int, offset: int) -> list[Chunk]:
        """Return the chunks from a place on, about a megabyte of them.

        Args:
            group: of the stream.
            number: of the stream.
            offset: a place in the first chunk, or at its begin.
        """
        sizes = select(_T.begins, _T.size).where(*_of(group, number), _T.ends > offset).order_by(_T.begins)
        chosen = _first(self._connection.execute(sizes.limit(_READ_CHUNKS)).all())
        if not chosen:
            return []
        query = select(log_chunks).where(*_of(group, number), _T.begins.between(chosen[0], chosen[-1]))
        return [_chunk(row) for row in self._connection.execute(query.order_by(_T.begins))]

    def tail(self, group: str, number: int, end: int | None, most_bytes: int) -> int:
        """Return the begin of the last chunks before a place.

        Args:
            group: of the stream.
            number: of the stream.
            end: the place; None for the end of the text.
            most_bytes: how much text, unless one chunk has more.
        """
        sizes = select(_T.begins, _T.size).where(*_of(group, number))
        if end is not None:
            sizes = sizes.where(_T.begins < end)
        sizes = sizes.order_by(_T.begins.desc()).limit(_READ_CHUNKS)
        return min(_first(self._connection.execute(sizes).all(), most_bytes), default=0)

    def forget(self, groups: Collection[str], numbers: Collection[int]) -> None:
        """Delete the text of streams."""
        self._connection.execute(delete(log_chunks).where(_T.log_group.in_(groups), _T.number.in_(numbers)))

    def forget_group(self, group: str, before_ms: int | None = None) -> None:
        """Delete the text of a group; with a moment, only chunks that are older as a whole."""
        older = [] if before_ms is None else [_T.last_ms < before_ms]
        self._connection.execute(delete(log_chunks).where(_T.log_group == group, *older))

    def _last(self, group: str, number: int) -> Row[Any] | None:
        query = select(log_chunks).where(*_of(group, number)).order_by(_T.begins.desc()).limit(1)
        return self._connection.execute(query).first()


def _of(group: str, number: int) -> tuple[ColumnElement[bool], ColumnElement[bool]]:
    return _T.log_group == group, _T.number == number


def _first(sizes: Iterable[Any], most_bytes: int = _READ_BYTES) -> list[int]:
    """Return where the first chunks begin that have so much text together; at least one."""
    chosen: list[int] = []
    total = 0
    for begin, size in sizes:
        total += size
        if chosen and total > most_bytes:
            break
        chosen.append(begin)
    return chosen


def _row(group: str, number: int, chunk: Chunk) -> dict[str, Any]:
    row = {"begins": chunk.begin, "ends": chunk.end, "last_ms": chunk.last_ms, "size": len(chunk.content)}
    return {"log_group": group, "number": number, "content": zlib.compress(chunk.content), **row}


def _chunk(row: Row[Any]) -> Chunk:
    return Chunk(row.begins, row.ends, row.last_ms, zlib.decompress(row.content))
