"""Which positions of a shard were published, and by which write. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from gluepot.connectors.ports import CommitKey, SourceRange

# A shard: the source, the id of the stream, and the shard's name.
Lane = tuple[str, str, str]


@dataclass(frozen=True, order=True, slots=True)
class Piece:
    """Positions `start <= position < end` that a query has published without a gap.

    Args:
        start: the first position.
        end: the position after the last.
        key: commit key of the write that published the last of them.
        first_batch: the batch that published the first of them.
    """

    start: int
    end: int
    key: CommitKey
    first_batch: int


def lane_of(one: SourceRange) -> Lane:
    """Return the shard of a range. If the source has stream ids, a topic that was created again is another stream."""
    return one.source, one.stream_id or one.stream, one.shard


def apart(pieces: Iterable[Piece]) -> list[Piece]:
    """Return pieces in order, without overlaps; if positions were published twice, the earlier piece counts."""
    found: list[Piece] = []
    for piece in sorted(pieces):
        begin = max(piece.start, found[-1].end) if found else piece.start
        if begin < piece.end:
            found.append(replace(piece, start=begin))
    return found


def joined_pieces(pieces: Iterable[Piece]) -> Sequence[Piece]:
    """Return pieces of one query in order, without overlaps; adjacent pieces become one."""
    found: list[Piece] = []
    for piece in apart(pieces):
        if found and found[-1].end == piece.start:
            before = found[-1]
            newest = max(before.key, piece.key)
            found[-1] = Piece(before.start, piece.end, newest, min(before.first_batch, piece.first_batch))
        else:
            found.append(piece)
    return found
