"""The Kafka source reads one subscription: it is planned beside the driver and read in the workers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from gluepot.connectors.contracts import StreamReading
from gluepot.connectors.kafka.admin import KafkaAdmin
from gluepot.connectors.kafka.broker import Broker
from gluepot.connectors.kafka.planner import KafkaPlanner
from gluepot.connectors.kafka.positions import Bounds, Positions, plan, split
from gluepot.connectors.kafka.settings import KafkaReadSettings
from gluepot.connectors.kafka.shape import kafka_added, kafka_payload
from gluepot.connectors.kafka.task_reader import KafkaTaskReader
from gluepot.connectors.options import Declare
from gluepot.connectors.positions import PositionsCodec
from gluepot.connectors.streams.record_columns import check_distinct
from gluepot.connectors.streams.start import read_start
from gluepot.connectors.values import SourceRange, StreamShape
from gluepot.core.checkpoint import Checkpoint
from gluepot.core.clock import Clock

if TYPE_CHECKING:  # planners need none of the decoders
    from gluepot.frames.declared import DeclaredPayload, GrowingPayload

SMALL_CLIENT: Mapping[str, Any] = {"fetch.message.max.bytes": 1024 * 1024, "queued.max.messages.kbytes": 2048}
"""Limits for small batches: what is fetched at a time, and fetched ahead, for each partition."""
LEAST_PIECE = 25_000
"""The smallest piece that is worth the seek of another consumer: a seek takes some 10 ms, while reading and writing
this many offsets takes 100 ms."""


@dataclass(frozen=True)
class KafkaSource:
    """A `StreamSource` over Kafka.

    Args:
        settings: settings of the read.
        decoding: see `StreamShape`.
        check_deadline_secs: how long `check` waits for a broker that is just starting.
        folder: the query's folder on this machine, in which counted records are kept; None keeps none.
        guarantee: see `StreamSource`.
    """

    settings: KafkaReadSettings
    decoding: DeclaredPayload | GrowingPayload | None = None
    check_deadline_secs: float = 30.0
    folder: Path | None = None
    guarantee: str = "every committed record from the start position on; the same records for the same range"

    @property
    def shape(self) -> StreamShape:
        """See `StreamSource`."""
        own = self.settings
        return StreamShape(
            kafka_payload(own),
            kafka_added(own),
            self.decoding,
            own.classification,
            own.rejects_path,
            own.on_malformed,
            tuple((column.name, column.of) for column in own.record_columns),
        )

    @property
    def codec(self) -> PositionsCodec:
        """See `StreamSource`."""
        return PositionsCodec(Positions, self.settings.topics())

    @property
    def admin(self) -> KafkaAdmin:
        """See `StreamSource`."""
        return KafkaAdmin(self.settings, self.check_deadline_secs)

    @property
    def groups(self) -> KafkaAdmin | None:
        """See `StreamSource`."""
        return self.admin if self.settings.group else None

    @property
    def throttling(self) -> None:
        """See `StreamSource`; a broker delays its answers instead of refusing them."""

    def in_folder(self, folder: Path) -> Self:
        """See `StreamSource`."""
        return replace(self, folder=folder)

    def reading(self) -> StreamReading:
        """See `StreamSource`."""
        reader = KafkaTaskReader(self.settings, self.folder)
        return StreamReading(reader, ahead=reader, identity=reader, least_piece=LEAST_PIECE)

    def small_reading(self) -> StreamReading:
        """See `StreamSource`."""
        small = replace(self.settings, client={**SMALL_CLIENT, **self.settings.client})
        return replace(self, settings=small).reading()

    def planner(self, checkpoint: Checkpoint | None, clock: Clock) -> KafkaPlanner:
        """See `StreamSource`."""
        entry = checkpoint.newest_offsets() if checkpoint else None
        start = read_start(checkpoint.storage) if checkpoint and entry is None else None
        assert start is None or isinstance(start, Positions)
        location = checkpoint.location if checkpoint else ""
        return KafkaPlanner(self.settings, clock, entry, location, Broker(self.settings), start)

    def split(self, batch: Positions) -> list[SourceRange]:
        """See `StreamSource`."""
        return split(batch, self.settings.min_partitions)

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
    added = kafka_added(settings).names
    columns = settings.record_columns
    check_distinct(columns, [kafka_payload(settings).name, *added[: len(added) - len(columns)]])
    return KafkaSource(settings, declare(settings, added), settings.api_timeout_secs)
