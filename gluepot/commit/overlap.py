"""Whether a batch may be written to a table that holds records already, or the checkpoint is not the table's. Pure.

The rule of `decide`, equal input is skipped and other input replaces, is right as long as a query goes on from its own
checkpoint. A checkpoint that was lost, or put back from a copy, is recognised here, before a task runs. With Q the
query, B its batch, R the ranges of B, and comparing only writes of the same ctx (two writes of one function hold the
same records on purpose):

1. Ahead. The table holds batches of Q after B. So the checkpoint is an older copy, or was rewound. If B was published
   from equal input, it is skipped, and nothing is lost. If not, B is cut in another way than it was: replacing it would
   take out records that are in no other batch, or leave in others that the new B holds too. Refused.
2. Less. B was published, is the newest, and held a record that R does not. This is what follows when `offsets/B` was
   deleted and planned anew with a lower limit. Replacing would take published records out until a later batch, or for
   ever if they have expired. Refused. If R holds all that B held, it replaces it.
3. Again. R holds a record that another batch of Q holds.
4. Twice. R holds a record that another query published: a new checkpoint, and a start before the table's end.
5. Skipped. R is the first that Q publishes of a partition, and begins after the last record that other queries
   published of it: a new checkpoint, and a start behind the table's end. Not so if a person chose the start.

3 to 5 are refused unless `allowOverlap` says that the table may hold records twice, or not all of them. 1 and 2 are
refused always. Input without ranges, from a source that is not ours, can be told from other input only by its digest:
rule 1 alone holds there. Topics are told apart by the broker's id: offsets of a topic created again are others.

What was published by this process needs no look: it follows from the checkpoint that it reads. So the table's records
are read once, before the first write.
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
    """The table holds later batches of the query, and this one is not as it was (rule 1)."""

    newest: int


@dataclass(frozen=True, slots=True)
class Less:
    """The batch lacks records that were published under its number (rule 2)."""

    range: SourceRange


@dataclass(frozen=True, slots=True)
class Twice:
    """A range is in the table, from another batch or another query (rules 3 and 4).

    Args:
        range: what is there.
        by: the last write that holds some of it.
        first_batch: the first batch that may hold some of it; of the same query.
    """

    range: SourceRange
    by: CommitKey
    first_batch: int


@dataclass(frozen=True, slots=True)
class Skipped:
    """A range between the table's end and the batch would never be read (rule 5)."""

    range: SourceRange
    by: CommitKey


Verdict = Clear | Ahead | Less | Twice | Skipped


@dataclass(frozen=True, slots=True)
class Spans:
    """What is published of each shard: pieces in order, none of which overlaps another."""

    pieces: Mapping[Lane, Sequence[Piece]] = field(default_factory=dict)

    @classmethod
    def of(cls, found: Iterable[tuple[Lane, Piece]]) -> Spans:
        """Collect pieces; of what is published twice, by consent, the earlier piece counts."""
        by_lane: dict[Lane, list[Piece]] = defaultdict(list)
        for lane, piece in found:
            by_lane[lane].append(piece)
        return cls({lane: apart(pieces) for lane, pieces in by_lane.items()})

    def meeting(self, wanted: SourceRange) -> Iterator[tuple[SourceRange, Piece]]:
        """Yield the published parts of a range, and who published them."""
        pieces = self.pieces.get(lane_of(wanted), ())
        for piece in pieces[bisect_right(pieces, wanted.start, key=lambda piece: piece.end) :]:
            if piece.start >= wanted.end:
                break
            yield replace(wanted, start=max(piece.start, wanted.start), end=min(piece.end, wanted.end)), piece

    def last(self, wanted: SourceRange) -> tuple[int, CommitKey] | None:
        """Return where what is published of a range's shard ends."""
        pieces = self.pieces.get(lane_of(wanted))
        return (pieces[-1].end, pieces[-1].key) if pieces else None


@dataclass(frozen=True, slots=True)
class History:
    """What a table held when a query came to write to it.

    Args:
        query_id: of the query.
        inputs: ranges and digest of the query's own writes, by ctx and batch; without those that are rolled up.
        own: by ctx, what the query published.
        others: by ctx, what other queries published.
        begun: ctx and shard of what the query has published, or may have.
        newest: its last batch in the table, whatever the ctx; -1 for none.
    """

    query_id: str
    inputs: Mapping[tuple[str, int], tuple[Sequence[SourceRange], str]] = field(default_factory=dict)
    own: Mapping[str, Spans] = field(default_factory=dict)
    others: Mapping[str, Spans] = field(default_factory=dict)
    begun: frozenset[tuple[str, Lane]] = frozenset()
    newest: int = -1

    @classmethod
    def of(cls, records: Iterable[CommitRecord], query_id: str, rolled_up: Mapping[str, Summary] = _NONE) -> History:
        """Sort a table's live records by what they mean to a query.

        Args:
            records: that no rollup holds.
            query_id: of the query.
            rolled_up: by query, what its rollups hold.
        """
        # A generation that was sealed before a batch was published says nothing.
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
        """Return what is known once a write of this query is published."""
        lanes = {(written.key.ctx, lane_of(one)) for one in written.ranges}
        return self if lanes <= self.begun else replace(self, begun=self.begun | lanes)


def judge(planned: Manifest, history: History, *, start_was_chosen: bool) -> Verdict:
    """Compare a write that is about to run with what the table holds.

    Args:
        planned: the manifest without parts.
        history: of the table.
        start_was_chosen: a person chose where the query starts, so what lies before is left out on purpose.
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
    """Return the first part of a range that is not in the others."""
    start = wanted.start
    for one in sorted(one for one in ranges if lane_of(one) == lane_of(wanted)):
        if one.start > start:
            break
        start = max(start, one.end)
    return replace(wanted, start=start) if start < wanted.end else None
