"""Measures how far a query is behind its streams at any moment, even while a batch runs, hangs or fails."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from gluepot.connectors.positions import StreamPositions
from gluepot.core.clock import Clock
from gluepot.core.logging import get_logger

# The shortest time between two lookups.
EVERY_SECS = 1.0
# The largest share of one core that lookups may use, so that a lookup of thousands of partitions runs less often.
MOST_SHARE = 0.02
# The longest time between two lookups, whatever they cost: a usual scrape interval.
MOST_SECS = 15.0
# The number of lookups that are remembered for a shard.
MOST_LOOKS = 32

log = get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Lag:
    """The backlog of the streams, by shard (`topic-partition`).

    Args:
        records: number of records that are not committed yet; empty while the source is unreachable.
        secs: how long the oldest of these records has waited, too long by less than the time between two lookups; 0 if
            none waits. A shard is absent if none of its records was committed yet and it was never seen empty.
    """

    records: Mapping[str, int] = field(default_factory=dict)
    secs: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Look:
    """The result of one lookup for one shard.

    Args:
        end: the position after the shard's last record at that time.
        asked_epoch: when the source was asked, in seconds since 1970 UTC. Later records may be in the answer or not.
    """

    end: int
    asked_epoch: float


@dataclass(frozen=True, slots=True)
class Seen:
    """The times that bound the age of waiting records, by shard, in seconds since 1970 UTC.

    The oldest waiting record is not older than the newest committed record. It also arrived after the last lookup that
    saw only records which are committed by now. The later of the two times counts: the first record after a quiet hour
    has not waited for an hour.

    Args:
        newest_epoch: creation time of the newest committed record.
        reached_epoch: time of the last lookup that saw only records which are committed by now.
        looks: the lookups that saw more records, oldest first, for shards whose positions count records.
    """

    newest_epoch: Mapping[str, float] = field(default_factory=dict)
    reached_epoch: Mapping[str, float] = field(default_factory=dict)
    looks: Mapping[str, Sequence[Look]] = field(default_factory=dict)

    def committed(self, newest_epoch_ms: Mapping[str, int], ends: Mapping[str, int]) -> Seen:
        """Return the bounds after a batch is committed.

        Args:
            newest_epoch_ms: creation time of the batch's newest record, by shard, in milliseconds since 1970 UTC.
            ends: where the next batch starts, by shard, for shards whose positions count records.
        """
        newest = {shard: ms / 1000 for shard, ms in newest_epoch_ms.items()}
        reached, looks = dict(self.reached_epoch), dict(self.looks)
        for shard, end in ends.items():
            seen = looks.get(shard, ())
            if passed := [one for one in seen if one.end <= end]:
                reached[shard] = passed[-1].asked_epoch
                looks[shard] = seen[len(passed) :]
        return Seen({**self.newest_epoch, **newest}, reached, looks)

    def looked(self, backlog: Mapping[str, int], asked_epoch: float, ends: Mapping[str, int]) -> Seen:
        """Return the bounds after a lookup.

        Args:
            backlog: number of waiting records, by shard; other shards keep their bounds.
            asked_epoch: when the source was asked.
            ends: where the next batch starts, as in `committed`.
        """
        reached = {shard: asked_epoch for shard, records in backlog.items() if not records}
        more = {
            shard: _with_look(self.looks.get(shard, ()), Look(ends[shard] + records, asked_epoch))
            for shard, records in backlog.items()
            if records and shard in ends
        }
        return Seen(self.newest_epoch, {**self.reached_epoch, **reached}, {**self.looks, **more})

    def lag(self, backlog: Mapping[str, int], now_epoch: float) -> Lag:
        """Return the lag at a time, given the number of waiting records by shard."""
        secs = {}
        for shard, records in backlog.items():
            bounds = [known[shard] for known in (self.newest_epoch, self.reached_epoch) if shard in known]
            if not records:
                secs[shard] = 0.0
            elif bounds:
                secs[shard] = max(0.0, now_epoch - max(bounds))
        return Lag(dict(backlog), secs)


def _with_look(looks: Sequence[Look], new: Look) -> Sequence[Look]:
    if looks and new.end < looks[-1].end:  # the stream was created again
        return [new]
    if looks and new.end == looks[-1].end:
        return [*looks[:-1], new]
    # For a long backlog, keep every second lookup; ages are then rounded up a little more.
    return [*(looks if len(looks) < MOST_LOOKS else looks[::2]), new]


def ends_that_count(positions: Sequence[StreamPositions[Any]]) -> dict[str, int]:
    """Return where the next batch starts, by shard, for streams whose positions count records."""
    return {f"{stream}-{shard}": end for one in positions if one.DENSE for (stream, shard), end in one.ends().items()}


def moved(backlog: Mapping[str, int], before: Mapping[str, int], now: Mapping[str, int]) -> dict[str, int]:
    """Return what is left of a backlog after more records were committed.

    Args:
        backlog: number of records that waited, by shard.
        before: the positions at which the backlog began, as returned by `ends_that_count`.
        now: where the next batch starts. A shard that is missing in one of the two, or was created again, keeps its
            backlog.
    """
    committed = {shard: max(0, end - before[shard]) for shard, end in now.items() if shard in before}
    return {shard: max(0, records - committed.get(shard, 0)) for shard, records in backlog.items()}


def _warn(failed: Exception) -> None:
    log.warning("lag_unknown", reason=str(failed))


class LagWatch:
    """Asks a query's sources for their backlog. Safe to use from several threads; one thread asks at a time.

    Args:
        backlog: returns the number of records after a batch, by shard; raises while the source is unreachable.
        clock: gives the time for ages.
        spent: returns the processor time of the calling thread, in seconds.
        failed: called with the error if a source could not be asked or an answer not be shown.
    """

    def __init__(
        self,
        backlog: Callable[[Sequence[StreamPositions[Any]]], Mapping[str, int]],
        clock: Clock,
        spent: Callable[[], float] = time.thread_time,
        failed: Callable[[Exception], object] = _warn,
    ) -> None:
        self._backlog = backlog
        self._clock = clock
        self._spent = spent
        self._failed = failed
        self._positions: Sequence[StreamPositions[Any]] = ()
        self._ends: Mapping[str, int] = {}
        self._waiting: Mapping[str, int] = {}
        self._seen = Seen()
        self._due = 0.0
        self._asking = threading.Lock()
        self._state_lock = threading.Lock()

    def committed(self, positions: Sequence[StreamPositions[Any]], newest_epoch_ms: Mapping[str, int]) -> None:
        """Record that a batch is committed; this does not wait for a lookup in progress.

        Args:
            positions: the positions of the batch.
            newest_epoch_ms: creation time of the batch's newest record, by shard, in milliseconds since 1970 UTC.
        """
        ends = ends_that_count(positions)
        with self._state_lock:
            self._waiting = moved(self._waiting, self._ends, ends)
            self._positions, self._ends = positions, ends
            self._seen = self._seen.committed(newest_epoch_ms, self._ends)

    def after_batch(self) -> Lag:
        """Return the lag after the last committed batch, without delaying the next one.

        This asks the sources if waiting for them takes no more than half of `MOST_SHARE` of the time. If it would take
        more, as with short batches or thousands of partitions, or while another thread asks, this returns the result of
        the last lookup less the records committed since.
        """
        if self._clock.monotonic() >= self._due and self._asking.acquire(blocking=False):
            try:
                return self._look()
            finally:
                self._asking.release()
        with self._state_lock:
            return self._seen.lag(self._waiting, self._clock.epoch())

    def look(self, show: Callable[[Lag], None] | None = None) -> Lag:
        """Ask the sources and return the lag after the last committed batch; empty before the first batch.

        Args:
            show: called with the same lag before another lookup may begin, so that the newest answer is shown last.
        """
        with self._asking:
            return self._look(show)

    def _look(self, show: Callable[[Lag], None] | None = None) -> Lag:
        with self._state_lock:
            positions, ends = self._positions, self._ends
        asked_epoch, asked_secs, spent_secs = self._clock.epoch(), self._clock.monotonic(), self._spent()
        try:
            backlog = self._backlog(positions) if positions else {}
        except Exception as away:  # noqa: BLE001  the query reads the same source and reports the error
            self._failed(away)
            backlog = {}
        answered_secs = self._clock.monotonic()
        # A batch that asks waits for the answer. It may ask again later than the thread of `looking`, if there is one,
        # so that no batch has to ask.
        took_secs = max(self._spent() - spent_secs, answered_secs - asked_secs)
        with self._state_lock:
            self._due = answered_secs + 2 * pause_secs(took_secs, every_secs=0.0)
            # A batch may have been committed meanwhile.
            self._waiting = moved(backlog, ends, self._ends)
            self._seen = self._seen.looked(self._waiting, asked_epoch, self._ends)
            lag = self._seen.lag(self._waiting, self._clock.epoch())
            if show is not None:
                show(lag)
            return lag

    @contextmanager
    def looking(self, show: Callable[[Lag], None], every_secs: float = EVERY_SECS) -> Iterator[None]:
        """Ask the sources repeatedly in a separate thread while the context is open.

        Args:
            show: called with each answer.
            every_secs: shortest time between two lookups.
        """
        ended = threading.Event()

        def watch() -> None:
            wait_secs = every_secs
            while not ended.wait(wait_secs):
                began_secs = self._spent()
                try:
                    self.look(show)
                except Exception as error:  # noqa: BLE001  the next lookup may succeed
                    self._failed(error)
                wait_secs = pause_secs(self._spent() - began_secs, every_secs)

        # We do not join the thread at the end: it only shows a number, and an unreachable source may block it for
        # some seconds.
        threading.Thread(target=watch, name="gluepot-lag", daemon=True).start()
        try:
            yield
        finally:
            ended.set()


def pause_secs(took_secs: float, every_secs: float = EVERY_SECS) -> float:
    """Return the time until the next lookup, in seconds.

    Args:
        took_secs: processor time of the last lookup; the time spent waiting for a slow source does not count.
        every_secs: shortest time between two lookups.
    """
    return min(max(every_secs, took_secs / MOST_SHARE), MOST_SECS)
