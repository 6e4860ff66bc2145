"""Decides which snapshots of a table may expire. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from gluepot.connectors.lake.commits import LakeCommit


@dataclass(frozen=True, slots=True)
class Marked:
    """A snapshot.

    Args:
        at_ms: when it was committed, in milliseconds since 1970 UTC.
        commit: its marks of a batch; None if the snapshot is not ours.
    """

    at_ms: int
    commit: LakeCommit | None = None


def expire_before_ms(ancestors: Iterable[Marked], wanted_ms: int) -> int:
    """Return the time before which snapshots may expire: the wanted one, or an earlier one.

    A query looks up the last batch of each of its writes among the ancestors of the current snapshot. That walk ends at
    the first missing ancestor. So all snapshots from the current one back to the oldest such batch must stay.

    Args:
        ancestors: ancestors of the current snapshot, newest first, including itself.
        wanted_ms: the wanted time, in milliseconds since 1970 UTC.
    """
    last: set[tuple[str, str]] = set()
    bound_ms = lowest_ms = wanted_ms  # clocks of writers differ: a later snapshot may have an earlier time
    for one in ancestors:
        lowest_ms = min(lowest_ms, one.at_ms)
        if one.commit is not None and (write := (one.commit.key.query_id, one.commit.key.ctx)) not in last:
            last.add(write)
            bound_ms = lowest_ms
    return bound_ms
