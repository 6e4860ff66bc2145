"""The present state of a job's queries; the ops server reads it without asking the queries."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

LeaseState = Literal["none", "held", "lost"]


@dataclass(frozen=True, slots=True)
class QueryStatus:
    """The status of one query, as the query last reported it.

    Args:
        query: the name of the query.
        window_secs: configured time between two batch starts; 0 if the next batch starts at once.
        lease: whether this driver holds the lease and may publish.
        source_reached: whether the sources answered and the checkpoint belongs to them.
        batch_id: number of the running batch, or of the last one; None before the first.
        batch_began_epoch: when the running batch began, in seconds since 1970 UTC; None between batches.
        last_commit_epoch: when the last batch was committed, in seconds since 1970 UTC; None before the first of this
            run.
        failures_in_a_row: failed attempts since the last good batch.
        throttled_reads: number of reads that the sources throttled; None if no source has a limit on reads.
        ended: whether the query has ended.
        paused: whether the query waits between two batches until somebody resumes it.
        settings: the settings of the query, by the names of `StreamSettings`.
    """

    query: str
    window_secs: float = 0.0
    lease: LeaseState = "none"
    source_reached: bool = False
    batch_id: int | None = None
    batch_began_epoch: float | None = None
    last_commit_epoch: float | None = None
    failures_in_a_row: int = 0
    throttled_reads: int | None = None
    ended: bool = False
    paused: bool = False
    settings: Mapping[str, Any] = field(default_factory=dict)


@dataclass(slots=True)
class JobStatus:
    """The newest status of every query of a job. Safe to use from any thread, without waiting."""

    _lock: threading.Lock = field(default_factory=threading.Lock)
    _queries: dict[str, QueryStatus] = field(default_factory=dict)

    def tell(self, query: str, **changes: Any) -> None:
        """Update the status of a query; the first update adds the query.

        Args:
            query: the name of the query.
            changes: new values for fields of `QueryStatus`, by name.
        """
        with self._lock:
            self._queries[query] = replace(self._queries.get(query, QueryStatus(query)), **changes)

    def queries(self) -> tuple[QueryStatus, ...]:
        """Return every query, in the order of their first updates."""
        with self._lock:
            return tuple(self._queries.values())

    def ended(self) -> frozenset[str]:
        """Return the names of the queries that have ended."""
        return frozenset(one.query for one in self.queries() if one.ended)
