"""Creates streams on the Kinesis emulator."""

from __future__ import annotations

from gluepot.connectors.kinesis.client import KinesisClient
from gluepot.connectors.kinesis.errors import NoSuchStream
from gluepot.core.clock import Clock
from gluepot.core.errors import TransientError

ACTIVE_SECS, POLL_SECS = 30.0, 0.1


def create_stream(client: KinesisClient, stream: str, shards: int, clock: Clock) -> None:
    """Create a stream and wait until it is active.

    Args:
        client: client of this stream.
        stream: its name.
        shards: number of its shards.
        clock: for waits.

    Raises:
        EtlError: the emulator refuses it.
        TransientError: the stream was not active in time.
    """
    client.call("CreateStream", {"StreamName": stream, "ShardCount": shards})
    deadline = clock.monotonic() + ACTIVE_SECS
    while client.on_stream("DescribeStreamSummary")["StreamDescriptionSummary"]["StreamStatus"] != "ACTIVE":
        if clock.monotonic() > deadline:
            raise TransientError(f"{client.where} was not active within {ACTIVE_SECS:.0f} s; try again.")
        clock.sleep(POLL_SECS)


def shards_of(client: KinesisClient) -> int | None:
    """Return how many open shards a stream has; None if there is no such stream."""
    try:
        summary = client.on_stream("DescribeStreamSummary")["StreamDescriptionSummary"]
    except NoSuchStream:
        return None
    return int(summary["OpenShardCount"])
