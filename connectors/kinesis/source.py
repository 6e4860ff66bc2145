"""The Kinesis source reads one stream: ahead of the batches in a process beside the driver, decoded in the workers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import pyarrow as pa

from gluepot.connectors.contracts import StreamReading
from gluepot.connectors.kinesis.admin import KinesisAdmin
from gluepot.connectors.kinesis.blocks import RECORD_COLUMNS
from gluepot.connectors.kinesis.planner import KinesisPlanner
from gluepot.connectors.kinesis.positions import Positions
from gluepot.connectors.kinesis.settings import FromHorizon, FromLatest, KinesisReadSettings
from gluepot.connectors.kinesis.task_reader import KinesisTaskReader
from gluepot.connectors.options import Declare
from gluepot.connectors.positions import PositionsCodec
from gluepot.connectors.streams.record_columns import check_distinct
from gluepot.connectors.streams.shape import RECORD_TIMESTAMP_FIELD, payload_field
from gluepot.connectors.streams.start import of_stream, read_start
from gluepot.connectors.values import SourceRange, StreamShape
from gluepot.core.checkpoint import Checkpoint
from gluepot.core.clock import Clock, SystemClock

if TYPE_CHECKING:  # planners need none of the decoders
    from gluepot.frames.declared import DeclaredPayload, GrowingPayload


@dataclass(frozen=True)
class KinesisSource:
    """A `StreamSource` over Kinesis.

    Args:
        settings: settings of the read.
        decoding: see `StreamShape`.
        folder: the folder that driver, planner and the tasks on their machine share; None before there is a query.
        check_deadline_secs: how long `check` waits for a service that is just starting.
        guarantee: see `StreamSource`.
    """

    settings: KinesisReadSettings
    decoding: DeclaredPayload | GrowingPayload | None = None
    folder: Path | None = None
    check_deadline_secs: float = 30.0
    guarantee: str = "every record from the start position on; the same records for the same range"

    @property
    def shape(self) -> StreamShape:
        """See `StreamSource`."""
        own = self.settings
        payload = payload_field(own.classification, infer_schema=own.infer_schema)
        return StreamShape(
            payload,
            _added(own),
            self.decoding,
            own.classification,
            own.rejects_path,
            own.on_malformed,
            tuple((column.name, column.of) for column in own.record_columns),
        )

    @property
    def codec(self) -> PositionsCodec:
        """See `StreamSource`."""
        return PositionsCodec(Positions, [self.settings.address.name])

    @property
    def admin(self) -> KinesisAdmin:
        """See `StreamSource`."""
        return KinesisAdmin(self.settings, self.folder, self.check_deadline_secs)

    @property
    def groups(self) -> None:
        """See `StreamSource`; Kinesis knows no groups."""

    @property
    def throttling(self) -> KinesisAdmin:
        """See `StreamSource`."""
        return self.admin

    def in_folder(self, folder: Path) -> Self:
        """See `StreamSource`."""
        return replace(self, folder=folder)

    def reading(self) -> StreamReading:
        """See `StreamSource`."""
        return StreamReading(KinesisTaskReader(self.settings, self.folder))

    def small_reading(self) -> StreamReading:
        """See `StreamSource`; the planner has already fetched the records of a batch."""
        return self.reading()

    def planner(self, checkpoint: Checkpoint | None, clock: Clock) -> KinesisPlanner:
        """See `StreamSource`."""
        assert self.folder is not None  # `in_folder` set it when the frame was made.
        name = self.settings.address.name
        entry = checkpoint.newest_offsets() if checkpoint else None
        last = None
        if checkpoint and entry:
            last = Positions.find_own(entry.sources, [name], checkpoint.location)
        elif checkpoint and (start := read_start(checkpoint.storage)):
            assert isinstance(start, Positions)
            last = of_stream(start, lambda stream, _: stream == name, [name], checkpoint.location)
        return KinesisPlanner(self.settings, self.folder, last, clock)

    def split(self, batch: Positions) -> list[SourceRange]:
        """See `StreamSource`; each shard becomes one task."""
        return batch.ranges()

    def bounded(self) -> list[SourceRange]:
        """Return the ranges of a batch read, from startingPosition (the oldest record by default) to now."""
        assert self.folder is not None  # `in_folder` set it when the frame was made.
        own = self.settings
        starting = FromHorizon() if isinstance(own.starting, FromLatest) else own.starting
        # A subscription would show the present end of a shard only to a reader that began with it.
        endless = replace(own, starting=starting, max_records_per_shard=1 << 62, fan_out=None)
        clock = SystemClock()
        began_epoch = clock.epoch()
        planner = KinesisPlanner(endless, self.folder, None, clock)
        held: list[SourceRange] = []
        try:
            while True:
                batch = planner.latest()
                held += [one for one in batch.ranges() if one not in held]
                ends = self.admin.ends_at(began_epoch) or {}
                reached = batch.ends_by_id()
                if ends and all(end is not None and reached.get(shard, 0) >= end for shard, end in ends.items()):
                    return held
        finally:
            planner.close()


def kinesis_source(options: Mapping[str, Any], declare: Declare) -> KinesisSource:
    """Return the source for a script's options; raises ConfigError as `KinesisReadSettings.from_options` does."""
    settings = KinesisReadSettings.from_options(options)
    added, columns = _added(settings).names, settings.record_columns
    payload = payload_field(settings.classification, infer_schema=settings.infer_schema)
    check_distinct(columns, [payload.name, *added[: len(added) - len(columns)]])
    return KinesisSource(settings, declare(settings, added))


def _added(settings: KinesisReadSettings) -> pa.Schema:
    own = [RECORD_TIMESTAMP_FIELD] if settings.add_record_timestamp else []
    asked = [RECORD_COLUMNS.field(column.of).with_name(column.name) for column in settings.record_columns]
    return pa.schema([*own, *asked])
