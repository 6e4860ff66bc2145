"""How far reading ahead has come, told by the planner's process to the driver's in a small file."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import astuple, dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Tip:
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


def write_tips(folder: Path, stream_id: str, tips: Mapping[str, Tip]) -> None:
    """Tell them."""
    part = folder / "tips.part"
    part.write_text(json.dumps({"id": stream_id, "shards": {name: astuple(tip) for name, tip in tips.items()}}))
    part.replace(folder / "tips.json")


def read_tips(folder: Path) -> tuple[str, dict[str, Tip]]:
    """Return the stream's id and the tips by shard; empty before the first were told."""
    try:
        plain = json.loads((folder / "tips.json").read_text())
    except FileNotFoundError:
        return "", {}
    return plain["id"], {name: Tip(*tip) for name, tip in plain["shards"].items()}
