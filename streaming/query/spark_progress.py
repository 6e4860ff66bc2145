"""What Spark and a query tell each other: the records that we read for Spark, and how long Spark's own steps took.

Spark counts the records of a batch in the scan of its plan. We read ranges without that scan, so Spark's page of
streams would show 0 records per second.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from threading import Lock
from typing import Any

import orjson
from py4j.protocol import Py4JError
from pyspark.sql import SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from gluepot.core.logging import get_logger

log = get_logger(__name__)

PHASES: Mapping[str, tuple[str, ...]] = {
    "planning": ("latestOffset", "getBatch", "queryPlanning"),
    "checkpoint": ("walCommit", "commitOffsets"),
}
"""Spark's steps of a batch, by the phase to which we count them. Its `addBatch` is our part of the batch."""

_reserved: set[str] = set()
_reserving = Lock()


def phases_of(durations_ms: Mapping[str, int]) -> Mapping[str, float]:
    """Return the seconds of each phase, from `durationMs` of Spark's progress. Pure."""
    return {
        phase: sum(durations_ms[step] for step in steps if step in durations_ms) / 1000
        for phase, steps in PHASES.items()
        if any(step in durations_ms for step in steps)
    }


@contextmanager
def name_in_spark(spark: SparkSession, name: str) -> Iterator[str]:
    """Yield the name under which Spark shows a query; a number follows if another running query has the name.

    Spark refuses a second query of one name, while checkpoints, which name our queries, may have equal last parts.
    """
    with _reserving:
        taken = {query.name for query in spark.streams.active} | _reserved
        free = next(one for one in (name, *(f"{name} ({n})" for n in range(2, len(taken) + 3))) if one not in taken)
        _reserved.add(free)
    try:
        yield free
    finally:
        with _reserving:
            _reserved.discard(free)


class SparkProgress:
    """The progress of one query, attempt after attempt."""

    def __init__(self) -> None:
        self._execution: Any = None
        self._is_known = True
        self._ended: int | None = None

    def begin(self) -> None:
        """Begin an attempt, which has another query of Spark."""
        self._execution = self._ended = None

    def read(self, spark: SparkSession, query_id: str, records: int) -> None:
        """Let Spark count the records of the running batch, in place of those that its scan has read.

        Args:
            spark: the session of the query.
            query_id: Spark's id of the query.
            records: how many the batch has.
        """
        if not self._is_known:
            return
        try:
            if self._execution is None:
                query = spark._jsparkSession.streams().get(query_id)  # noqa: SLF001  Spark has no public call for this
                self._execution = query.streamingQuery()
            leaves = self._execution.lastExecution().executedPlan().collectLeaves()
            leaves.apply(0).metrics().apply("numOutputRows").set(records)
        except (Py4JError, TypeError, AttributeError) as error:  # another version of Spark has other classes
            self._is_known = False
            log.info("rates_not_in_spark", reason=str(error).partition("\n")[0])

    def end(self, batch_id: int) -> None:
        """Note that the function of a batch has ended. Spark tells how long its own steps took a little later."""
        self._ended = batch_id

    def phases(self, query: StreamingQuery) -> Mapping[str, float]:
        """Return the phases of the batch that ended last, once; empty as long as Spark has not told them."""
        if self._ended is None:
            return {}
        last = query._jsq.lastProgress()  # noqa: SLF001  Python's own call makes an object of each number
        if last is None or last.batchId() < self._ended:
            return {}
        is_of_batch, self._ended = last.batchId() == self._ended, None
        return phases_of(orjson.loads(last.json())["durationMs"]) if is_of_batch else {}
