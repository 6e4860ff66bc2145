"""Enhanced fan-out: a place in a shard that moves as the service pushes records, with the interface of `Cursor`."""

from __future__ import annotations

import threading
from typing import Any

from gluepot.connectors.documents.bulk import Refused
from gluepot.connectors.kinesis.blocks import to_arrow
from gluepot.connectors.kinesis.client import EventStream, KinesisClient
from gluepot.connectors.kinesis.cursor import After, AtHorizon, AtTime, Fetched, Place, iterator_parameters
from gluepot.core.clock import Clock
from gluepot.core.errors import EtlError

RESUBSCRIBE_SECS = 5.0
"""The service refuses a second subscription of a consumer to a shard so soon after the first."""


def starting_position(place: Place) -> dict[str, Any]:
    """Return the `StartingPosition` of SubscribeToShard."""
    plain = iterator_parameters(place)
    names = {"ShardIteratorType": "Type", "StartingSequenceNumber": "SequenceNumber", "Timestamp": "Timestamp"}
    return {names[name]: value for name, value in plain.items()}


class Subscription:
    """A place in a shard that moves as the service pushes records. One thread reads; any thread may close it.

    A subscription lasts five minutes. Then it is made again, from the continuation sequence number of the last event.

    Args:
        client: client of the stream.
        shard: id of the shard.
        place: where to begin.
        consumer: ARN of the registered consumer.
        clock: tells when the service was asked.

    Attributes:
        entered_by_name: see `Cursor`.
        not_before: time of the clock before which `fetch` should not be called, because the service would refuse it.
    """

    pushed = True

    def __init__(self, client: KinesisClient, shard: str, place: Place, consumer: str, clock: Clock) -> None:
        self._client = client
        self._shard = shard
        self._consumer = consumer
        self._clock = clock
        self.place = place
        self.entered_by_name = False
        self.not_before = 0.0
        self._events: EventStream | None = None
        self._continuation = ""
        self._asked_epoch = 0.0
        self._behind_ms = 1
        self._closing = threading.Lock()
        self._closed = False

    def fetch(self, limit: int) -> Fetched:  # noqa: ARG002  the service decides how many records an event has
        """Wait for the next event; the place moves only if one came.

        The answer is empty if the subscription has ended, as it does after five minutes; the next call renews it.

        Raises:
            EtlError: as the client raises it. The next call makes a new subscription at the same place.
        """
        try:
            return self._fetch()
        except Refused:
            if not self._continuation:
                raise
            self._continuation = ""  # The place is a record's own number.
            return self._fetch()

    def close(self) -> None:
        """End the subscription; a thread that waits in `fetch` returns at once."""
        with self._closing:
            self._closed = True
            if self._events is not None:
                self._events.close()

    def _fetch(self) -> Fetched:
        events = self._events or self._subscribe()
        try:
            event = events.next_event()
        except EtlError:
            self._drop()
            raise
        if event is None:
            self._drop()
            block, total = to_arrow([])
            return Fetched(block, total, self._behind_ms, closed=False, seen_epoch=0.0)
        block, total = to_arrow(self._new(event["Records"]))
        if block.num_rows:
            self.place = After(int(block.column("sequence")[-1].as_py()))
        self._continuation = event.get("ContinuationSequenceNumber") or ""
        self._behind_ms = event.get("MillisBehindLatest") or 0
        is_closed = bool(event.get("ChildShards"))
        if is_closed:
            self._drop()
        return Fetched(block, total, self._behind_ms, is_closed, self._asked_epoch)

    def _subscribe(self) -> EventStream:
        self._asked_epoch = self._clock.epoch()
        if self._continuation:
            position = {"Type": "AFTER_SEQUENCE_NUMBER", "SequenceNumber": self._continuation}
        else:
            self.entered_by_name |= isinstance(self.place, AtHorizon | AtTime)
            position = starting_position(self.place)
        events = self._client.subscribe(ConsumerARN=self._consumer, ShardId=self._shard, StartingPosition=position)
        self.not_before = self._clock.monotonic() + RESUBSCRIBE_SECS
        with self._closing:
            self._events = events
            if self._closed:
                events.close()
        return events

    def _drop(self) -> None:
        with self._closing:
            if self._events is not None:
                self._events.close()
                self._events = None

    def _new(self, records: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Return the records behind the place. The service sends no others; this makes sure that none counts twice."""
        if not records or not isinstance(self.place, After) or int(records[0]["SequenceNumber"]) > self.place.sequence:
            return records
        return [one for one in records if int(one["SequenceNumber"]) > self.place.sequence]
