"""Writes rows to a Kinesis stream."""

from __future__ import annotations

import random
from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

from gluepot.connectors.kinesis.client import KinesisClient
from gluepot.connectors.kinesis.errors import NoSuchStream
from gluepot.connectors.kinesis.put import Put, Refusal, calls, left_over
from gluepot.connectors.kinesis.settings import StreamAddress, stream_address
from gluepot.connectors.options import ScriptOptions
from gluepot.connectors.values import Outgoing, RecordShape
from gluepot.core.backoff import backoff_secs
from gluepot.core.clock import Clock, SystemClock
from gluepot.core.errors import ConfigError, EtlError, PermanentError, TransientError
from gluepot.core.logging import configure_once, get_logger
from gluepot.core.task_events import EVENTS, THROTTLED_WRITES

BACKOFF_BASE_SECS, BACKOFF_CAP_SECS = 0.1, 5.0
DEADLINE_SECS = 300.0
"""How long the sink retries a record that the stream does not take because of throttling or an outage."""

KNOWN = ("streamARN", "streamName", "endpointUrl", "region", "partitionKey", "classification", "typeOfData",
         "awsSTSRoleARN", "awsSTSSessionName", "awsSTSEndpoint")  # fmt: skip
# Options of Amazon's producer library, which packs and delays records. This sink sends each record as it is, at once.
HARMLESS = frozenset(
    name
    for plain in (
        "recordmaxbufferedtime", "aggregationenabled", "aggregationmaxsize", "aggregationmaxcount", "producerratelimit",
        "collectionmaxcount", "collectionmaxsize", "maxconnections", "flushwaittimemillis",
    )
    for name in (plain, f"kinesis.executor.{plain}")
)  # fmt: skip


@dataclass(frozen=True)
class KinesisSink:
    """A `RecordSink` over Kinesis.

    Args:
        address: address of the stream.
        shape: how rows become records.
        guarantee: see `RecordSink`.
    """

    address: StreamAddress
    shape: RecordShape
    guarantee: str = "at least once; in order within a key and a task"

    def check(self) -> None:
        """See `RecordSink`."""
        try:
            KinesisClient(self.address).on_stream("DescribeStreamSummary")
        except NoSuchStream as missing:
            raise ConfigError(str(missing)) from missing

    def send(self, records: Iterator[Outgoing]) -> int:
        """See `RecordSink`."""
        client = KinesisClient(self.address)
        chance = random.Random().random  # noqa: S311  for jitter, and for keys that only spread records over shards
        count = 0
        for call in calls(map(_put, records)):
            put_all(client, call, SystemClock(), chance)
            count += len(call)
        return count


def put_all(client: KinesisClient, puts: Sequence[Put], clock: Clock, chance: Callable[[], float]) -> None:
    """Put the records of one call; repeat failed records until the stream has all.

    Raises:
        PermanentError: the stream refuses a record.
        TransientError: the stream did not take a record within the deadline.
    """
    waiting, failures, deadline = list(puts), 0, clock.monotonic() + DEADLINE_SECS
    while waiting:
        entries = [{"Data": b64encode(one.data).decode(), "PartitionKey": one.key} for one in waiting]
        reason: EtlError
        try:
            answer = client.on_stream("PutRecords", Records=entries)
        except TransientError as away:
            reason = away
        else:
            match left_over(waiting, answer["Records"]):
                case Refusal(put, code, message):
                    raise PermanentError(
                        f"{client.where} refuses a record of {len(put.data)} bytes with key {put.key!r}"
                        f" ({code}: {message})."
                    )
                case again:
                    waiting = again
            if not waiting:
                return
            reason = TransientError(f"{client.where} has not accepted {len(waiting)} of {len(entries)} records yet.")
        failures += 1
        EVENTS.add(THROTTLED_WRITES, len(waiting))
        if clock.monotonic() > deadline:
            raise reason
        if failures == 1:
            configure_once()  # A worker is a separate process.
            get_logger(__name__).warning("kinesis_puts_held_up", records=len(waiting), reason=str(reason))
        clock.sleep(backoff_secs(failures, BACKOFF_BASE_SECS, BACKOFF_CAP_SECS, chance()))


def kinesis_sink(options: Mapping[str, Any]) -> KinesisSink:
    """Return the sink for a script's options.

    Raises:
        ConfigError: an option is missing, or has a value outside what is allowed.
    """
    given = ScriptOptions(options)
    given.warn_unknown(KNOWN, HARMLESS)
    return KinesisSink(stream_address(given), RecordShape(given.text("partitionKey") or None))


def _put(record: Outgoing) -> Put:
    if record.value is None:
        raise PermanentError("A row has no value, and Kinesis does not accept empty records; filter out such rows.")
    return Put(record.key.decode() if record.key else uuid4().hex, record.value)
