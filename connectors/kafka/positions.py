"""What a Kafka micro-batch holds, decided before it runs: pure functions over positions.

One entry of Spark's offset log carries both ends of the batch, so that any single `offsets/N` file says exactly which
records batch N holds, and a replay reads the same ones whatever `startingOffsets` says by then.

An entry proves itself: it holds a checksum of its own, and that of the entry before it. So a changed digit, and an
entry in the place of another, are noticed on any storage.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

from connectors.ports import SourceRange
from etlcore.errors import CheckpointError, DataLoss

SOURCE = "kafka"
VERSION = 2


@dataclass(frozen=True, slots=True)
class Span:
    """`[start, end)` of one partition."""

    start: int
    end: int

    @property
    def width(self) -> int:
        """Offsets in the span: an upper bound of its records."""
        return self.end - self.start


@dataclass(frozen=True, slots=True)
class Positions:
    """One entry of the offset log.

    Args:
        topic_ids: the id the broker gave each topic; it changes when a topic is deleted and created again.
        spans: what the batch that ends here holds, by (topic, partition).
        after: the `check` of the entry before; empty for the first one.
    """

    topic_ids: Mapping[str, str] = field(default_factory=dict)
    spans: Mapping[tuple[str, int], Span] = field(default_factory=dict)
    after: str = ""

    @classmethod
    def at(cls, topic_ids: Mapping[str, str], offsets: Mapping[tuple[str, int], int]) -> Positions:
        """Return empty spans: places to start from."""
        return cls(dict(topic_ids), {partition: Span(offset, offset) for partition, offset in offsets.items()})

    @property
    def check(self) -> str:
        """Eight hex digits that change with anything the entry says."""
        return _checksum(self._topics(), self.after)

    def ends(self) -> dict[tuple[str, int], int]:
        """Return where the next batch starts."""
        return {partition: span.end for partition, span in self.spans.items()}

    def ends_by_id(self) -> dict[tuple[str, int], int]:
        """Return the ends keyed by topic id and partition: a topic created again is another topic."""
        return {(self.topic_ids.get(topic, ""), p): span.end for (topic, p), span in self.spans.items()}

    def width(self) -> int:
        """Return an upper bound of the records in the batch."""
        return sum(span.width for span in self.spans.values())

    def to_json(self) -> dict[str, Any]:
        """Return the form Spark writes to the offset log; equal positions give equal text."""
        topics = self._topics()
        check = _checksum(topics, self.after)
        return {"source": SOURCE, "version": VERSION, "topics": topics, "after": self.after, "check": check}

    def _topics(self) -> dict[str, Any]:
        topics: dict[str, Any] = {}
        for (topic, partition), span in sorted(self.spans.items()):
            entry = topics.setdefault(topic, {"id": self.topic_ids.get(topic, ""), "spans": {}})
            entry["spans"][str(partition)] = [span.start, span.end]
        return topics

    @classmethod
    def from_json(cls, plain: Mapping[str, Any]) -> Positions:
        """Read `to_json`'s form back.

        Raises:
            CheckpointError: the entry was written by another source or version, or was changed since.
        """
        if plain.get("source") != SOURCE or plain.get("version") != VERSION:
            raise CheckpointError(
                f"The checkpoint holds offsets that are not of Gluepot's Kafka source: {str(plain)[:120]};"
                " use another checkpointLocation.",
            )
        topics, after = plain.get("topics"), plain.get("after")
        if plain.get("check") != _checksum(topics, after):
            raise CheckpointError(
                f"An entry of the checkpoint was changed since it was written: {str(plain)[:120]};"
                " `gluepot checkpoint doctor` says what can be done.",
            )
        return cls(
            {topic: entry["id"] for topic, entry in plain["topics"].items()},
            {
                (topic, int(partition)): Span(*span)
                for topic, entry in plain["topics"].items()
                for partition, span in entry["spans"].items()
            },
            plain["after"],
        )


def _checksum(topics: Any, after: Any) -> str:
    text = json.dumps([topics, after], sort_keys=True, separators=(",", ":"))
    return f"{zlib.crc32(text.encode()):08x}"


@dataclass(frozen=True, slots=True)
class Bounds:
    """What the broker holds at one moment.

    Args:
        topic_ids: id by topic.
        earliest: first offset still there, by (topic, partition).
        latest: one past the last committed offset (the last stable offset for a reader of committed records).
    """

    topic_ids: Mapping[str, str]
    earliest: Mapping[tuple[str, int], int]
    latest: Mapping[tuple[str, int], int]


@dataclass(frozen=True, slots=True)
class Lost:
    """Records that were never read and are gone.

    Args:
        topic: where.
        partition: where; -1 for a whole topic.
        start: first offset that was wanted.
        end: first offset there is.
        why: one clause.
    """

    topic: str
    partition: int
    start: int
    end: int
    why: str

    def __str__(self) -> str:
        where = f"topic {self.topic}" + (f" partition {self.partition}" if self.partition >= 0 else "")
        return f"{where}: {self.why} (wanted offset {self.start}, the broker starts at {self.end})"


def resume(ends: Positions, now: Bounds) -> tuple[Positions, list[Lost]]:
    """Decide where the next batch starts, given where the last one ended.

    A partition that was not there before starts at its first offset, so that nothing sent to it is missed. A topic
    whose id changed, that vanished, or whose records expired below the position is a loss; the returned start is where
    reading can go on if the user accepts it.

    Returns:
        Empty spans at the start positions, linked to `ends`, and what was lost.
    """
    lost: list[Lost] = []
    starts: dict[tuple[str, int], Span] = {}
    before = ends.ends()
    for partition in sorted(before.keys() | now.latest.keys()):
        topic, number = partition
        wanted = before.get(partition)
        if partition not in now.latest:
            if wanted is not None:
                lost.append(Lost(topic, number, wanted, 0, "the partition is gone, the topic was deleted"))
            continue
        earliest, latest = now.earliest[partition], now.latest[partition]
        start = earliest if wanted is None else wanted
        known_id = ends.topic_ids.get(topic)
        if wanted is not None and known_id and known_id != now.topic_ids.get(topic):
            lost.append(Lost(topic, number, start, earliest, "the topic was deleted and created again"))
            start = earliest
        elif start < earliest:
            lost.append(Lost(topic, number, start, earliest, "records expired before they were read"))
            start = earliest
        elif start > latest:
            lost.append(Lost(topic, number, start, latest, "the log is shorter than the position"))
            start = earliest
        starts[partition] = Span(start, start)
    return Positions(dict(now.topic_ids), starts, ends.check), lost


def refuse_loss(lost: Sequence[Lost]) -> None:
    """Raise for losses the user has not accepted.

    Raises:
        DataLoss: with topic, partition, offsets and the way to accept it.
    """
    if lost:
        raise DataLoss(
            "Records were lost before they could be read: "
            + "; ".join(map(str, lost[:5]))
            + (f"; and {len(lost) - 5} more" if len(lost) > 5 else "")
            + ". To go on from what is there, set failOnDataLoss to false.",
        )


def plan(start: Positions, now: Bounds, limit: int | None) -> Positions:
    """Decide where the batch that starts at `start` ends.

    Args:
        start: empty spans, from `resume` or the initial offsets.
        now: the broker's bounds.
        limit: most offsets in the batch, or None.

    Returns:
        The spans of the batch; the limit is shared over the partitions in proportion to their backlog, and every
        partition with a backlog moves as long as the limit reaches (as Spark's own Kafka source does it).
    """
    backlog = {p: now.latest.get(p, span.start) - span.start for p, span in start.spans.items()}
    shares = share(backlog, limit)
    return replace(start, spans={p: Span(span.start, span.start + shares[p]) for p, span in start.spans.items()})


def share(backlog: Mapping[tuple[str, int], int], limit: int | None) -> dict[tuple[str, int], int]:
    """Split `limit` over the partitions: sums to min(limit, total backlog), never more than a partition has."""
    wanted = {p: max(0, n) for p, n in backlog.items()}
    total = sum(wanted.values())
    if limit is None or total <= limit:
        return wanted
    waiting = sorted(p for p, n in wanted.items() if n)
    exact = {p: wanted[p] * limit / total for p in waiting}
    # One at least, as far as the limit reaches, so that a small backlog is never starved by a large one.
    least = 1 if limit >= len(waiting) else 0
    given = dict.fromkeys(wanted, 0) | {p: max(least, int(exact[p])) for p in waiting}
    left = limit - sum(given.values())
    # What rounding left over goes to the largest remainders, as far as they have a backlog; what the least ones took
    # too much comes off the largest.
    for p in sorted(waiting, key=lambda p: (given[p] - exact[p], p)):
        if left > 0 and given[p] < wanted[p]:
            given[p] += 1
            left -= 1
    for _ in range(-left):
        given[max(waiting, key=lambda p: (given[p], p))] -= 1
    return given


def split(batch: Positions, min_partitions: int | None = None) -> list[SourceRange]:
    """Cut a batch into the ranges its tasks read; empty spans give none.

    With `min_partitions`, wide spans are cut further, in proportion to their width, until there are at least that many.
    """
    filled = {p: span for p, span in sorted(batch.spans.items()) if span.width > 0}
    total = sum(span.width for span in filled.values())
    ranges: list[SourceRange] = []
    for (topic, partition), span in filled.items():
        pieces = 1
        if min_partitions and len(filled) < min_partitions:
            pieces = min(span.width, max(1, -(-span.width * min_partitions // total)))
        cuts = [span.start + span.width * i // pieces for i in range(pieces + 1)]
        ranges += [
            SourceRange(SOURCE, topic, batch.topic_ids.get(topic, ""), str(partition), a, b) for a, b in pairwise(cuts)
        ]
    return ranges


def lag(ends: Mapping[tuple[str, int], int], latest: Mapping[tuple[str, int], int]) -> dict[str, int]:
    """Return the records behind per partition, keyed `topic-partition`."""
    return {f"{t}-{p}": max(0, end - ends.get((t, p), 0)) for (t, p), end in sorted(latest.items())}


def find_own(entries: Iterable[Mapping[str, Any]], topics: Iterable[str] | None, checkpoint: str) -> Positions:
    """Pick this stream's entry out of one file of the offset log, which has one line per source of the query.

    Args:
        entries: the parsed lines.
        topics: topics this stream subscribes to; None for a pattern.
        checkpoint: for the message.

    Raises:
        CheckpointError: none of the lines is of this stream.
    """
    found = [Positions.from_json(entry) for entry in entries if entry.get("source") == SOURCE]
    wanted = None if topics is None else set(topics)
    for positions in found:
        held = {topic for topic, _ in positions.spans}
        if wanted is None or not held or held & wanted:
            return positions
    others = sorted({topic for positions in found for topic, _ in positions.spans})
    raise CheckpointError(
        f"The checkpoint {checkpoint} belongs to another stream ({', '.join(others) or 'not of Kafka'}), this one reads"
        f" {', '.join(sorted(wanted or []))}; use another checkpointLocation, or delete the folder to start over.",
    )
