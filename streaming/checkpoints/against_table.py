"""Compares a checkpoint with the manifests of a table that its query writes. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from gluepot.commit.overlap import History, Skipped, Twice
from gluepot.commit.overlap import judge as judge_write
from gluepot.commit.record import CommitRecord
from gluepot.connectors.ports import CommitKey, Manifest, SourceRange, coalesced, ranges_digest
from gluepot.connectors.positions import Span
from gluepot.connectors.streams.start import START_FILE
from gluepot.streaming.checkpoints.chain import Chain, judge
from gluepot.streaming.checkpoints.contents import OffsetFile, QueryId
from gluepot.streaming.checkpoints.findings import Finding, Rewrite, SetAside
from gluepot.streaming.checkpoints.names import METADATA
from gluepot.streaming.checkpoints.snapshot import Snapshot


def against_table(
    snapshot: Snapshot, findings: Iterable[Finding], records: Sequence[CommitRecord], table: str
) -> list[Finding]:
    """Return the findings with the repairs that the table makes possible, and the faults that only it can show.

    Args:
        snapshot: the snapshot of the whole checkpoint, as `read` returns it.
        findings: the findings of `diagnose`.
        records: live manifests of the table.
        table: the location of the table, for messages.
    """
    chain = judge(snapshot.offsets())
    known = _known_query(snapshot, chain, records)
    own = [one for one in records if known and one.key.query_id == known]
    better = [_restored(one, snapshot, chain, own) or _named(one, known) for one in findings]
    return [*_newer_table(snapshot, chain, records, known, table), *better]


def _known_query(snapshot: Snapshot, chain: Chain, records: Iterable[CommitRecord]) -> str | None:
    """Return the query's id: from `metadata`, else the id of the only query that published the ranges of the log."""
    query = snapshot.query_id()
    if isinstance(query, QueryId):
        return query.text
    found = {
        one.key.query_id
        for one in records
        if one.ranges and _input(chain, one.key.batch_id) == ranges_digest(one.ranges)
    }
    return found.pop() if len(found) == 1 else None


def _named(finding: Finding, query_id: str | None) -> Finding:
    if finding.file != METADATA or query_id is None:
        return finding
    data = json.dumps({"id": query_id}).encode()
    then = f"the table's manifests name query {query_id} for the same offsets"
    return replace(finding, repair=Rewrite(METADATA, data), then=then)


def _restored(finding: Finding, snapshot: Snapshot, chain: Chain, own: Iterable[CommitRecord]) -> Finding | None:
    """Return a finding that restores the newest batch's entry, so that it is not planned again; None if unknown."""
    n = chain.top + 1
    if not isinstance(finding.repair, SetAside) or finding.file not in {f"offsets/{n}", f"commits/{n}"}:
        return None
    entry = _published_entry(chain, n, own)
    if entry is None or max(snapshot.batches("commits"), default=n) > n:
        return None
    return replace(finding, repair=Rewrite(f"offsets/{n}", entry.data), then=_as_published(n))


def _published_entry(chain: Chain, n: int, own: Iterable[CommitRecord]) -> OffsetFile | None:
    before = chain.whole(n - 1)
    inputs = {ranges_digest(one.ranges): one.ranges for one in own if one.key.batch_id == n and one.ranges}
    if before is None or len(before.streams) != 1 or not before.positions or len(inputs) != 1:
        return None
    (ranges,) = inputs.values()
    return entry_of(before, ranges)


def _as_published(n: int) -> str:
    return f"offsets/{n} is written as the table's manifests of batch {n} say"


def entry_of(before: OffsetFile, ranges: Iterable[SourceRange]) -> OffsetFile | None:
    """Return the entry that follows `before` and holds the given ranges; None if they do not begin where it ends."""
    (last,) = before.positions
    ends = last.ends()
    spans = {partition: Span(end, end) for partition, end in ends.items()}
    ids = dict(last.stream_ids)
    for one in ranges:
        partition = (one.stream, last.shard(one.shard))
        if ends.get(partition, one.start) != one.start or ids.setdefault(one.stream, one.stream_id) != one.stream_id:
            return None
        spans[partition] = Span(one.start, one.end)
    entry = replace(last, stream_ids=ids, spans=spans, after=last.check, notes=last.lasting_notes())
    version, about, *_ = before.data.decode().splitlines()
    return OffsetFile("\n".join([version, about, json.dumps(entry.to_json())]).encode(), [entry])


def _newer_table(
    snapshot: Snapshot,
    chain: Chain,
    records: Sequence[CommitRecord],
    known: str | None,
    table: str,
) -> Iterator[Finding]:
    own = [one for one in records if known and one.key.query_id == known]
    remedy = f"run `gluepot checkpoint rewind {snapshot.location} --from-table {table}`"
    planned = snapshot.batches("offsets")
    if records and not planned and not snapshot.batches("commits") and START_FILE not in snapshot.contents:
        what = f"is missing, and {table} holds {len(records)} writes of earlier queries: the checkpoint was lost"
        yield Finding(METADATA, what, blocks=True, then=remedy)
    newest = max((one.key.batch_id for one in own), default=-1)
    if 0 <= chain.top == max(planned, default=-1) < newest and newest not in snapshot.batches("commits"):
        entry = _published_entry(chain, newest, own) if newest == chain.top + 1 else None
        if entry is not None:
            what = f"is missing, and {table} holds batch {newest} of this query"
            yield Finding(
                f"offsets/{newest}", what, True, Rewrite(f"offsets/{newest}", entry.data), _as_published(newest)
            )
        else:
            what = f"is the newest entry, and {table} holds batches up to {newest} of this query: it is an older copy"
            yield Finding(f"offsets/{chain.top}", what, blocks=True, then=remedy)
    yield from _refused_batch(snapshot, chain, records, known, remedy)
    for one in own:
        digest = _input(chain, one.key.batch_id)
        if digest is not None and one.ranges and digest != ranges_digest(one.ranges):
            what = f"names other records than {table} holds as batch {one.key.batch_id}"
            yield Finding(f"offsets/{one.key.batch_id}", what, blocks=True, then=remedy)


def _refused_batch(
    snapshot: Snapshot, chain: Chain, records: Sequence[CommitRecord], known: str | None, remedy: str
) -> Iterator[Finding]:
    """Find out whether the table would refuse the batch that is to run again (`gluepot.commit.overlap`)."""
    n = chain.top
    entry = chain.whole(n)
    if known is None or entry is None or n in snapshot.batches("commits"):
        return
    history = History.of(records, known)
    ranges = coalesced(_ranges(chain, n))
    ctxs = {one.key.ctx for one in records if one.key.query_id == known} or {one.key.ctx for one in records}
    chosen = START_FILE in snapshot.contents
    for ctx in sorted(ctxs):
        match judge_write(Manifest(CommitKey(known, n, ctx), ranges=ranges), history, start_was_chosen=chosen):
            case Twice(found, by):
                what = (
                    f"holds offset {found.start} of {found.stream} partition {found.shard}, as query {by.query_id} did"
                )
            case Skipped(gap, by):
                what = (
                    f"leaves out {gap.stream} partition {gap.shard} from {gap.start}, where query {by.query_id} ended"
                )
            case _:
                continue
        yield Finding(f"offsets/{n}", what, blocks=True, then=remedy)
        return


def _input(chain: Chain, n: int) -> str | None:
    """Return the digest of a batch's ranges, to compare with manifests; None if the log does not define them surely."""
    entry = chain.whole(n)
    if entry is None or (n > 0 and len(entry.streams) > 1 and chain.whole(n - 1) is None):
        return None
    return ranges_digest(_ranges(chain, n))


def _ranges(chain: Chain, n: int) -> list[SourceRange]:
    """Return the ranges of a batch; a stream with nothing new repeats its previous entry in the log and adds none."""
    entry, before = chain.whole(n), chain.whole(n - 1)
    old = before.positions if before else []
    new = [positions for positions in (entry.positions if entry else ()) if positions not in old]
    return [one for positions in new for one in positions.ranges()]
