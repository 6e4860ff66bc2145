"""The Kinesis source reads one stream: ahead of the batches in a process beside the driver, decoded in the workers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import pyarrow as pa

from gluepot.connectors.kinesis import reader
from gluepot.connectors.kinesis.errors import NoSuchStream
from gluepot.connectors.kinesis.plan import losses
from gluepot.connectors.kinesis.planner import KinesisPlanner, refuse_losses
from gluepot.connectors.kinesis.positions import Note, Positions
from gluepot.connectors.kinesis.service import stream_facts
from gluepot.connectors.kinesis.settings import FromHorizon, FromLatest, KinesisReadSettings
from gluepot.connectors.kinesis.shard_ends import read_shard_ends
from gluepot.connectors.options import Declare
from gluepot.connectors.ports import RawBatch, SourceRange
from gluepot.connectors.streams.dead_letters import OriginalRecord
from gluepot.connectors.streams.shape import RECORD_TIMESTAMP_FIELD, payload_field
from gluepot.connectors.streams.start import of_stream, read_start
from gluepot.core.checkpoint import Checkpoint, OffsetEntry
from gluepot.core.clock import Clock, SystemClock
from gluepot.core.datasets import Dataset, stream_dataset
from gluepot.core.errors import ConfigError, TransientError

if TYPE_CHECKING:  # planners need none of the decoders
    from gluepot.frames.declared import DeclaredPayload

TRY_SECS = 5.0


@dataclass(frozen=True)
class KinesisSource:
    """A `PlannedSource` over Kinesis. Holds settings only; clients live in the process that uses them.

    Args:
        settings: settings of the read.
        declared: the columns into which the worker decodes each payload; None leaves the payload as it is.
        folder: the folder that driver, planner and the tasks on their machine share; None before there is a query.
        check_deadline_secs: how long `check` waits for a service that is just starting.
        guarantee: see `StreamSource`.
    """

    settings: KinesisReadSettings
    declared: DeclaredPayload | None = None
    folder: Path | None = None
    check_deadline_secs: float = 30.0
    guarantee: str = "every record from the start position on; the same records for the same range"

    def check(self) -> None:
        """Make sure that the service answers and has the stream; wait for a service that is just starting.

        Raises:
            TransientError: the service was not reached within the deadline.
            ConfigError: the stream does not exist, or the credentials do not allow reading it.
        """
        import stamina  # noqa: PLC0415  neither planners nor workers need it

        client = reader.client_of(self.settings.address)
        deadline_secs = self.check_deadline_secs
        try:
            for attempt in stamina.retry_context(
                TransientError, attempts=None, timeout=deadline_secs, wait_max=TRY_SECS
            ):
                with attempt:
                    stream_facts(client)
        except NoSuchStream as missing:
            raise ConfigError(str(missing)) from missing
        except TransientError as away:
            raise TransientError(f"{client.where} did not answer within {deadline_secs:.0f} s ({away}).") from away

    def read(self, wanted: SourceRange) -> Iterator[RawBatch]:
        """See `StreamSource.read`."""
        return reader.read_range(self.settings, self._spool, wanted)

    def count(self, wanted: SourceRange) -> int:
        """See `StreamSource.count`."""
        return sum(len(raw.values) for raw in self.read(wanted))

    @property
    def classification(self) -> str:
        """See `PlannedSource`."""
        return self.settings.classification

    @property
    def payload(self) -> pa.Field:
        """See `PlannedSource`."""
        return payload_field(self.settings.classification, infer_schema=self.settings.infer_schema)

    @property
    def added(self) -> pa.Schema:
        """See `PlannedSource`."""
        return _added(self.settings)

    @property
    def rejects_path(self) -> str | None:
        """See `PlannedSource`."""
        return self.settings.rejects_path

    def dataset(self, stream: str) -> Dataset:
        """See `PlannedSource`."""
        return stream_dataset(reader.client_of(self.settings.address).host, stream)

    def told(self, folder: Path) -> Self:
        """See `PlannedSource`."""
        return replace(self, folder=folder)

    def lean(self) -> Self:
        """See `PlannedSource`; the planner has already fetched the records of a batch."""
        return self

    def planner(self, checkpoint: Checkpoint | None, clock: Clock) -> KinesisPlanner:
        """See `PlannedSource`."""
        assert self.folder is not None  # `told` set it when the frame was made.
        entry = checkpoint.newest_offsets() if checkpoint else None
        last = None
        if checkpoint and entry:
            last = self.positions(entry, checkpoint.location)
        elif checkpoint and (start := read_start(checkpoint.storage)):
            assert isinstance(start, Positions)
            name = self.settings.address.name
            last = of_stream(start, lambda stream, _: stream == name, [name], checkpoint.location)
        return KinesisPlanner(self.settings, self.folder, last, clock)

    def parsed(self, plain: Mapping[str, Any]) -> Positions:
        """See `PlannedSource`."""
        return Positions.from_json(plain)

    def positions(self, entry: OffsetEntry, checkpoint: str) -> Positions:
        """See `PlannedSource`."""
        return Positions.find_own(entry.sources, [self.settings.address.name], checkpoint)

    def check_position(self, held: Positions) -> None:
        """See `PlannedSource`."""
        if self.settings.fail_on_data_loss:
            facts = stream_facts(reader.client_of(self.settings.address))
            refuse_losses(losses(self.settings.address.name, facts.id, facts.shards, held))

    def split(self, batch: Positions) -> list[SourceRange]:
        """See `PlannedSource`; each shard becomes one task."""
        return batch.ranges()

    def records(self, batch: Positions) -> int:
        """See `PlannedSource`; aggregates count as one."""
        return batch.records()

    def any_record(self, ranges: Iterable[SourceRange]) -> bool:
        """Tell whether the ranges hold at least one record; whole ranges of a batch always do."""
        return any(Note.parse(one.proof).records or self._holds_one(one) for one in ranges)

    def originals(self, ranges: Iterable[SourceRange]) -> Iterator[OriginalRecord]:
        """See `PlannedSource`."""
        for wanted in ranges:
            yield from islice(reader.originals(self.settings, self._spool, wanted), 1)

    def backlog(self, batch: Positions) -> dict[str, int]:  # noqa: ARG002  fetched records come after the last batch
        """Return the number of fetched records that are in no batch, by `stream-shard`.

        It is at least 1 if more records are to be fetched.
        """
        if self.folder is None:
            return {}
        _, ends = read_shard_ends(self.folder)
        name = self.settings.address.name
        return {f"{name}-{shard}": max(one.unplanned, int(one.behind_ms > 0)) for shard, one in ends.items()}

    def ends_at(self, epoch_secs: float) -> dict[tuple[str, str], int | None] | None:
        """See `PlannedSource`; a shard's end is known once a read that began later has reached the end of the shard."""
        stream_id, ends = read_shard_ends(self.folder) if self.folder else ("", {})
        if not ends:
            return None
        return {(stream_id, shard): one.end if one.seen_epoch >= epoch_secs else None for shard, one in ends.items()}

    def throttled_reads(self) -> int:
        """See `ThrottledSource`."""
        _, ends = read_shard_ends(self.folder) if self.folder else ("", {})
        return sum(one.throttled for one in ends.values())

    def bounded(self) -> list[SourceRange]:
        """Return the ranges of a batch read, from startingPosition (the oldest record by default) to now."""
        assert self.folder is not None  # `told` set it when the frame was made.
        own = self.settings
        starting = FromHorizon() if isinstance(own.starting, FromLatest) else own.starting
        endless = replace(own, starting=starting, max_records_per_shard=1 << 62)
        clock = SystemClock()
        began_epoch = clock.epoch()
        planner = KinesisPlanner(endless, self.folder, None, clock)
        held: list[SourceRange] = []
        try:
            while True:
                batch = planner.latest()
                held += [one for one in batch.ranges() if one not in held]
                ends = self.ends_at(began_epoch) or {}
                reached = batch.ends_by_id()
                if ends and all(end is not None and reached.get(shard, 0) >= end for shard, end in ends.items()):
                    return held
        finally:
            planner.close()

    @property
    def _spool(self) -> Path | None:
        return None if self.folder is None else self.folder / "spool"

    def _holds_one(self, wanted: SourceRange) -> bool:
        return any(True for raw in self.read(wanted) if raw.values)


def kinesis_source(options: Mapping[str, Any], declare: Declare) -> KinesisSource:
    """Return the source for a script's options; raises ConfigError as `KinesisReadSettings.from_options` does."""
    settings = KinesisReadSettings.from_options(options)
    return KinesisSource(settings, declare(settings, _added(settings).names))


def _added(settings: KinesisReadSettings) -> pa.Schema:
    return pa.schema([RECORD_TIMESTAMP_FIELD] if settings.add_record_timestamp else [])
