"""Lookups about a stream: thin calls around the client."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from gluepot.connectors.aws.errors import Throttled
from gluepot.connectors.kinesis.client import KinesisClient
from gluepot.connectors.kinesis.settings import KinesisReadSettings
from gluepot.connectors.kinesis.topology import Shard
from gluepot.core.backoff import backoff_secs
from gluepot.core.clock import Clock
from gluepot.core.errors import TransientError


@dataclass(frozen=True, slots=True)
class StreamFacts:
    """A stream at one moment.

    Args:
        id: the time of its creation in milliseconds since 1970 UTC, which distinguishes it from others of its name.
        shards: all shards that the service lists; ended ones are listed until they expire.
        arn: ARN of the stream.
    """

    id: str
    shards: tuple[Shard, ...]
    arn: str = ""


def stream_facts(client: KinesisClient) -> StreamFacts:
    """Ask for a stream and its shards; raises as the client does."""
    summary = client.on_stream("DescribeStreamSummary")["StreamDescriptionSummary"]
    created_secs = float(summary.get("StreamCreationTimestamp") or 0)
    return StreamFacts(str(int(created_secs * 1000)), list_shards(client), str(summary.get("StreamARN") or ""))


def patient_facts(
    client: KinesisClient, settings: KinesisReadSettings, clock: Clock, chance: Callable[[], float]
) -> StreamFacts:
    """Ask for a stream and its shards, and retry if that may help.

    Throttled calls are retried for as long as during an outage. Other passing failures are retried `numRetries` times.

    Raises:
        EtlError: as the client raises it.
    """
    failures, deadline = 0, clock.monotonic() + settings.retry_deadline_secs
    while True:
        try:
            return stream_facts(client)
        except TransientError as away:
            failures += 1
            gives_up = clock.monotonic() > deadline if isinstance(away, Throttled) else failures > settings.retries
            if gives_up:
                raise
            clock.sleep(backoff_secs(failures, settings.retry_base_secs, settings.retry_cap_secs, chance()))


def list_shards(client: KinesisClient) -> tuple[Shard, ...]:
    """Ask for the shards of a stream; raises as the client does."""
    answer = client.on_stream("ListShards")
    found: list[dict[str, Any]] = list(answer["Shards"])
    while token := answer.get("NextToken"):
        answer = client.call("ListShards", {"NextToken": token})
        found += answer["Shards"]
    return tuple(Shard.from_api(plain) for plain in found)
