"""A small file through which the planner's process reports to the driver how far reading ahead has come."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import astuple, dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class ShardEnd:
    """How far the reading of a shard has come.

    Args:
        end: position directly after the last fetched record; 0 before the first.
        seen_epoch: start of the newest read that reached the end of the shard, in seconds since 1970 UTC; 0 for none.
        unplanned: number of fetched records that are in no batch yet.
        behind_ms: age of the records that are still to be fetched; 0 if none are known.
        throttled: number of reads that the service refused because they came too often.
    """

    end: int
    seen_epoch: float
    unplanned: int
    behind_ms: int
    throttled: int = 0


def write_shard_ends(folder: Path, stream_id: str, ends: Mapping[str, ShardEnd]) -> None:
    """Write the file."""
    part = folder / "shard_ends.part"
    part.write_text(json.dumps({"id": stream_id, "shards": {name: astuple(one) for name, one in ends.items()}}))
    part.replace(folder / "shard_ends.json")


def read_shard_ends(folder: Path) -> tuple[str, dict[str, ShardEnd]]:
    """Return the stream's id and the ends by shard; both are empty before the first report."""
    try:
        plain = json.loads((folder / "shard_ends.json").read_text())
    except FileNotFoundError:
        return "", {}
    return plain["id"], {name: ShardEnd(*one) for name, one in plain["shards"].items()}
