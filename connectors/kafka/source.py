"""The Kafka source reads one subscription: it is planned on the driver and read in the workers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import pyarrow as pa

from gluepot.connectors.kafka.broker import Broker, broker_of
from gluepot.connectors.kafka.positions import (
    SOURCE,
    Bounds,
    Lost,
    Positions,
    lag,
    plan,
    refuse_loss,
    replaced,
    resume,
    split,
)
from gluepot.connectors.kafka.reader import begin_range, count_range, first_of, original, read_range
from gluepot.connectors.kafka.settings import KafkaReadSettings
from gluepot.connectors.kafka.shape import kafka_added, kafka_payload
from gluepot.connectors.options import Declare
from gluepot.connectors.ports import RawBatch, SourceRange
from gluepot.connectors.streams.dead_letters import OriginalRecord
from gluepot.connectors.streams.start import of_stream, read_start
from gluepot.core.checkpoint import Checkpoint, OffsetEntry
from gluepot.core.clock import Clock
from gluepot.core.datasets import Dataset, topic_dataset
from gluepot.core.errors import DataLoss, TransientError
from gluepot.core.logging import get_logger

if TYPE_CHECKING:  # planners need none of the decoders
    from gluepot.frames.declared import DeclaredPayload

TRY_SECS = 5.0
LEAN_CLIENT: Mapping[str, Any] = {"fetch.message.max.bytes": 1024 * 1024, "queued.max.messages.kbytes": 2048}
"""Limits for small batches: what is fetched at a time, and fetched ahead, for each partition."""
LEAST_PIECE = 25_000
"""The smallest piece that is worth the seek of another consumer: a seek takes some 10 ms, while reading and writing
this many offsets takes 100 ms."""
GROUP_SECS = 2.0
"""Longest wait for a group commit. Only tools read the group's positions, so a batch does not wait long for them."""


@dataclass(frozen=True)
class KafkaSource:
    """A `StreamSource` over Kafka. Holds settings only; clients live in the process that uses them.

    Args:
        settings: settings of the read.
        declared: the columns into which the worker decodes each payload; None leaves the payload as it is.
        check_deadline_secs: how long `check` waits for a broker that is just starting.
        folder: the query's folder on this machine, in which counted records are kept; None keeps none.
        guarantee: see `StreamSource`.
    """

    settings: KafkaReadSettings
    declared: DeclaredPayload | None = None
    check_deadline_secs: float = 30.0
    folder: Path | None = None
    guarantee: str = "every committed record from the start position on; the same records for the same range"

    def check(self) -> None:
        """Make sure that the broker answers and has the topics; wait for a broker that is just starting.

        Raises:
            TransientError: the broker was not reached within the deadline.
            ConfigError: a named topic does not exist.
        """
        import stamina  # noqa: PLC0415  neither planners nor workers need it

        deadline_secs = self.check_deadline_secs
        broker = Broker(self.settings, timeout_secs=min(TRY_SECS, deadline_secs))
        try:
            for attempt in stamina.retry_context(
                TransientError, attempts=None, timeout=deadline_secs, wait_max=TRY_SECS
            ):
                with attempt:
                    broker.require_topics()
        except TransientError as away:
            raise TransientError(
                f"Kafka at {self.settings.bootstrap} did not answer within {deadline_secs:.0f} s; start the"
                " broker, or correct bootstrap.servers.",
            ) from away

    def read(self, wanted: SourceRange) -> Iterator[RawBatch]:
        """See `StreamSource.read`."""
        return read_range(self.settings, wanted, self.folder)

    def begin(self, wanted: SourceRange) -> None:
        """See `AheadSource`."""
        begin_range(self.settings, wanted, self.folder)

    def remaining(self, load: Sequence[SourceRange]) -> Sequence[SourceRange]:
        """See `IdentifiedSource`; asks the broker only if the user accepts losses."""
        if self.settings.fail_on_data_loss:
            return load
        gone = self._replaced(load)
        for one in gone:
            loss = f"the topic of {one.stream}-{one.shard} {one.start} to {one.end} was deleted"
            get_logger(__name__).error("records_lost", source=SOURCE, loss=loss)
        return [one for one in load if one not in gone] if gone else load

    def confirm(self, load: Sequence[SourceRange]) -> None:
        """See `IdentifiedSource`; one lookup at the broker, about 1 ms."""
        if not (gone := self._replaced(load)):
            return
        happened = (
            f"Topic {gone[0].stream} was deleted, or deleted and created again, after the batch had been planned; its"
            f" records from offset {gone[0].start} to {gone[0].end} of partition {gone[0].shard} can no longer be read."
        )
        if self.settings.fail_on_data_loss:
            raise DataLoss(f"{happened} To go on from what is there, set failOnDataLoss to false.")
        raise TransientError(f"{happened} The batch is tried again without them.")

    def _replaced(self, load: Sequence[SourceRange]) -> list[SourceRange]:
        topics = {one.stream for one in load if one.stream_id}
        return replaced(load, broker_of(self.settings).topic_ids(sorted(topics))) if topics else []

    @property
    def least_piece(self) -> int:
        """See `DivisibleSource`."""
        return LEAST_PIECE

    def count(self, wanted: SourceRange) -> int:
        """See `StreamSource.count`."""
        return count_range(self.settings, wanted, self.folder)

    @property
    def classification(self) -> str:
        """See `PlannedSource`."""
        return self.settings.classification

    @property
    def payload(self) -> pa.Field:
        """See `PlannedSource`."""
        return kafka_payload(self.settings)

    @property
    def added(self) -> pa.Schema:
        """See `PlannedSource`."""
        return kafka_added(self.settings)

    @property
    def rejects_path(self) -> str | None:
        """See `PlannedSource`."""
        return self.settings.rejects_path

    def dataset(self, stream: str) -> Dataset:
        """See `PlannedSource`."""
        return topic_dataset(self.settings.bootstrap, stream)

    def told(self, folder: Path) -> Self:
        """See `PlannedSource`."""
        return replace(self, folder=folder)

    def lean(self) -> Self:
        """See `PlannedSource`."""
        return replace(self, settings=replace(self.settings, client={**LEAN_CLIENT, **self.settings.client}))

    def planner(self, checkpoint: Checkpoint | None, clock: Clock) -> Planner:
        """See `PlannedSource`."""
        entry = checkpoint.newest_offsets() if checkpoint else None
        start = read_start(checkpoint.storage) if checkpoint and entry is None else None
        assert start is None or isinstance(start, Positions)
        location = checkpoint.location if checkpoint else ""
        return Planner(self, clock, entry, location, Broker(self.settings), start)

    def parsed(self, plain: Mapping[str, Any]) -> Positions:
        """See `PlannedSource`."""
        return Positions.from_json(plain)

    def positions(self, entry: OffsetEntry, checkpoint: str) -> Positions:
        """See `PlannedSource`."""
        return Positions.find_own(entry.sources, self.settings.topics(), checkpoint)

    def split(self, batch: Positions) -> list[SourceRange]:
        """See `PlannedSource`."""
        return split(batch, self.settings.min_partitions)

    def records(self, batch: Positions) -> int:
        """See `PlannedSource`; markers and compacted records are counted too."""
        return batch.width()

    def backlog(self, ends: Positions) -> dict[str, int]:
        """Return the number of records after `ends`, by `topic-partition`; the broker is asked now."""
        return lag(ends.ends(), Broker(self.settings).latest())

    def ends_at(self, epoch_secs: float) -> dict[tuple[str, int], int | None]:  # noqa: ARG002  now is late enough
        """See `PlannedSource`; the broker is asked now."""
        now = Broker(self.settings).bounds()
        return {(now.topic_ids[topic], p): end for (topic, p), end in now.latest.items()}

    def check_position(self, held: Positions) -> None:
        """Make sure that the broker still has the records after a batch.

        Raises:
            DataLoss: it does not, and failOnDataLoss is true.
        """
        if self.settings.fail_on_data_loss:
            _, lost = resume(held, Broker(self.settings).bounds())
            refuse_loss(lost)

    @property
    def group(self) -> str:
        """See `GroupedSource`."""
        return self.settings.group

    def commit_group(self, batch: Positions) -> None:
        """See `GroupedSource`."""
        Broker(self.settings, GROUP_SECS).commit_group(self.group, batch.ends())

    def any_record(self, ranges: Iterable[SourceRange]) -> bool:
        """Tell whether the ranges hold at least one record: they may hold only transaction markers."""
        return any(first_of(self.settings, wanted) for wanted in self.remaining(list(ranges)))

    def originals(self, ranges: Iterable[SourceRange]) -> Iterator[OriginalRecord]:
        """Yield the first record of each range as the broker holds it; an empty range yields nothing.

        The driver reads the records.
        """
        for wanted in ranges:
            for record in first_of(self.settings, wanted):
                yield original(record)

    def bounded(self) -> list[SourceRange]:
        """Return the ranges of a batch read, from startingOffsets (earliest by default) to endingOffsets."""
        broker = Broker(self.settings)
        broker.require_topics()
        now = broker.bounds()
        start = broker.resolve(self.settings.starting, now)
        end = broker.resolve(self.settings.ending, now).ends()
        return self.split(plan(start, Bounds(now.topic_ids, now.earliest, end), None))


def kafka_source(options: Mapping[str, Any], declare: Declare) -> KafkaSource:
    """Return the source for a script's options, which include the connection's properties.

    Raises:
        ConfigError: as `KafkaReadSettings.from_options` raises it.
    """
    settings = KafkaReadSettings.from_options(options)
    return KafkaSource(settings, declare(settings, kafka_added(settings).names), settings.api_timeout_secs)


class Planner:
    """Decides what each micro-batch holds. Lives in the planner's process, as long as the query.

    Args:
        source: the source to plan for.
        clock: for `maxTriggerDelay` and the deadline of an outage.
        entry: newest entry of the offset log; None for a query without history.
        checkpoint: location of the checkpoint, for messages.
        broker: answers lookups.
        start: chosen start of a query without history; None to use `startingOffsets`.
    """

    def __init__(
        self,
        source: KafkaSource,
        clock: Clock,
        entry: OffsetEntry | None,
        checkpoint: str,
        broker: Broker,
        start: Positions | None = None,
    ) -> None:
        self._source = source
        self._settings = source.settings
        self._clock = clock
        self._last: Positions | None = None if entry is None else source.positions(entry, checkpoint)
        self._initial: Positions | None = None
        own = source.settings
        self._chosen = None if start is None else of_stream(start, own.covers, own.topics(), checkpoint)
        self._batch_at = clock.monotonic()
        self._away_since: float | None = None
        self._broker = broker

    def initial(self) -> Positions:
        """Return where a query without history starts; the first answer is kept for later calls."""
        if self._initial is None:
            self._broker.require_topics()
            now = self._broker.bounds()
            if self._chosen is None:
                self._initial = self._broker.resolve(self._settings.starting, now)
            else:
                self._initial, _ = self._resumed(self._chosen, now)
        return self._initial

    def latest(self) -> Positions:
        """Return the next batch, or the last one again if there are no records to read, or not enough yet.

        If the broker does not answer, the position stays where it is until the deadline of the settings.

        Raises:
            DataLoss: records vanished before they were read, and failOnDataLoss is true.
            TransientError: the broker was unreachable for longer than the deadline.
        """
        try:
            planned = self._plan()
        except TransientError as away:
            now = self._clock.monotonic()
            self._away_since = now if self._away_since is None else self._away_since
            if self._last is None or now - self._away_since > self._settings.retry_deadline_secs:
                raise
            get_logger(__name__).warning("broker_away", secs=round(now - self._away_since), reason=str(away))
            return self._last
        self._away_since = None
        self._last = planned
        return planned

    def committed(self, batch: Positions) -> None:
        """Do nothing: the checkpoint is the authority."""

    def close(self) -> None:
        """Do nothing: the planner holds no resources that need releasing."""

    def _plan(self) -> Positions:
        if self._last is None:
            start, now = self.initial(), self._broker.bounds()
            return self._limited(start, now)
        now = self._broker.bounds()
        start, lost = self._resumed(self._last, now)
        batch = self._limited(start, now)
        return batch if batch.width() or lost else self._last

    def _resumed(self, ends: Positions, now: Bounds) -> tuple[Positions, list[Lost]]:
        start, lost = resume(ends, now)
        if lost and self._settings.fail_on_data_loss:
            refuse_loss(lost)
        for loss in lost:
            get_logger(__name__).error("records_lost", source=SOURCE, loss=str(loss))
        return start, lost

    def _limited(self, start: Positions, now: Bounds) -> Positions:
        batch = plan(start, now, self._settings.max_offsets_per_trigger)
        least = self._settings.min_offsets_per_trigger
        waited = self._clock.monotonic() - self._batch_at
        if least and batch.width() < least and waited < self._settings.max_trigger_delay_secs:
            return start
        self._batch_at = self._clock.monotonic()
        return batch
