"""What the driver asks of a Kafka broker while a query runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TypeVar

from gluepot.connectors.kafka.broker import Broker
from gluepot.connectors.kafka.losses import resumed
from gluepot.connectors.kafka.positions import Positions, lag, refuse_loss
from gluepot.connectors.kafka.reader import first_of
from gluepot.connectors.kafka.settings import KafkaReadSettings
from gluepot.connectors.kafka.task_reader import KafkaTaskReader
from gluepot.connectors.values import OriginalRecord, SourceRange
from gluepot.core.clock import SystemClock
from gluepot.core.datasets import Dataset, topic_dataset
from gluepot.core.errors import TransientError

TRY_SECS = 5.0
GROUP_SECS = 2.0
"""Longest wait for a group commit. Only tools read the group's positions, so a batch does not wait long for them."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class KafkaAdmin:
    """A `StreamAdmin`, and the `GroupPositions` of the group in the settings.

    Args:
        settings: settings of the read.
        deadline_secs: how long `check` waits for a broker that is just starting.
    """

    settings: KafkaReadSettings
    deadline_secs: float = 30.0

    def check(self) -> None:
        """Make sure that the broker answers and has the topics; wait for a broker that is just starting.

        Raises:
            TransientError: the broker was not reached within the deadline.
            ConfigError: a named topic does not exist.
        """
        self._patiently(Broker.require_topics)

    def backlog(self, ends: Positions) -> dict[str, int]:
        """Return the number of records after `ends`, by `topic-partition`; the broker is asked now."""
        return lag(ends.ends(), Broker(self.settings).latest())

    def ends_at(self, epoch_secs: float) -> dict[tuple[str, int], int | None]:  # noqa: ARG002  now is late enough
        """See `StreamAdmin`; the broker is asked now."""
        now = Broker(self.settings).bounds()
        return {(now.topic_ids[topic], p): end for (topic, p), end in now.latest.items()}

    def check_position(self, held: Positions) -> None:
        """Make sure that the broker still has the records after a batch; wait, as `check` does.

        Raises:
            TransientError: the broker was not reached within the deadline.
            DataLoss: the broker does not have them, and failOnDataLoss is true.
        """
        if self.settings.fail_on_data_loss:
            _, lost, _ = self._patiently(lambda broker: resumed(held, broker, SystemClock()))
            refuse_loss(lost)

    def _patiently(self, ask: Callable[[Broker], T]) -> T:
        from gluepot.core.retries import attempts  # noqa: PLC0415  neither planners nor workers need it

        deadline_secs = self.deadline_secs
        broker = Broker(self.settings, timeout_secs=min(TRY_SECS, deadline_secs))
        try:
            for attempt in attempts(deadline_secs, TRY_SECS):
                with attempt:
                    answer = ask(broker)
        except TransientError as away:
            raise TransientError(
                f"Kafka at {self.settings.bootstrap} did not answer within {deadline_secs:.0f} s; start the"
                " broker, or correct bootstrap.servers.",
            ) from away
        return answer

    def any_record(self, ranges: Iterable[SourceRange]) -> bool:
        """Tell whether the ranges hold at least one record: they may hold only transaction markers."""
        there = KafkaTaskReader(self.settings).remaining(list(ranges))
        return any(first_of(self.settings, wanted) is not None for wanted in there)

    def originals(self, ranges: Iterable[SourceRange]) -> Iterator[OriginalRecord]:
        """Yield the first record of each range as the broker holds it; an empty range yields nothing.

        The driver reads the records.
        """
        for wanted in ranges:
            if (first := first_of(self.settings, wanted)) is not None:
                yield from first.originals()

    def dataset(self, stream: str) -> Dataset:
        """See `StreamAdmin`."""
        return topic_dataset(self.settings.bootstrap, stream)

    @property
    def group(self) -> str:
        """See `GroupPositions`."""
        return self.settings.group

    def commit_group(self, batch: Positions) -> None:
        """See `GroupPositions`."""
        Broker(self.settings, GROUP_SECS).commit_group(self.group, batch.ends())
