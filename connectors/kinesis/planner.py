"""The planner of a query: it starts reading ahead, and cuts the fetched records into batches."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from gluepot.connectors.kinesis.client import KinesisClient
from gluepot.connectors.kinesis.consumer import active_consumer
from gluepot.connectors.kinesis.plan import initial, losses, plan
from gluepot.connectors.kinesis.positions import Positions
from gluepot.connectors.kinesis.readahead import ReadAhead
from gluepot.connectors.kinesis.service import StreamFacts, patient_facts
from gluepot.connectors.kinesis.settings import KinesisReadSettings
from gluepot.connectors.kinesis.shard_ends import ShardEnd, write_shard_ends
from gluepot.connectors.kinesis.spool import SpoolWriter
from gluepot.core.clock import Clock
from gluepot.core.errors import DataLoss, TransientError
from gluepot.core.logging import get_logger


def refuse_losses(lost: list[str]) -> None:
    """Raise for losses that the user has not accepted.

    Raises:
        DataLoss: there are losses; the message names them and the way to accept them.
    """
    if lost:
        raise DataLoss(
            f"Records were lost before they could be read: {'; '.join(lost)}. To go on from what is there, set"
            " failOnDataLoss to false.",
        )


class KinesisPlanner:
    """Decides what each micro-batch of a query holds; see `gluepot.connectors.contracts.Planner`.

    Args:
        settings: settings of the read.
        folder: a folder that the driver and the tasks on this machine share.
        last: newest entry of the offset log, or a chosen start; None for a query that begins where the script says.
        clock: for pacing.
        wait: see `ReadAhead`.
    """

    def __init__(
        self,
        settings: KinesisReadSettings,
        folder: Path,
        last: Positions | None,
        clock: Clock,
        wait: Callable[[threading.Condition, float], object] = threading.Condition.wait,
    ) -> None:
        self._settings = settings
        self._stream = settings.address.name
        self._folder = folder
        self._clock = clock
        self._wait = wait
        self._chance = random.Random().random  # noqa: S311  jitter
        self._client = KinesisClient(settings.address)
        self._last = last
        self._follows = last is not None
        self._initial: Positions | None = None
        self._stream_id = ""
        self._reading: ReadAhead | None = None
        self._confirmed_entries = 0
        self._told: dict[str, ShardEnd] = {}

    def initial(self) -> Positions:
        """Return where a query without history starts; the first answer is kept for later calls."""
        if self._initial is None:
            self._initial = self._first(self._facts())
        return self._initial

    def latest(self) -> Positions:
        """Return the next batch of the fetched records, within the limits; the last batch again if there are none.

        While the stream is known to have more records, the call waits for up to `maxFetchTimeInMs` to fill the batch.

        Raises:
            DataLoss: records vanished before they were read, and failOnDataLoss is true.
            TransientError: the service did not answer for longer than the deadline; or the stream was created again,
                and failOnDataLoss is false.
        """
        reading = self._begun()
        assert self._last is not None  # It is known once reading has begun.
        deadline = self._clock.monotonic() + self._settings.fill_secs
        while (left := deadline - self._clock.monotonic()) > 0 and self._filling(reading):
            reading.wait(left)
        shards, ahead = reading.ahead()
        entries = reading.entries()
        # The first answer becomes the first entry of the log, even if it is empty; each later entry follows another.
        after = self._last.check if self._follows else self._last.after
        most = self._settings.max_records_per_shard
        planned = plan(self._last, self._stream, self._stream_id, shards, ahead, most, after)
        self._follows = True
        if planned is not self._last:
            if entries != self._confirmed_entries:
                self._confirm_stream()
                self._confirmed_entries = entries
            self._last = planned
            reading.planned(planned)
        if (ends := reading.ends()) != self._told:
            write_shard_ends(self._folder, self._stream_id, ends)
            self._told = ends
        return planned

    def committed(self, batch: Positions) -> None:
        """Remove the blocks of a batch that is done."""
        if self._reading is not None:
            self._reading.forget(batch)

    def close(self) -> None:
        """Stop reading ahead."""
        if self._reading is not None:
            self._reading.close()

    def _begun(self) -> ReadAhead:
        if self._reading is None:
            facts = self._facts()
            self._stream_id = facts.id
            if self._last is None:
                self._last = self._initial = self._initial or self._first(facts)
            lost = losses(self._stream, facts.id, facts.shards, self._last)
            if self._settings.fail_on_data_loss:
                refuse_losses(lost)
            for loss in lost:
                get_logger(__name__).error("records_lost", source="kinesis", loss=loss)
            if lost:
                self._last = self._without_lost(self._last, facts)
            spool = SpoolWriter(self._folder / "spool")
            consumer = active_consumer(self._client, self._settings, facts.arn, self._clock, self._chance)
            self._reading = ReadAhead(
                self._client, self._settings, spool, self._clock, self._chance, self._wait, consumer
            )
            self._reading.begin(self._last, facts.shards)
        return self._reading

    def _confirm_stream(self) -> None:
        """Make sure that the fetched records come from the stream with which the planner began.

        The service refuses iterators and sequence numbers of an earlier stream. But if reading a shard begins at its
        oldest record, or at a time, the service finds the shard by name alone, and a stream that was created again has
        shards of the same names.
        """
        if self._facts().id == self._stream_id:
            return
        if self._settings.fail_on_data_loss:
            refuse_losses([f"stream {self._stream} was deleted and created again while it was read"])
        raise TransientError(
            f"Kinesis stream {self._stream} was deleted and created again while it was read; the query starts again"
            " with the new stream.",
        )

    def _facts(self) -> StreamFacts:
        return patient_facts(self._client, self._settings, self._clock, self._chance)

    def _first(self, facts: StreamFacts) -> Positions:
        now_epoch_ms = int(self._clock.epoch() * 1000)
        return initial(self._stream, facts.id, facts.shards, self._settings.starting, now_epoch_ms)

    def _without_lost(self, last: Positions, facts: StreamFacts) -> Positions:
        """Return positions to continue from after an accepted loss: those that still exist in the present stream."""
        listed = {shard.id for shard in facts.shards} if last.stream_ids.get(self._stream) == facts.id else set()
        return replace(
            last,
            stream_ids={self._stream: facts.id},
            spans={key: span for key, span in last.spans.items() if key[1] in listed},
            notes={key: note for key, note in last.notes.items() if key[1] in listed},
        )

    def _filling(self, reading: ReadAhead) -> bool:
        most = self._settings.max_records_per_shard
        return not reading.has_failed() and any(
            one.behind_ms > 0 and one.unplanned < most for one in reading.ends().values()
        )
