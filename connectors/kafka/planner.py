"""The planner of a query: it decides which offsets each micro-batch holds."""

from __future__ import annotations

from gluepot.connectors.kafka.broker import Broker
from gluepot.connectors.kafka.losses import resumed
from gluepot.connectors.kafka.positions import SOURCE, Bounds, Lost, Positions, plan, refuse_loss
from gluepot.connectors.kafka.settings import KafkaReadSettings
from gluepot.connectors.streams.start import of_stream
from gluepot.core.checkpoint import OffsetEntry
from gluepot.core.clock import Clock
from gluepot.core.errors import TransientError
from gluepot.core.logging import get_logger


class KafkaPlanner:
    """Decides what each micro-batch holds; see `gluepot.connectors.contracts.Planner`.

    Args:
        settings: settings of the read.
        clock: for `maxTriggerDelay`, the deadline of an outage, and the waits before a loss counts.
        entry: newest entry of the offset log; None for a query without history.
        checkpoint: location of the checkpoint, for messages.
        broker: answers lookups.
        start: chosen start of a query without history; None to use `startingOffsets`.
    """

    def __init__(
        self,
        settings: KafkaReadSettings,
        clock: Clock,
        entry: OffsetEntry | None,
        checkpoint: str,
        broker: Broker,
        start: Positions | None = None,
    ) -> None:
        self._settings = settings
        self._clock = clock
        topics = settings.topics()
        self._last = None if entry is None else Positions.find_own(entry.sources, topics, checkpoint)
        self._initial: Positions | None = None
        self._chosen = None if start is None else of_stream(start, settings.covers, topics, checkpoint)
        self._batch_at = clock.monotonic()
        self._away_since: float | None = None
        self._broker = broker

    def initial(self) -> Positions:
        """Return where a query without history starts; the first answer is kept for later calls."""
        if self._initial is None:
            self._broker.require_topics()
            if self._chosen is None:
                self._initial = self._broker.resolve(self._settings.starting, self._broker.bounds())
            else:
                self._initial, _, _ = self._resumed(self._chosen)
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
        start, lost, now = self._resumed(self._last)
        batch = self._limited(start, now)
        return batch if batch.width() or lost else self._last

    def _resumed(self, ends: Positions) -> tuple[Positions, list[Lost], Bounds]:
        start, lost, now = resumed(ends, self._broker, self._clock)
        if lost and self._settings.fail_on_data_loss:
            refuse_loss(lost)
        for loss in lost:
            get_logger(__name__).error("records_lost", source=SOURCE, loss=str(loss))
        return start, lost, now

    def _limited(self, start: Positions, now: Bounds) -> Positions:
        batch = plan(start, now, self._settings.max_offsets_per_trigger)
        least = self._settings.min_offsets_per_trigger
        waited = self._clock.monotonic() - self._batch_at
        if least and batch.width() < least and waited < self._settings.max_trigger_delay_secs:
            return start
        self._batch_at = self._clock.monotonic()
        return batch
