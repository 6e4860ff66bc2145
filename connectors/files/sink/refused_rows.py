"""Rows that no file can hold become rejected records, with the bytes and the position of what they were made from.

A row knows its position and not its record: records are many and large, and hardly a row is refused. So the positions
of refused rows are kept until the task has drawn its last chunk, and the records are read again then.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from gluepot.connectors.files.sink.rejects import RejectsFile
from gluepot.frames.chunk import Chunk, Coordinates, ErrorRecord, Origin, Records
from gluepot.frames.json_text import json_bytes
from gluepot.frames.rows import rows as plain_rows

Rows = npt.NDArray[np.int64]

_END: tuple[int | None, int] = None, 0
_GONE = "Its bytes are missing, because the source no longer had the record."


@dataclass(frozen=True, slots=True)
class Origins:
    """Where the rows of several chunks come from that were put together, or some of these rows.

    Args:
        ends: for each chunk, the number of rows up to its end.
        chunks: the origin of each chunk.
        rows: indices of the rows, ascending; None for all.
    """

    ends: Rows
    chunks: Sequence[Origin | None]
    rows: Rows | None = None

    @classmethod
    def together(cls, chunks: Sequence[tuple[int, Origin | None]]) -> Origins:
        """Return the origins of chunks that were put together, each given with its number of rows."""
        return cls(np.cumsum([rows for rows, _ in chunks]), [origin for _, origin in chunks])

    def of(self, rows: Rows | None) -> Origins:
        """Return the origins of some of the rows, given by ascending indices; None for all."""
        if rows is None:
            return self
        return replace(self, rows=rows if self.rows is None else self.rows[rows])

    def by_chunk(self) -> Iterator[tuple[Rows, Origin | None]]:
        """Yield the indices of the rows of each chunk, and where these rows come from."""
        rows = np.arange(self.ends[-1]) if self.rows is None else self.rows
        bounds = np.searchsorted(rows, [0, *self.ends])
        for chunk, (start, end) in enumerate(pairwise(bounds)):
            if start == end:
                continue
            before = self.ends[chunk - 1] if chunk else 0
            origin = self.chunks[chunk]
            yield np.arange(start, end), None if origin is None else origin.of(rows[start:end] - before)


@dataclass(frozen=True, slots=True)
class _Refused:
    records: Records
    stream: str
    shard: str
    positions: npt.NDArray[Any]
    reason: str
    message: str


class RefusedRows:
    """The refused rows of one task.

    Args:
        rejects: takes the rejected records.
    """

    def __init__(self, rejects: RejectsFile) -> None:
        self._rejects = rejects
        self._refused: list[_Refused] = []

    def add(
        self, rows: pa.RecordBatch, keys: Mapping[str, str | None], origins: Origins | None, reason: str, message: str
    ) -> None:
        """Take rows in. Of those whose origin nobody knows, JSON stands for the bytes of the record.

        Args:
            rows: what no file can hold.
            keys: the values of partition keys, which the rows lack.
            origins: of the rows; None where nobody knows them.
            reason: a short fixed word.
            message: one sentence.
        """
        by_chunk = [(np.arange(rows.num_rows), None)] if origins is None else origins.by_chunk()
        for indices, origin in by_chunk:
            if origin is None:
                found = plain_rows(Chunk(rows.take(pa.array(indices))))
                self._rejects.add([ErrorRecord(json_bytes({**keys, **row}), reason, message) for row in found])
            else:
                self._refused.append(
                    _Refused(origin.records, origin.stream, origin.shard, origin.positions(), reason, message)
                )

    def finish(self) -> None:
        """Read the records of refused rows again and put them into the rejects; to be called after the last chunk.

        Raises:
            DataLoss, TransientError: as the source.
        """
        by_range: defaultdict[int, list[_Refused]] = defaultdict(list)
        for one in self._refused:
            by_range[id(one.records)].append(one)
        for refused in by_range.values():
            for errors in _told(refused):
                self._rejects.add(errors)
        self._refused = []


def _told(refused: Sequence[_Refused]) -> Iterator[Sequence[ErrorRecord]]:
    """Yield the rejected records of one range, in order."""
    positions = np.concatenate([one.positions for one in refused])
    which = np.repeat(np.arange(len(refused)), [len(one.positions) for one in refused])
    order = np.argsort(positions, kind="stable")
    wanted = zip(map(int, positions[order]), map(int, which[order]), strict=True)
    first, last = (int(positions[order[end]]) for end in (0, -1))
    position, at = next(wanted, _END)
    for found, values in refused[0].records.again(first, last):
        errors = []
        for here, value in zip(found, values, strict=True):
            while position is not None and position <= here:
                errors.append(_error(refused[at], position, value, is_there=position == here))
                position, at = next(wanted, _END)
        yield errors
    while position is not None:
        yield [_error(refused[at], position, None, is_there=False)]
        position, at = next(wanted, _END)


def _error(refused: _Refused, position: int, value: bytes | None, *, is_there: bool) -> ErrorRecord:
    at = Coordinates(refused.stream, refused.shard, str(position))
    if is_there:
        return ErrorRecord(value, refused.reason, refused.message, at)
    return ErrorRecord(None, refused.reason, f"{refused.message} {_GONE}", at)
