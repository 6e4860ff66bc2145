"""What the driver asks of Kinesis, and of the query's planner, while a query runs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from gluepot.connectors.kinesis import reader
from gluepot.connectors.kinesis.consumer import consumer_status
from gluepot.connectors.kinesis.plan import losses
from gluepot.connectors.kinesis.planner import refuse_losses
from gluepot.connectors.kinesis.positions import Note, Positions
from gluepot.connectors.kinesis.service import stream_facts
from gluepot.connectors.kinesis.settings import KinesisReadSettings
from gluepot.connectors.kinesis.shard_ends import read_shard_ends
from gluepot.connectors.kinesis.task_reader import KinesisTaskReader, spool_in
from gluepot.connectors.values import OriginalRecord, SourceRange
from gluepot.core.datasets import Dataset, stream_dataset
from gluepot.core.errors import TransientError

TRY_SECS = 5.0


@dataclass(frozen=True, slots=True)
class KinesisAdmin:
    """A `StreamAdmin`, and the `ThrottledReads` of the query's planner.

    Args:
        settings: settings of the read.
        folder: the folder that driver, planner and the tasks on their machine share; None before there is a query.
        deadline_secs: how long `check` waits for a service that is just starting.
    """

    settings: KinesisReadSettings
    folder: Path | None = None
    deadline_secs: float = 30.0

    def check(self) -> None:
        """Make sure that the service answers and has the stream; wait for a service that is just starting.

        Raises:
            TransientError: the service was not reached within the deadline.
            NoSuchStream: the stream does not exist.
            ConfigError: the credentials do not allow reading it, or the consumer for enhanced fan-out is not
                registered.
        """
        from gluepot.core.retries import attempts  # noqa: PLC0415  neither planners nor workers need it

        client = reader.client_of(self.settings.address)
        deadline_secs = self.deadline_secs
        try:
            for attempt in attempts(deadline_secs, TRY_SECS):
                with attempt:
                    stream_facts(client)
                    if self.settings.fan_out is not None and self.settings.fan_out.arn:
                        consumer_status(client, self.settings.fan_out, "")
        except TransientError as away:
            raise TransientError(
                f"{client.where} did not answer within {deadline_secs:.0f} s ({away.__cause__ or away}); check"
                " AWS_ENDPOINT_URL_KINESIS, the region and the network."
            ) from away

    def check_position(self, held: Positions) -> None:
        """See `StreamAdmin`."""
        if self.settings.fail_on_data_loss:
            facts = stream_facts(reader.client_of(self.settings.address))
            refuse_losses(losses(self.settings.address.name, facts.id, facts.shards, held))

    def any_record(self, ranges: Iterable[SourceRange]) -> bool:
        """Tell whether the ranges hold at least one record; whole ranges of a batch always do."""
        return any(Note.parse(one.proof).records or self._holds_one(one) for one in ranges)

    def originals(self, ranges: Iterable[SourceRange]) -> Iterator[OriginalRecord]:
        """See `StreamAdmin`."""
        for wanted in ranges:
            yield from islice(reader.originals(self.settings, spool_in(self.folder), wanted), 1)

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
        """See `StreamAdmin`; a shard's end is known once a read that began later has reached the end of the shard."""
        stream_id, ends = read_shard_ends(self.folder) if self.folder else ("", {})
        if not ends:
            return None
        return {(stream_id, shard): one.end if one.seen_epoch >= epoch_secs else None for shard, one in ends.items()}

    def throttled_reads(self) -> int:
        """See `ThrottledReads`."""
        _, ends = read_shard_ends(self.folder) if self.folder else ("", {})
        return sum(one.throttled for one in ends.values())

    def dataset(self, stream: str) -> Dataset:
        """See `StreamAdmin`."""
        return stream_dataset(reader.client_of(self.settings.address).host, stream)

    def _holds_one(self, wanted: SourceRange) -> bool:
        return any(True for raw in KinesisTaskReader(self.settings, self.folder).read(wanted) if raw.values)
