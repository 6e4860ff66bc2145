"""Finds an entry of the commit log that came too late: its batch runs again, and has not ended since. Pure.

Spark writes `commits/N` after the function of batch N has returned. If the request gets no answer, or the driver is
suspended at that moment, the batch runs again, in this driver or in the next one. The store may carry out the first
request now, or the driver may wake up. If the attempt that is under way then dies as well, Spark finds `commits/N` and
goes on with batch N + 1, and nobody completes what that attempt has begun to replace.

So the journal names a batch that runs again until its function has returned (`Journal.repeat`). A start that finds it
named there sets the entry aside, and the batch runs again.
"""

from __future__ import annotations

from gluepot.streaming.checkpoints.contents import QueryId
from gluepot.streaming.checkpoints.findings import Finding, SetAside
from gluepot.streaming.checkpoints.names import checksum_of
from gluepot.streaming.checkpoints.snapshot import Snapshot


def late_commit(snapshot: Snapshot, repeats: tuple[str, int] | None) -> list[Finding]:
    """Return what has to be set aside for a batch to run again, in that order; empty if it runs again anyway.

    Args:
        snapshot: the checkpoint.
        repeats: the batch that runs again and has not ended, as its query's id and its number.
    """
    query, committed = snapshot.query_id(), snapshot.batches("commits")
    if repeats is None or not isinstance(query, QueryId) or query.text != repeats[0]:
        return []
    batch = repeats[1]
    if not committed or committed[-1] != batch or batch not in snapshot.batches("offsets"):
        return []
    later = [n for n in snapshot.batches("offsets") if n > batch]  # their functions were not called yet
    return [
        *(_aside(f"offsets/{n}", f"is of a batch after batch {batch}, which has not ended") for n in reversed(later)),
        _aside(f"commits/{batch}", "was written for an attempt before the last one, which has not ended"),
    ]


def _aside(key: str, what: str) -> Finding:
    return Finding(key, what, True, SetAside((key, checksum_of(key))), "the batch runs again with the same records")
