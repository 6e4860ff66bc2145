"""Computes where a query starts after a rewind, and what that means for each partition. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gluepot.commit.record import CommitRecord
from gluepot.connectors.kafka.positions import SOURCE, Positions
from gluepot.connectors.positions import StreamPositions
from gluepot.core.errors import ConfigError
from gluepot.streaming.checkpoints.chain import judge
from gluepot.streaming.checkpoints.snapshot import Snapshot

ALLOWED = '{"clicks":{"0":23,"1":40}}'


class DifferentEnds(ConfigError):
    """The writes to one table, or several tables, end at different offsets."""


@dataclass(frozen=True, slots=True)
class Move:
    """The effect of a rewind on one partition.

    Args:
        topic: name of the topic or stream.
        partition: the partition or shard.
        before: the position from which the checkpoint would have continued; None if it knows none.
        after: the position from which the query continues now.
        kind: the class of the source's positions.
    """

    topic: str
    partition: int | str
    before: int | None
    after: int
    kind: type[StreamPositions[Any]] = Positions

    @property
    def reread(self) -> int | None:
        """The most records that are read a second time; None if there are some but positions do not count records."""
        return self._records(0 if self.before is None else max(0, self.before - self.after))

    @property
    def skipped(self) -> int | None:
        """The most records that are never read; None as in `reread`."""
        return self._records(0 if self.before is None else max(0, self.after - self.before))

    def _records(self, width: int) -> int | None:
        return width if self.kind.DENSE or not width else None

    def __str__(self) -> str:
        where = f"{self.topic} {'partition' if self.kind.DENSE else 'shard'} {self.partition}"
        if self.before is None:
            return f"{where} starts at {self.kind.spoken(self.after)}"
        effect = "no change"
        if self.reread != 0:
            effect = f"{self.reread or 'what lies between is'} read again"
        elif self.skipped != 0:
            effect = f"{self.skipped or 'what lies between is'} skipped"
        return f"{where} goes from {self.kind.spoken(self.before)} to {self.kind.spoken(self.after)}: {effect}"


def standing(snapshot: Snapshot) -> StreamPositions[Any]:
    """Return where the checkpoint would continue: after the newest completed batch. Empty if that is not known.

    For a query over several kinds of source this covers only the kind of the first source.
    """
    chain, done = judge(snapshot.offsets()), set(snapshot.batches("commits"))
    entry = chain.whole(chain.top)
    if entry is None or not entry.positions:
        return Positions()
    kind = type(entry.positions[0])
    ids: dict[str, str] = {}
    offsets: dict[tuple[str, Any], int] = {}
    for one in entry.positions:
        if isinstance(one, kind):
            ids |= one.stream_ids
            offsets |= {p: span.end if chain.top in done else span.start for p, span in one.spans.items()}
    return kind.at(ids, offsets)


def require_offsets(before: StreamPositions[Any], option: str) -> None:
    """Make sure that a checkpoint's positions are offsets, which a user can name.

    Raises:
        ConfigError: the positions are sequence numbers.
    """
    if not before.DENSE:
        raise ConfigError(
            f"{option} works on offsets, and this checkpoint holds sequence numbers of {before.SOURCE.capitalize()}; go"
            " back with --to-batch, or start at a time with startingPosition and a new checkpointLocation.",
        )


def moves(before: StreamPositions[Any], after: StreamPositions[Any]) -> list[Move]:
    """Compare two positions, partition by partition. For a topic that was created again, `before` is None."""
    was = before.ends()
    found = []
    for (topic, partition), end in sorted(after.ends().items()):
        known, chosen = before.stream_ids.get(topic), after.stream_ids.get(topic)
        same = not (known and chosen and known != chosen)
        found.append(Move(topic, partition, was.get((topic, partition)) if same else None, end, type(after)))
    return found


def to_offsets(text: str, topic_ids: Mapping[str, str]) -> Positions:
    """Read `--to-offsets`; a partition that is left out starts at its first record.

    Raises:
        ConfigError: the text is not a JSON map from topic to partition to offset.
    """
    try:
        offsets = {(topic, int(p)): at for topic, by in json.loads(text).items() for p, at in by.items()}
    except (ValueError, AttributeError, TypeError) as wrong:
        raise ConfigError(f"--to-offsets is {text!r}; use a JSON map such as {ALLOWED}.") from wrong
    if not offsets or not all(type(at) is int and min(at, partition) >= 0 for (_, partition), at in offsets.items()):
        raise ConfigError(
            f"--to-offsets is {text!r}; use partitions and offsets of 0 or more, at least one; leave a partition out to"
            " start at its first record.",
        )
    topics = {topic for topic, _ in offsets}
    return Positions.at({topic: topic_ids[topic] for topic in topics & topic_ids.keys()}, offsets)


def from_records(records: Iterable[CommitRecord], table: str, ctx: str | None) -> Positions:
    """Return the offsets at which a table ends.

    Args:
        records: live manifests of the table.
        table: the location of the table, for messages.
        ctx: the `transformation_ctx` whose writes count; None if all of them end at the same offsets.

    Raises:
        DifferentEnds: its writes end at different offsets.
        ConfigError: the table has no offsets.
    """
    by_ctx: dict[str, list[CommitRecord]] = {}
    for one in records:
        if one.ranges and ctx in {None, one.key.ctx}:
            by_ctx.setdefault(one.key.ctx, []).append(one)
    if other := {one.source for some in by_ctx.values() for record in some for one in record.ranges} - {SOURCE}:
        raise ConfigError(
            f"--from-table works on offsets, and {table} was written from {', '.join(sorted(other))}; go back with"
            " --to-batch instead.",
        )
    if not by_ctx:
        whose = f" of {ctx!r}" if ctx else ""
        raise ConfigError(f"The table {table} has no manifest{whose} with offsets; give --to-offsets instead.")
    ends = {name: _ends(some, table) for name, some in sorted(by_ctx.items())}
    places = {one.check for one in ends.values()}
    if len(places) > 1:
        listed = "; ".join(f"{name!r} at {_text(one)}" for name, one in ends.items())
        raise DifferentEnds(f"The writes to {table} end at different offsets: {listed}; choose one with --ctx.")
    return next(iter(ends.values()))


def common_end(tables: Mapping[str, Iterable[CommitRecord]], ctx: str | None) -> Positions:
    """Return the offsets at which all tables end.

    Args:
        tables: the live manifests of each table, by location.
        ctx: as in `from_records`.

    Raises:
        DifferentEnds: they end at different offsets, so one start cannot be right for all.
        ConfigError: a table has no offsets.
    """
    return _same_place({table: from_records(records, table, ctx) for table, records in tables.items()})


def _same_place(found: Mapping[str, Positions]) -> Positions:
    if len({one.check for one in found.values()}) > 1:
        listed = "; ".join(f"{table} at {_text(one)}" for table, one in found.items())
        raise DifferentEnds(f"The tables end at different offsets: {listed}; give --to-offsets instead.")
    return next(iter(found.values()))


def _ends(records: Sequence[CommitRecord], table: str) -> Positions:
    ids: dict[str, str] = {}
    for topic in sorted({one.stream for record in records for one in record.ranges}):
        ids[topic] = _newest_id(topic, records, table)
    ends: dict[tuple[str, int], int] = {}
    for one in (one for record in records for one in record.ranges if one.stream_id == ids[one.stream]):
        shard = (one.stream, int(one.shard))
        ends[shard] = max(ends.get(shard, 0), one.end)
    return Positions.at(ids, ends)


def _newest_id(topic: str, records: Iterable[CommitRecord], table: str) -> str:
    """Return the present id of a topic, from the newest batch; ConfigError if several queries recorded several ids."""
    seen = sorted(
        (record.key.query_id, record.key.batch_id, one.stream_id)
        for record in records
        for one in record.ranges
        if one.stream == topic
    )
    if len({stream_id for *_, stream_id in seen}) > 1 and len({query_id for query_id, *_ in seen}) > 1:
        raise ConfigError(
            f"The topic {topic} was deleted and created again, and {table} holds records of both from several queries;"
            " give --to-offsets instead.",
        )
    return seen[-1][2]


def _text(positions: Positions) -> str:
    offsets: dict[str, dict[str, int]] = {}
    for (topic, partition), end in sorted(positions.ends().items()):
        offsets.setdefault(topic, {})[str(partition)] = end
    return json.dumps(offsets)
