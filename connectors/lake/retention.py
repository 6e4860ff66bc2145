"""Which snapshots of a table may expire. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from gluepot.connectors.lake.commits import LakeCommit


@dataclass(frozen=True, slots=True)
class Marked:
    """A snapshot.

    Args:
        at_ms: when it was committed, in milliseconds since 1970 UTC.
        commit: what it says of a batch; None for one that is not ours.
    """

    at_ms: int
    commit: LakeCommit | None = None


def expire_before_ms(ancestors: Iterable[Marked], wanted_ms: int) -> int:
    """Return the time before which snapshots may expire: the wanted one, or an earlier one.

    The last batch of each write of each query is looked up among the ancestors of the current snapshot, and that walk
    ends at the first one that is missing: all from the current one to the oldest such batch have to stay.

    Args:
        ancestors: ancestors of the current snapshot, newest first, including itself.
        wanted_ms: in milliseconds since 1970 UTC.
    """
    last: set[tuple[str, str]] = set()
    bound_ms = lowest_ms = wanted_ms  # clocks of writers differ: a later snapshot may have an earlier time
    for one in ancestors:
        lowest_ms = min(lowest_ms, one.at_ms)
        if one.commit is not None and (write := (one.commit.key.query_id, one.commit.key.ctx)) not in last:
            last.add(write)
            bound_ms = lowest_ms
    return bound_ms
