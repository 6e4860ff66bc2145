"""Plans which offsets a Kafka micro-batch holds, before it runs: pure functions on positions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import ClassVar

from gluepot.connectors.positions import Span, StreamPositions
from gluepot.connectors.values import SourceRange
from gluepot.core.errors import DataLoss

SOURCE = "kafka"


@dataclass(frozen=True, slots=True)
class Positions(StreamPositions[int]):
    """One entry of the offset log: topics, partition numbers, offsets."""

    SOURCE: ClassVar[str] = SOURCE
    VERSION: ClassVar[int] = 2
    STREAMS: ClassVar[str] = "topics"

    @classmethod
    def shard(cls, text: str) -> int:
        """Return a partition's number."""
        return int(text)


@dataclass(frozen=True, slots=True)
class Bounds:
    """The offsets that the broker holds at one moment.

    Args:
        topic_ids: id by topic.
        earliest: first offset that the broker still has, by (topic, partition).
        latest: one past the last committed offset (the last stable offset for a reader of committed records).
    """

    topic_ids: Mapping[str, str]
    earliest: Mapping[tuple[str, int], int]
    latest: Mapping[tuple[str, int], int]


@dataclass(frozen=True, slots=True)
class Lost:
    """Records that were never read and are gone.

    Args:
        topic: their topic.
        partition: their partition; -1 for a whole topic.
        start: first offset that was wanted.
        end: first offset that exists.
        why: the reason, as one clause.
        is_certain: whether it needs no second look, because no broker that lags behind the others would tell this.
    """

    topic: str
    partition: int
    start: int
    end: int
    why: str
    is_certain: bool = False

    def __str__(self) -> str:
        where = f"topic {self.topic}" + (f" partition {self.partition}" if self.partition >= 0 else "")
        return f"{where}: {self.why} (wanted offset {self.start}, the broker starts at {self.end})"


def resume(ends: Positions, now: Bounds) -> tuple[Positions, list[Lost]]:
    """Decide where the next batch starts, given where the last one ended.

    A new partition starts at its first offset, so that no record sent to it is missed. A partition counts
    as a loss if its topic has another id, if it vanished, if records from the position on have expired, or if the log
    is shorter than the position. Reading can continue from the returned start if the user accepts the loss.

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
        known_id = ends.stream_ids.get(topic)
        if wanted is not None and known_id and known_id != now.topic_ids.get(topic):
            lost.append(Lost(topic, number, start, earliest, "the topic was deleted and created again"))
            start = earliest
        elif start < earliest:
            lost.append(Lost(topic, number, start, earliest, "records expired before they were read", is_certain=True))
            start = earliest
        elif start > latest:
            lost.append(Lost(topic, number, start, latest, "the log is shorter than the position"))
            start = earliest
        starts[partition] = Span(start, start)
    return Positions(dict(now.topic_ids), starts, ends.check), lost


def refuse_loss(lost: Sequence[Lost]) -> None:
    """Raise for losses that the user has not accepted.

    Raises:
        DataLoss: there are losses; the message gives topic, partition, offsets and the way to accept the loss.
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
        limit: largest number of offsets in the batch, or None.

    Returns:
        The spans of the batch. The partitions share the limit in proportion to their backlog, and every partition with
        a backlog gets at least one offset if the limit is large enough, as in Spark's own Kafka source.
    """
    backlog = {p: now.latest.get(p, span.start) - span.start for p, span in start.spans.items()}
    shares = share(backlog, limit)
    return replace(start, spans={p: Span(span.start, span.start + shares[p]) for p, span in start.spans.items()})


def share(backlog: Mapping[tuple[str, int], int], limit: int | None) -> dict[tuple[str, int], int]:
    """Split `limit` over the partitions.

    The shares add up to min(limit, total backlog), and none is larger than the partition's backlog.
    """
    wanted = {p: max(0, n) for p, n in backlog.items()}
    total = sum(wanted.values())
    if limit is None or total <= limit:
        return wanted
    waiting = sorted(p for p, n in wanted.items() if n)
    exact = {p: wanted[p] * limit / total for p in waiting}
    # Each partition gets at least one if the limit allows, so that a large backlog never starves a small one.
    least = 1 if limit >= len(waiting) else 0
    given = dict.fromkeys(wanted, 0) | {p: max(least, int(exact[p])) for p in waiting}
    left = limit - sum(given.values())
    # The remainder after rounding goes to the partitions with the largest fractions that still have a backlog. If the
    # guaranteed ones took too much, the excess is subtracted from the largest shares.
    for p in sorted(waiting, key=lambda p: (given[p] - exact[p], p)):
        if left > 0 and given[p] < wanted[p]:
            given[p] += 1
            left -= 1
    for _ in range(-left):
        given[max(waiting, key=lambda p: (given[p], p))] -= 1
    return given


def split(batch: Positions, min_partitions: int | None = None) -> list[SourceRange]:
    """Cut a batch into the ranges its tasks read; empty spans give none.

    `min_partitions` cuts wide spans further, in proportion to their width, until there are at least that many ranges.
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
            SourceRange(SOURCE, topic, batch.stream_ids.get(topic, ""), str(partition), a, b) for a, b in pairwise(cuts)
        ]
    return ranges


def replaced(ranges: Iterable[SourceRange], topic_ids: Mapping[str, str]) -> list[SourceRange]:
    """Return the ranges whose topic no longer has the id that it had when the batch was planned.

    Args:
        ranges: the ranges of a batch. Checkpoints of other engines hold no ids; ranges without an id count as
            unchanged.
        topic_ids: the present id by topic; a topic that was deleted is missing.
    """
    return [one for one in ranges if one.stream_id and one.stream_id != topic_ids.get(one.stream)]


def lag(ends: Mapping[tuple[str, int], int], latest: Mapping[tuple[str, int], int]) -> dict[str, int]:
    """Return the lag of each partition in records, keyed `topic-partition`."""
    return {f"{t}-{p}": max(0, end - ends.get((t, p), 0)) for (t, p), end in sorted(latest.items())}
