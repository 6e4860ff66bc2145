"""Which input a table contains: the ranges of all batches side by side, with the gaps and overlaps between them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field

from gluepot.commit.record import CommitRecord
from gluepot.connectors.ports import CommitKey, SourceRange


@dataclass(frozen=True, slots=True, order=True)
class Lane:
    """The input that one write of a script takes from one partition of a stream, over all batches.

    Args:
        ctx: ctx of the write. Two writes of a batch have the same input by design, so each is checked on its own.
        source: kind of the source, such as `kafka`.
        stream: the topic.
        stream_id: the source's id of the topic; a topic that was deleted and created again has another id.
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
        end: the position after the last.
        before: the write that ends before a gap, or that has an overlap first.
        after: the write that begins behind a gap, or that has an overlap again.
    """

    start: int
    end: int
    before: CommitKey
    after: CommitKey


@dataclass(frozen=True, slots=True)
class Coverage:
    """The coverage of one lane.

    Args:
        lane: the lane.
        start: first position in the table. Manifests do not tell whether the stream had earlier positions.
        end: the position after the last.
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
        commits: the live commits; those without ranges are ignored.
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
