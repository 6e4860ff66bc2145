"""Which input is in a table: ranges of all batches laid side by side, with what is between them and what is twice."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field

from gluepot.commit.record import CommitRecord
from gluepot.connectors.values import CommitKey, SourceRange


@dataclass(frozen=True, slots=True, order=True)
class Lane:
    """What one write of a script takes from one partition of a stream, batch after batch.

    Args:
        ctx: of the write. Two writes of a batch have the same input by design, so each is looked at by itself.
        source: kind of the source, such as `kafka`.
        stream: the topic.
        stream_id: what the source calls this topic; a topic that was deleted and made again has another one.
        shard: the partition.
    """

    ctx: str
    source: str
    stream: str
    stream_id: str
    shard: str


@dataclass(frozen=True, slots=True)
class Stretch:
    """Positions `start <= position < end` between two batches, or in both of them.

    Args:
        start: first position.
        end: the one after the last.
        before: the write on whose range this borders, or which it is in.
        after: the write that begins behind it, or has it once more.
    """

    start: int
    end: int
    before: CommitKey
    after: CommitKey


@dataclass(frozen=True, slots=True)
class Coverage:
    """What is known of one lane.

    Args:
        lane: which.
        start: first position in the table. Whether there were earlier ones in the stream no manifest tells.
        end: the one after the last.
        gaps: positions between `start` and `end` that no batch has.
        overlaps: positions that two batches have.
    """

    lane: Lane
    start: int
    end: int
    gaps: list[Stretch] = field(default_factory=list)
    overlaps: list[Stretch] = field(default_factory=list)


def coverage(commits: Iterable[CommitRecord]) -> list[Coverage]:
    """Return each lane of a table once, sorted.

    Args:
        commits: live ones; those without ranges tell nothing here.
    """
    by_lane: defaultdict[Lane, list[tuple[SourceRange, CommitKey]]] = defaultdict(list)
    for commit in commits:
        for one in commit.ranges:
            if one.start < one.end:
                lane = Lane(commit.key.ctx, one.source, one.stream, one.stream_id, one.shard)
                by_lane[lane].append((one, commit.key))
    return [_swept(lane, sorted(by_lane[lane])) for lane in sorted(by_lane)]


def _swept(lane: Lane, pieces: list[tuple[SourceRange, CommitKey]]) -> Coverage:
    first, reached_by = pieces[0]
    reached = first.end
    gaps, overlaps = [], []
    for piece, key in pieces[1:]:
        if piece.start > reached:
            gaps.append(Stretch(reached, piece.start, reached_by, key))
        elif piece.start < reached:
            overlaps.append(Stretch(piece.start, min(piece.end, reached), reached_by, key))
        if piece.end > reached:
            reached, reached_by = piece.end, key
    return Coverage(lane, first.start, reached, gaps, overlaps)
