"""How far a query is behind its streams, at any moment: while a batch runs, hangs or fails, too."""

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

EVERY_SECS = 1.0
MOST_SHARE = 0.02
"""Of one core, for asking: of thousands of partitions a broker is not asked every second."""
MOST_SECS = 15.0
"""Longest time between two looks, whatever they take: a usual scrape interval."""
MOST_LOOKS = 32
"""Remembered of a shard."""

log = get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Lag:
    """What waits in the streams, by shard (`topic-partition`).

    Args:
        records: not committed yet; no shard is named while the source is away.
        secs: how long the oldest of them has waited, or less than a look longer; 0 where nothing waits. A shard of
            which nothing was committed yet, and which was never seen empty, is not named.
    """

    records: Mapping[str, int] = field(default_factory=dict)
    secs: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Look:
    """What a source said of one shard.

    Args:
        end: one past its last record then.
        asked_epoch: when it was asked, in seconds since 1970 UTC: what came later may be in the answer or not.
    """

    end: int
    asked_epoch: float


@dataclass(frozen=True, slots=True)
class Seen:
    """What bounds the age of the records that wait, by shard, in seconds since 1970 UTC.

    The oldest record that waits is no older than the newest one committed, and came after the last look that saw
    nothing but what is committed by now. The later of the two counts: the first record after a quiet hour has not
    waited for an hour.

    Args:
        newest_epoch: creation of the newest record committed.
        reached_epoch: when that look was.
        looks: those that saw more, oldest first, of shards whose positions count records.
    """

    newest_epoch: Mapping[str, float] = field(default_factory=dict)
    reached_epoch: Mapping[str, float] = field(default_factory=dict)
    looks: Mapping[str, Sequence[Look]] = field(default_factory=dict)

    def committed(self, newest_epoch_ms: Mapping[str, int], ends: Mapping[str, int]) -> Seen:
        """Return what is known once a batch is committed.

        Args:
            newest_epoch_ms: creation of its newest record, by shard, in milliseconds since 1970 UTC.
            ends: where the next batch starts, by shard, where positions count records.
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
        """Return what is known after a look.

        Args:
            backlog: records that wait, by shard; others keep what was known.
            asked_epoch: when the source was asked.
            ends: as of `committed`, of the last batch.
        """
        reached = {shard: asked_epoch for shard, records in backlog.items() if not records}
        more = {
            shard: _with_look(self.looks.get(shard, ()), Look(ends[shard] + records, asked_epoch))
            for shard, records in backlog.items()
            if records and shard in ends
        }
        return Seen(self.newest_epoch, {**self.reached_epoch, **reached}, {**self.looks, **more})

    def lag(self, backlog: Mapping[str, int], now_epoch: float) -> Lag:
        """Return how far the query is behind now."""
        secs = {}
        for shard, records in backlog.items():
            bounds = [known[shard] for known in (self.newest_epoch, self.reached_epoch) if shard in known]
            if not records:
                secs[shard] = 0.0
            elif bounds:
                secs[shard] = max(0.0, now_epoch - max(bounds))
        return Lag(dict(backlog), secs)


def _with_look(looks: Sequence[Look], new: Look) -> Sequence[Look]:
    if looks and new.end < looks[-1].end:  # the stream was made anew
        return [new]
    if looks and new.end == looks[-1].end:
        return [*looks[:-1], new]
    # Of a long backlog every second look is enough: ages are rounded up a little more.
    return [*(looks if len(looks) < MOST_LOOKS else looks[::2]), new]


def ends_that_count(held: Sequence[StreamPositions[Any]]) -> dict[str, int]:
    """Return where the next batch starts, by shard, of streams whose positions count records."""
    return {f"{stream}-{shard}": end for one in held if one.DENSE for (stream, shard), end in one.ends().items()}


def moved(backlog: Mapping[str, int], before: Mapping[str, int], now: Mapping[str, int]) -> dict[str, int]:
    """Return what still waits of a backlog once more is committed.

    Args:
        backlog: records that waited, by shard.
        before: where they began, as of `ends_that_count`.
        now: where the next batch starts; a shard that is not in both, or was made anew, keeps its backlog.
    """
    committed = {shard: max(0, end - before[shard]) for shard, end in now.items() if shard in before}
    return {shard: max(0, records - committed.get(shard, 0)) for shard, records in backlog.items()}


def _warn(failed: Exception) -> None:
    log.warning("lag_unknown", reason=str(failed))


class LagWatch:
    """Asks a query's sources how much waits. Safe to use from several threads; one asks at a time.

    Args:
        backlog: of a batch, tells the records behind it by shard; raises while the source is away.
        clock: for ages.
        spent: processor time of the thread that asks, in seconds.
        failed: told why a source could not be asked, or an answer not be shown.
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
        self._held: Sequence[StreamPositions[Any]] = ()
        self._ends: Mapping[str, int] = {}
        self._waiting: Mapping[str, int] = {}
        self._seen = Seen()
        self._due = 0.0
        self._asking = threading.Lock()
        self._knowing = threading.Lock()

    def committed(self, held: Sequence[StreamPositions[Any]], newest_epoch_ms: Mapping[str, int]) -> None:
        """Take in that a batch is committed; waits for nobody who asks.

        Args:
            held: what it held.
            newest_epoch_ms: creation of its newest record, by shard, in milliseconds since 1970 UTC.
        """
        ends = ends_that_count(held)
        with self._knowing:
            self._waiting = moved(self._waiting, self._ends, ends)
            self._held, self._ends = held, ends
            self._seen = self._seen.committed(newest_epoch_ms, self._ends)

    def after_batch(self) -> Lag:
        """Return what waits behind the last committed batch, without keeping the next one waiting.

        The sources are asked if that takes no more than half of `MOST_SHARE` of the time. Where it takes more, as with
        thousands of partitions, or while another thread asks, what the last look saw counts, less what was committed
        since.
        """
        if self._clock.monotonic() >= self._due and self._asking.acquire(blocking=False):
            try:
                return self._look()
            finally:
                self._asking.release()
        with self._knowing:
            return self._seen.lag(self._waiting, self._clock.epoch())

    def look(self, show: Callable[[Lag], None] | None = None) -> Lag:
        """Ask the sources and return what waits behind the last committed batch; nothing is known before one.

        Args:
            show: given the same, before anybody else may look: the newest answer is the one that stays shown.
        """
        with self._asking:
            return self._look(show)

    def _look(self, show: Callable[[Lag], None] | None = None) -> Lag:
        with self._knowing:
            held, ends = self._held, self._ends
        asked_epoch, spent_secs = self._clock.epoch(), self._spent()
        try:
            backlog = self._backlog(held) if held else {}
        except Exception as away:  # noqa: BLE001  the query itself asks for records, and says what is wrong
            self._failed(away)
            backlog = {}
        # Later than the thread that looks again and again, if there is one: then no batch has to.
        pays_after_secs = 2 * pause_secs(self._spent() - spent_secs, every_secs=0.0)
        with self._knowing:
            self._due = self._clock.monotonic() + pays_after_secs
            # A batch may have been committed meanwhile.
            self._waiting = moved(backlog, ends, self._ends)
            self._seen = self._seen.looked(self._waiting, asked_epoch, self._ends)
            lag = self._seen.lag(self._waiting, self._clock.epoch())
            if show is not None:
                show(lag)
            return lag

    @contextmanager
    def looking(self, show: Callable[[Lag], None], every_secs: float = EVERY_SECS) -> Iterator[None]:
        """Look again and again from a thread of its own, while the context is open.

        Args:
            show: given each answer.
            every_secs: shortest time between two looks.
        """
        ended = threading.Event()

        def watch() -> None:
            wait_secs = every_secs
            while not ended.wait(wait_secs):
                began_secs = self._spent()
                try:
                    self.look(show)
                except Exception as error:  # noqa: BLE001  the next look may be a better one
                    self._failed(error)
                wait_secs = pause_secs(self._spent() - began_secs, every_secs)

        # Not waited for at the end: a source that is away may hold it for some seconds, and it only shows a number.
        threading.Thread(target=watch, name="gluepot-lag", daemon=True).start()
        try:
            yield
        finally:
            ended.set()


def pause_secs(took_secs: float, every_secs: float = EVERY_SECS) -> float:
    """Return the time until the next look.

    Args:
        took_secs: processor time of the last one; a source that is slow to answer costs nothing.
        every_secs: shortest time between two.
    """
    return min(max(every_secs, took_secs / MOST_SHARE), MOST_SECS)
