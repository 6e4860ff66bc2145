"""Decides whether a batch may be written to a table, or whether the checkpoint does not fit the table. Pure.

The rule of `decide` (equal input is skipped, other input replaces) is right as long as a query continues from its own
checkpoint. This module recognises a checkpoint that was lost or restored from a copy, before a task runs. Let Q be the
query, B its batch and R the ranges of B. Only writes of the same ctx are compared, because two writes of one function
contain the same records on purpose.

1. Ahead. The table contains batches of Q after B. So the checkpoint is an older copy, or was rewound. If B was
   published from equal input, it is skipped, and nothing is lost. If not, B now has other ranges than before: replacing
   it would remove records that are in no other batch, or double records that another batch contains too. Refused.
2. Less. B was published, is the newest batch, and contained a record that R lacks. This happens if `offsets/B` was
   deleted and planned again with a lower limit. Replacing B would remove published records until a later batch brings
   them back, or for ever if they have expired. Refused. If R contains all that B contained, R replaces B.
3. Again. R contains a record that another batch of Q contains.
4. Twice. R contains a record that another query published: the checkpoint is new and starts before the table's end.
5. Skipped. R is the first range of a partition that Q publishes, and it begins after the last record that other queries
   published: the checkpoint is new and starts behind the table's end. This rule does not apply if a person chose the
   start.

Cases 3 to 5 are refused unless `allowOverlap` says that the table may contain records twice, or lack some. Cases 1 and
2 are always refused. Input without ranges, from a source that is not ours, is compared only by its digest, so only case
1 applies to it. Topics are compared by the broker's topic id, because a topic that was deleted and created again has
other records at the same offsets.

What this process itself published needs no check, because it follows from the checkpoint that the process reads. So the
table's records are read only once, before the first write.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from gluepot.commit.record import CommitRecord, input_text
from gluepot.commit.rollup import Summary
from gluepot.commit.spans import Lane, Piece, apart, lane_of
from gluepot.connectors.values import CommitKey, Manifest, SourceRange

_NONE: Mapping[str, Summary] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Clear:
    """The batch may be written."""


@dataclass(frozen=True, slots=True)
class Ahead:
    """The table contains later batches of the query, and this batch has other input than before (case 1)."""

    newest: int


@dataclass(frozen=True, slots=True)
class Less:
    """The batch lacks records that were published under its number (case 2)."""

    range: SourceRange


@dataclass(frozen=True, slots=True)
class Twice:
    """The table already contains a range, from another batch or another query (cases 3 and 4).

    Args:
        range: the range that the table contains.
        by: the last write that contains some of it.
        first_batch: the first batch that may contain some of it, of the same query as `by`.
    """

    range: SourceRange
    by: CommitKey
    first_batch: int


@dataclass(frozen=True, slots=True)
class Skipped:
    """A range between the table's end and the batch would never be read (case 5)."""

    range: SourceRange
    by: CommitKey


Verdict = Clear | Ahead | Less | Twice | Skipped


@dataclass(frozen=True, slots=True)
class Spans:
    """The published pieces of each shard, in order and without overlaps."""

    pieces: Mapping[Lane, Sequence[Piece]] = field(default_factory=dict)

    @classmethod
    def of(cls, found: Iterable[tuple[Lane, Piece]]) -> Spans:
        """Collect pieces; if positions were published twice (by `allowOverlap`), the earlier piece counts."""
        by_lane: dict[Lane, list[Piece]] = defaultdict(list)
        for lane, piece in found:
            by_lane[lane].append(piece)
        return cls({lane: apart(pieces) for lane, pieces in by_lane.items()})

    def meeting(self, wanted: SourceRange) -> Iterator[tuple[SourceRange, Piece]]:
        """Yield the published parts of a range, each with the piece that contains it."""
        pieces = self.pieces.get(lane_of(wanted), ())
        for piece in pieces[bisect_right(pieces, wanted.start, key=lambda piece: piece.end) :]:
            if piece.start >= wanted.end:
                break
            yield replace(wanted, start=max(piece.start, wanted.start), end=min(piece.end, wanted.end)), piece

    def last(self, wanted: SourceRange) -> tuple[int, CommitKey] | None:
        """Return the end of the last published piece of a range's shard, with its write; None if there is none."""
        pieces = self.pieces.get(lane_of(wanted))
        return (pieces[-1].end, pieces[-1].key) if pieces else None


@dataclass(frozen=True, slots=True)
class History:
    """What a table contained when a query began to write to it.

    Args:
        query_id: id of the query.
        inputs: ranges and digest of the query's own writes, by ctx and batch; without those that are rolled up.
        own: the pieces that the query published, by ctx.
        others: the pieces that other queries published, by ctx.
        begun: the ctx and shard of everything that the query has published or may have published.
        newest: the query's last batch in the table, for any ctx; -1 if it has none.
    """

    query_id: str
    inputs: Mapping[tuple[str, int], tuple[Sequence[SourceRange], str]] = field(default_factory=dict)
    own: Mapping[str, Spans] = field(default_factory=dict)
    others: Mapping[str, Spans] = field(default_factory=dict)
    begun: frozenset[tuple[str, Lane]] = frozenset()
    newest: int = -1

    @classmethod
    def of(cls, records: Iterable[CommitRecord], query_id: str, rolled_up: Mapping[str, Summary] = _NONE) -> History:
        """Sort a table's live records from the point of view of one query.

        Args:
            records: the records that are not in a rollup.
            query_id: id of the query.
            rolled_up: the summary of each query's rollups.
        """
        # A generation that was sealed before its batch was published has no input, and says nothing about the table.
        known = [one for one in records if one.ranges or one.offsets_digest]
        own = [one for one in known if one.key.query_id == query_id]
        summary = rolled_up.get(query_id, Summary())
        summaries = [one for other, one in rolled_up.items() if other != query_id]
        return cls(
            query_id=query_id,
            inputs={(one.key.ctx, one.key.batch_id): (one.ranges, one.offsets_digest) for one in own},
            own=_by_ctx(own, [summary]),
            others=_by_ctx((one for one in known if one.key.query_id != query_id), summaries),
            begun=frozenset((one.key.ctx, lane_of(piece)) for one in own for piece in one.ranges)
            | summary.pieces.keys(),
            newest=max([one.key.batch_id for one in own] + [summary.newest_known]),
        )

    def after(self, written: Manifest) -> History:
        """Return the history after a write of this query was published."""
        return replace(self, begun=self.begun | {(written.key.ctx, lane_of(one)) for one in written.ranges})


def judge(planned: Manifest, history: History, *, start_was_chosen: bool) -> Verdict:
    """Compare a write that is about to run with the contents of the table.

    Args:
        planned: the write's manifest without parts.
        history: history of the table.
        start_was_chosen: whether a person chose where the query starts, and so left out earlier records on purpose.
    """
    key = planned.key
    ranges, digest = history.inputs.get((key.ctx, key.batch_id), ((), ""))
    if (ranges or digest) and input_text(ranges, digest) == input_text(planned.ranges, planned.offsets_digest):
        return Clear()
    if history.newest > key.batch_id:
        return Ahead(history.newest)
    for one in ranges:
        if missing := _uncovered(one, planned.ranges):
            return Less(missing)
    own, others = history.own.get(key.ctx, Spans()), history.others.get(key.ctx, Spans())
    for one in planned.ranges:
        for found, by in (*own.meeting(one), *others.meeting(one)):
            if by.key != key:
                return Twice(found, by.key, by.first_batch)
    if not start_was_chosen:
        for one in planned.ranges:
            last = None if (key.ctx, lane_of(one)) in history.begun else others.last(one)
            if last and last[0] < one.start:
                return Skipped(replace(one, start=last[0], end=one.start), last[1])
    return Clear()


def _by_ctx(records: Iterable[CommitRecord], rolled_up: Iterable[Summary]) -> dict[str, Spans]:
    found: dict[str, list[tuple[Lane, Piece]]] = defaultdict(list)
    for summary in rolled_up:
        for (ctx, lane), pieces in summary.pieces.items():
            found[ctx] += ((lane, piece) for piece in pieces)
    for record in records:
        key = record.key
        found[key.ctx] += ((lane_of(one), Piece(one.start, one.end, key, key.batch_id)) for one in record.ranges)
    return {ctx: Spans.of(some) for ctx, some in found.items()}


def _uncovered(wanted: SourceRange, ranges: Sequence[SourceRange]) -> SourceRange | None:
    """Return the first part of a range that none of the other ranges contains; None if they contain all of it."""
    start = wanted.start
    for one in sorted(one for one in ranges if lane_of(one) == lane_of(wanted)):
        if one.start > start:
            break
        start = max(start, one.end)
    return replace(wanted, start=start) if start < wanted.end else None
