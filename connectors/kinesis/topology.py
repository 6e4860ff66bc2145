"""Pure functions that say which shards exist, and which may be read: parents come before children.

A split closes one shard and opens two, a merge closes two and opens one. A child's records of a key come after the
parents' records of that key. So reading a child begins when its parents have been read to their end. A parent that the
service no longer lists has expired, and holds no records any more.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Shard:
    """A shard as the service lists it.

    Args:
        id: its name.
        parents: the shards from which it was made; none for a shard with which the stream was created.
        ended: True if it takes no more records.
    """

    id: str
    parents: tuple[str, ...] = ()
    ended: bool = False

    @classmethod
    def from_api(cls, plain: Mapping[str, Any]) -> Shard:
        """Read an element of ListShards' `Shards`."""
        parents = (plain.get("ParentShardId"), plain.get("AdjacentParentShardId"))
        return cls(
            plain["ShardId"],
            tuple(parent for parent in parents if parent),
            plain.get("SequenceNumberRange", {}).get("EndingSequenceNumber") is not None,  # emulators answer null
        )


def readable(shards: Iterable[Shard], finished: Collection[str]) -> list[str]:
    """Return the shards that may be read now, in the order given.

    Args:
        shards: all shards that the service lists.
        finished: shards that were read to their end.
    """
    shards = list(shards)
    waiting = {shard.id for shard in shards} - set(finished)
    return [shard.id for shard in shards if shard.id in waiting and not waiting.intersection(shard.parents)]


def vanished(shards: Iterable[Shard], begun: Iterable[str], finished: Collection[str]) -> list[str]:
    """Return, sorted, the shards that no longer exist although they were not read to their end."""
    return sorted(set(begun) - {shard.id for shard in shards} - set(finished))
