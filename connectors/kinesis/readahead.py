"""Fetches records ahead of the batches: a few threads read all shards of a stream in turn and fill the spool.

With enhanced fan-out, each shard has a thread that waits for what the service pushes.
"""

from __future__ import annotations

import threading
from collections import Counter, deque
from collections.abc import Callable
from dataclasses import dataclass, field

from gluepot.connectors.aws.errors import Throttled
from gluepot.connectors.documents.bulk import Refused
from gluepot.connectors.kinesis.blocks import Extent, extent_of
from gluepot.connectors.kinesis.client import KinesisClient
from gluepot.connectors.kinesis.cursor import AtHorizon, Cursor, Fetched, Place
from gluepot.connectors.kinesis.errors import NoSuchStream
from gluepot.connectors.kinesis.pacing import Read, wait_secs
from gluepot.connectors.kinesis.plan import Ahead, finished, place_of
from gluepot.connectors.kinesis.positions import Positions, position
from gluepot.connectors.kinesis.service import list_shards
from gluepot.connectors.kinesis.settings import KinesisReadSettings
from gluepot.connectors.kinesis.shard_ends import ShardEnd
from gluepot.connectors.kinesis.spool import SpoolWriter
from gluepot.connectors.kinesis.subscription import Subscription
from gluepot.connectors.kinesis.topology import Shard, readable
from gluepot.core.backoff import backoff_secs
from gluepot.core.clock import Clock
from gluepot.core.errors import DataLoss, EtlError, PermanentError, TransientError
from gluepot.core.logging import get_logger

MAX_THREADS = 8
SPOOL_BYTES = 512 * 1024 * 1024
"""Limit for the bytes on disk of blocks that no finished batch has read. It is twice a batch of eight busy shards over
10 s."""
FULL_WAIT_SECS = 0.1
SAY_EVERY_SECS = 10.0

log = get_logger(__name__)


@dataclass(slots=True)
class _Shard:
    """The state of reading one shard. It changes only under the lock, except for the cursor, which its reader owns."""

    name: str
    cursor: Cursor | Subscription
    end: int | None
    blocks: deque[Extent] = field(default_factory=deque)
    closed: bool = False
    tip_epoch: float = 0.0
    behind_ms: int = 1
    due: float = 0.0
    busy: bool = False
    failures: int = 0
    throttled: int = 0
    away_since: float | None = None


class ReadAhead:
    """Reads all shards of one stream, from given positions on.

    Args:
        client: client of the stream.
        settings: settings of the read.
        spool: receives the blocks.
        clock: for pacing.
        chance: gives numbers between 0 and 1, for jitter.
        wait: waits for a condition, at most the given number of the clock's seconds.
        consumer: ARN of the consumer for enhanced fan-out; empty to read with GetRecords.
    """

    def __init__(
        self,
        client: KinesisClient,
        settings: KinesisReadSettings,
        spool: SpoolWriter,
        clock: Clock,
        chance: Callable[[], float],
        wait: Callable[[threading.Condition, float], object] = threading.Condition.wait,
        consumer: str = "",
    ) -> None:
        self._client = client
        self._consumer = consumer
        self._settings = settings
        self._stream = settings.address.name
        self._spool = spool
        self._clock = clock
        self._chance = chance
        self._wait = wait
        self._changed = threading.Condition()
        self._states: dict[str, _Shard] = {}
        self._shards: tuple[Shard, ...] = ()
        self._held = Positions()
        self._error: EtlError | None = None
        self._spooled: dict[tuple[str, Extent], int] = {}
        self._list_due = 0.0
        self._listing = False
        self._stopped = False
        self._threads: list[threading.Thread] = []
        self._counts: Counter[str] = Counter()
        self._said = 0.0
        self._entries = 0

    def begin(self, held: Positions, shards: tuple[Shard, ...]) -> None:
        """Start to read after a batch; called once."""
        with self._changed:
            self._held = held
            self._shards = shards
            self._list_due = self._clock.monotonic() + self._settings.describe_interval_secs
            self._open()

    def close(self) -> None:
        """Stop reading; returns at once."""
        with self._changed:
            self._stopped = True
            self._changed.notify_all()
            cursors = [one.cursor for one in self._states.values()]
        for cursor in cursors:
            cursor.close()

    def ahead(self) -> tuple[tuple[Shard, ...], dict[str, Ahead]]:
        """Return all listed shards, and the blocks that were fetched and are in no batch yet.

        Raises:
            DataLoss: records vanished before they were read.
            TransientError: the service did not answer for longer than the deadline.
            EtlError: the service refuses to answer.
        """
        with self._changed:
            if self._error is not None:
                raise self._error
            found = {name: Ahead(tuple(one.blocks), one.closed) for name, one in self._states.items()}
            return self._shards, found

    def has_failed(self) -> bool:
        """Tell whether `ahead` raises. It needs no lock, and planners ask often."""
        return self._error is not None

    def entries(self) -> int:
        """Return how often a shard that has answered was entered by its name alone (see `Cursor.entered_by_name`)."""
        with self._changed:
            return self._entries

    def ends(self) -> dict[str, ShardEnd]:
        """Return how far each shard has been read, including shards that must wait for their parents."""
        with self._changed:
            done = self._finished()
            waiting = {shard.id: ShardEnd(0, 0.0, 0, 1) for shard in self._shards if shard.id not in done}
            return waiting | {
                name: ShardEnd(
                    one.end or 0,
                    one.tip_epoch,
                    sum(block.records for block in one.blocks),
                    0 if one.closed else one.behind_ms,
                    one.throttled,
                )
                for name, one in self._states.items()
            }

    def wait(self, secs: float) -> None:
        """Wait until records were fetched, but no longer than the given time."""
        with self._changed:
            self._wait(self._changed, secs)

    def planned(self, batch: Positions) -> None:
        """Take out the blocks that a batch now holds; their files stay until `forget`."""
        with self._changed:
            self._held = batch
            for name, one in self._states.items():
                span = batch.spans.get((self._stream, name))
                while span is not None and one.blocks and one.blocks[0].end <= span.end:
                    one.blocks.popleft()

    def forget(self, batch: Positions) -> None:
        """Remove the files of a batch that is done, and of the batches before it."""
        ends = {shard: end for (_, shard), end in batch.ends().items()}
        with self._changed:
            old = [key for key in self._spooled if key[1].end <= ends.get(key[0], 0)]
            for key in old:
                del self._spooled[key]
        self._spool.forget(old)

    def _finished(self) -> set[str]:
        return finished(self._stream, self._held) | {name for name, one in self._states.items() if one.closed}

    def _open(self) -> None:
        """Begin to read the shards that have become readable, and start enough threads for them."""
        for name in readable(self._shards, self._finished()):
            if name not in self._states:
                span = self._held.spans.get((self._stream, name))
                cursor = self._cursor(name, place_of(self._stream, name, self._held))
                self._states[name] = _Shard(name, cursor, None if span is None else span.end)
        for _ in range(self._wanted_threads() - len(self._threads)):
            thread = threading.Thread(target=self._serve, name="kinesis-read-ahead", daemon=True)
            self._threads.append(thread)
            thread.start()
        self._changed.notify_all()

    def _wanted_threads(self) -> int:
        if self._consumer:
            return 1 + sum(not one.closed for one in self._states.values())
        return min(MAX_THREADS, max(1, len(self._states)))

    def _cursor(self, shard: str, place: Place) -> Cursor | Subscription:
        if self._consumer:
            return Subscription(self._client, shard, place, self._consumer, self._clock)
        return Cursor(self._client, shard, place)

    def _serve(self) -> None:
        while True:
            with self._changed:
                task = self._next()
                if task is None:
                    return
            try:
                if isinstance(task, _Shard):
                    self._read(task)
                else:
                    self._list()
            except Exception as error:  # noqa: BLE001  a thread that ended silently would stall the stream
                with self._changed:
                    self._fail(PermanentError(f"Reading ahead in Kinesis stream {self._stream} failed: {error!r}."))
                    self._changed.notify_all()

    def _next(self) -> _Shard | str | None:
        """Wait for the next task that is due and return it; None means the end. Called under the lock."""
        while not self._stopped:
            now = self._clock.monotonic()
            if now >= self._list_due and not self._listing:
                self._listing = True
                return "list"
            idle = [one for one in self._states.values() if not one.busy and not one.closed]
            soonest = min(idle, key=lambda one: one.due, default=None)
            if soonest is not None and soonest.due <= now:
                if sum(self._spooled.values()) < SPOOL_BYTES:
                    soonest.busy = True
                    return soonest
                self._wait(self._changed, FULL_WAIT_SECS)
                continue
            due = min([self._list_due if not self._listing else now + 1.0, *(one.due for one in idle)])
            self._wait(self._changed, max(0.001, due - now))
        return None

    def _list(self) -> None:
        failed = None
        try:
            shards = list_shards(self._client)
        except EtlError as error:
            shards, failed = (), error
        with self._changed:
            self._listing = False
            self._list_due = self._clock.monotonic() + self._settings.describe_interval_secs
            if failed is None:
                self._shards = shards
                self._open()
            elif isinstance(failed, TransientError):
                # Reads continue without a new list; if the service is unreachable, they report that.
                self._list_due += self._backoff(3)
            else:
                self._fail(failed)

    def _read(self, one: _Shard) -> None:
        began, began_epoch = self._clock.monotonic(), self._clock.epoch()
        fetched: Fetched | None = None
        extent: Extent | None = None
        failed: EtlError | None = None
        size, before = 0, one.cursor.place
        try:
            fetched = one.cursor.fetch(self._settings.max_records_per_read)
            if fetched.block.num_rows:
                first = int(fetched.block.column("sequence")[0].as_py())
                start = position(first) if one.end is None else one.end
                extent = extent_of(fetched.block, start, fetched.total)
                size = self._spool.write(one.name, extent, fetched.block)
        except EtlError as error:
            failed = error
        except OSError as error:
            one.cursor.close()
            one.cursor = self._cursor(one.name, before)
            failed = TransientError(
                f"The spool of Kinesis records cannot be written ({error}); check the free disk space."
            )
        with self._changed:
            one.busy = False
            if failed is not None and not self._stopped:
                self._after_failure(one, failed, began)
            elif fetched is not None:
                self._after_read(one, fetched, extent, size, began, began_epoch)
            self._changed.notify_all()

    def _after_read(
        self, one: _Shard, fetched: Fetched, extent: Extent | None, size: int, began: float, began_epoch: float
    ) -> None:
        one.failures, one.away_since = 0, None
        self._entries += one.cursor.entered_by_name
        one.cursor.entered_by_name = False
        if extent is not None:
            one.blocks.append(extent)
            one.end = extent.end
            self._spooled[one.name, extent] = size
        one.behind_ms = fetched.behind_ms
        at_tip = fetched.behind_ms == 0
        if at_tip or fetched.closed:
            one.tip_epoch = began_epoch if fetched.seen_epoch is None else max(one.tip_epoch, fetched.seen_epoch)
        one.closed = fetched.closed
        if fetched.closed:
            self._list_due = self._clock.monotonic()  # Find the shard's children at once.
            self._open()
        if one.cursor.pushed:
            one.due = one.cursor.not_before if fetched.seen_epoch == 0 else began
            if at_tip and extent is None and not fetched.closed and self._has_ended(one.name):
                self._finish_by_polling(one)
            return
        read = Read(size, at_tip=at_tip and extent is None)
        one.due = began + wait_secs(read, self._settings.idle_secs)

    def _has_ended(self, name: str) -> bool:
        return any(shard.ended for shard in self._shards if shard.id == name)

    def _finish_by_polling(self, one: _Shard) -> None:
        """Read the rest of a shard that has ended with GetRecords, which reports the end of a shard.

        The service itself reports it in the last event. Emulators do not.
        """
        one.cursor.close()
        one.cursor = Cursor(self._client, one.name, one.cursor.place)

    def _after_failure(self, one: _Shard, failed: EtlError, began: float) -> None:
        one.failures += 1
        now = self._clock.monotonic()
        one.due = max(now + self._backoff(one.failures), one.cursor.not_before)
        match failed:
            case Throttled():
                one.throttled += 1
                self._count("throttled", failed)
            case TransientError():
                self._count("failed", failed)
                one.away_since = began if one.away_since is None else one.away_since
                if now - one.away_since > self._settings.retry_deadline_secs:
                    self._fail(failed)
            case Refused() if self._settings.fail_on_data_loss:
                self._fail(
                    DataLoss(
                        f"Shard {one.name} of Kinesis stream {self._stream} no longer has the position to go on from"
                        f" ({failed}). To go on from its oldest record, set failOnDataLoss to false."
                    )
                )
            case Refused():
                log.error("records_lost", source="kinesis", loss=f"shard {one.name}: {failed}")
                one.cursor.close()
                one.cursor = self._cursor(one.name, AtHorizon())
            case NoSuchStream() if self._consumer:
                self._fail(
                    TransientError(
                        f"Kinesis no longer has consumer {self._consumer}, or its stream ({failed}); the query restarts"
                        " and checks both."
                    )
                )
            case NoSuchStream():
                self._fail(DataLoss(f"Kinesis stream {self._stream} was deleted while it was read ({failed})."))
            case _:
                self._fail(failed)

    def _fail(self, error: EtlError) -> None:
        self._error = self._error or error

    def _backoff(self, attempt: int) -> float:
        own = self._settings
        return backoff_secs(attempt, own.retry_base_secs, own.retry_cap_secs, self._chance())

    def _count(self, what: str, reason: EtlError) -> None:
        self._counts[what] += 1
        now = self._clock.monotonic()
        if now - self._said >= SAY_EVERY_SECS or not self._said:
            self._said = now
            log.warning("kinesis_reads_held_up", **self._counts, reason=str(reason))
