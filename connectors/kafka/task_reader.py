"""Reads ranges of Kafka inside a task."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from gluepot.connectors.kafka.broker import broker_of
from gluepot.connectors.kafka.losses import confirmed
from gluepot.connectors.kafka.positions import SOURCE, replaced
from gluepot.connectors.kafka.reader import begin_range, count_range, read_range
from gluepot.connectors.kafka.settings import KafkaReadSettings
from gluepot.connectors.values import RawBatch, SourceRange
from gluepot.core.clock import SystemClock
from gluepot.core.errors import DataLoss, TransientError
from gluepot.core.logging import get_logger


@dataclass(frozen=True, slots=True)
class KafkaTaskReader:
    """A `TaskReader`, `AheadReader` and `StreamIdentity`; clients live in the process that uses them.

    Args:
        settings: settings of the read.
        folder: the query's folder on this machine, in which counted records are kept; None keeps none.
    """

    settings: KafkaReadSettings
    folder: Path | None = None

    def read(self, wanted: SourceRange) -> Iterator[RawBatch]:
        """See `TaskReader`."""
        return read_range(self.settings, wanted, self.folder)

    def count(self, wanted: SourceRange) -> int:
        """See `TaskReader`."""
        return count_range(self.settings, wanted, self.folder)

    def begin(self, wanted: SourceRange) -> None:
        """See `AheadReader`."""
        begin_range(self.settings, wanted, self.folder)

    def remaining(self, load: Sequence[SourceRange]) -> Sequence[SourceRange]:
        """See `StreamIdentity`; asks the broker only if the user accepts losses."""
        if self.settings.fail_on_data_loss:
            return load
        gone = self._replaced(load)
        for one in gone:
            loss = f"the topic of {one.stream}-{one.shard} {one.start} to {one.end} was deleted"
            get_logger(__name__).error("records_lost", source=SOURCE, loss=loss)
        return [one for one in load if one not in gone] if gone else load

    def confirm(self, load: Sequence[SourceRange]) -> None:
        """See `StreamIdentity`; one lookup at the broker, about 1 ms."""
        if not (gone := self._replaced(load)):
            return
        happened = (
            f"Topic {gone[0].stream} was deleted, or deleted and created again, after the batch had been planned; its"
            f" records from offset {gone[0].start} to {gone[0].end} of partition {gone[0].shard} can no longer be read."
        )
        if self.settings.fail_on_data_loss:
            raise DataLoss(f"{happened} To go on from what is there, set failOnDataLoss to false.")
        raise TransientError(f"{happened} The batch goes on without them.")

    def _replaced(self, load: Sequence[SourceRange]) -> list[SourceRange]:
        topics = sorted({one.stream for one in load if one.stream_id})
        if not topics:
            return []
        broker = broker_of(self.settings)
        return confirmed(lambda: replaced(load, broker.topic_ids(topics)), bool, broker, SystemClock())
