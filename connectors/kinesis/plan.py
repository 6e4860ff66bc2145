"""Plans what a Kinesis micro-batch holds, before it runs: pure functions on positions and fetched blocks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from gluepot.connectors.kinesis.blocks import Extent
from gluepot.connectors.kinesis.cursor import After, AtHorizon, AtTime, Place
from gluepot.connectors.kinesis.positions import FINGERPRINT_MODULUS, Note, Positions, sequence_before
from gluepot.connectors.kinesis.settings import FromHorizon, FromTime, Start
from gluepot.connectors.kinesis.topology import Shard, vanished
from gluepot.connectors.positions import Span


@dataclass(frozen=True, slots=True)
class Ahead:
    """The blocks of a shard that were fetched and are in no batch yet.

    Args:
        blocks: in order, each beginning where the one before ends.
        closed: True if the shard ends with the last of them.
    """

    blocks: Sequence[Extent] = ()
    closed: bool = False


def initial(stream: str, stream_id: str, shards: Iterable[Shard], starting: Start, now_epoch_ms: int) -> Positions:
    """Return where a query without history starts.

    `latest` means the moment of the first start. That moment is recorded, so a restart before the first record loses
    nothing. A shard that appears later begins at its oldest record.
    """
    if isinstance(starting, FromHorizon):
        return Positions({stream: stream_id})
    epoch_ms = starting.epoch_ms if isinstance(starting, FromTime) else now_epoch_ms
    note = Note(begins=str(epoch_ms)).to_text()
    return Positions({stream: stream_id}, notes={(stream, shard.id): note for shard in shards})


def place_of(stream: str, shard: str, held: Positions) -> Place:
    """Return where reading a shard continues after a batch."""
    span = held.spans.get((stream, shard))
    if span is not None:
        return After(sequence_before(span.end))
    begins = held.note(stream, shard).begins
    return AtTime(int(begins)) if begins.isdecimal() else AtHorizon()


def finished(stream: str, held: Positions) -> set[str]:
    """Return the shards that were read to their end."""
    return {shard for name, shard in held.notes if name == stream and held.note(name, shard).closed}


def losses(stream: str, stream_id: str, shards: Iterable[Shard], held: Positions) -> list[str]:
    """Return one clause for each loss of records with which a query would continue; none if the stream has them all."""
    known = held.stream_ids.get(stream)
    if known and known != stream_id:
        return [f"stream {stream} was deleted and created again"]
    gone = vanished(shards, {shard for _, shard in held.spans}, finished(stream, held))
    return [f"shard {shard} of stream {stream} expired before it was read to its end" for shard in gone]


def plan(
    last: Positions,
    stream: str,
    stream_id: str,
    shards: Iterable[Shard],
    ahead: Mapping[str, Ahead],
    max_records_per_shard: int,
    after: str,
) -> Positions:
    """Return the next batch; `last` itself, unchanged, if no record was fetched.

    A shard joins the batch when all records of its parents are in earlier batches. A shard that has ended is dropped
    when the service no longer lists it.

    Args:
        last: the batch before, or the initial positions.
        stream: name of the stream.
        stream_id: distinguishes the stream from others of the same name.
        shards: all shards that the service lists.
        ahead: the blocks that were fetched after `last`.
        max_records_per_shard: a shard's part ends with the block that reaches this number.
        after: the `check` of the entry before; empty if this is the first entry.
    """
    listed = {shard.id: shard for shard in shards}
    done = finished(stream, last) | {name for name, one in ahead.items() if one.closed and not one.blocks}
    spans: dict[tuple[str, str], Span] = {}
    notes: dict[tuple[str, str], str] = {}
    taken = 0
    for name in sorted(listed.keys() | ahead.keys()):
        key = (stream, name)
        before, lasting = last.spans.get(key), last.note(stream, name).lasting
        parents = listed[name].parents if name in listed else ()
        waits = any(parent in listed and parent not in done for parent in parents)
        fetched = Ahead() if waits else ahead.get(name, Ahead())
        blocks = _first(fetched.blocks, max_records_per_shard)
        taken += len(blocks)
        closed = lasting.closed or (fetched.closed and len(blocks) == len(fetched.blocks))
        if blocks:
            start = blocks[0].start if before is None else before.end
            spans[key] = Span(start, blocks[-1].end)
            note = Note(
                records=sum(block.records for block in blocks),
                total=sum(block.total for block in blocks) % FINGERPRINT_MODULUS,
                first=blocks[0].first,
                closed=closed,
            )
        else:
            if before is not None:
                spans[key] = Span(before.end, before.end)
            note = Note(begins="" if closed else lasting.begins, closed=closed)
        if text := note.to_text():
            notes[key] = text
    return Positions({stream: stream_id}, spans, after, notes) if taken else last


def _first(blocks: Sequence[Extent], limit: int) -> list[Extent]:
    taken: list[Extent] = []
    records = 0
    for block in blocks:
        if records >= limit:
            break
        taken.append(block)
        records += block.records
    return taken
