"""What a job's queries are doing at this moment; what the ops server answers from, without asking the queries."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

LeaseState = Literal["none", "held", "lost"]


@dataclass(frozen=True, slots=True)
class QueryStatus:
    """One query, as it last told.

    Args:
        query: its name.
        window_secs: time between two batch starts as configured; 0 where the next batch starts at once.
        lease: whether this driver may publish.
        source_reached: the sources answered and the checkpoint fits them.
        batch_id: number of the running batch, or of the last one; None before the first.
        batch_began_epoch: when the running batch began, in seconds since 1970 UTC; None between batches.
        last_commit_epoch: when a batch was committed last, likewise; None before the first of this run.
        failures_in_a_row: failed attempts since the last good batch.
        throttled_reads: reads that the source refused because they came too often; None where no source does.
        ended: the query runs no more.
        paused: it waits between two batches until somebody lets it go on.
        settings: how it runs, by the names of `StreamSettings`.
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
        """Take in what changed of a query; the first word of it makes it known.

        Args:
            query: its name.
            changes: fields of `QueryStatus` by name.
        """
        with self._lock:
            self._queries[query] = replace(self._queries.get(query, QueryStatus(query)), **changes)

    def queries(self) -> tuple[QueryStatus, ...]:
        """Return every query, in the order in which they were first heard of."""
        with self._lock:
            return tuple(self._queries.values())

    def ended(self) -> frozenset[str]:
        """Return the names of the queries that run no more."""
        return frozenset(one.query for one in self.queries() if one.ended)
