"""How far reading ahead has come, told by the planner's process to the driver's in a small file."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import astuple, dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class ShardEnd:
    """How far the reading of a shard has come.

    Args:
        end: position behind the last record fetched; 0 before the first.
        seen_epoch: begin of the newest read that reached the end of the shard, in seconds since 1970 UTC; 0 for none.
        unplanned: records fetched that are in no batch yet.
        behind_ms: age of what is still to be fetched; 0 when nothing is known to be.
        throttled: reads that the service refused because they came too often.
    """

    end: int
    seen_epoch: float
    unplanned: int
    behind_ms: int
    throttled: int = 0


def write_shard_ends(folder: Path, stream_id: str, ends: Mapping[str, ShardEnd]) -> None:
    """Tell them."""
    part = folder / "shard_ends.part"
    part.write_text(json.dumps({"id": stream_id, "shards": {name: astuple(one) for name, one in ends.items()}}))
    part.replace(folder / "shard_ends.json")


def read_shard_ends(folder: Path) -> tuple[str, dict[str, ShardEnd]]:
    """Return the stream's id and the ends by shard; empty before the first were told."""
    try:
        plain = json.loads((folder / "shard_ends.json").read_text())
    except FileNotFoundError:
        return "", {}
    return plain["id"], {name: ShardEnd(*one) for name, one in plain["shards"].items()}
