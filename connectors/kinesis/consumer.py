"""Consumers for enhanced fan-out: finds one, registers one if it has a name, waits until it may read.

Nothing here deregisters a consumer. The service charges for a consumer for as long as it is registered.
"""

from __future__ import annotations

from collections.abc import Callable

from gluepot.connectors.aws.errors import Throttled
from gluepot.connectors.kinesis.client import KinesisClient
from gluepot.connectors.kinesis.errors import NoSuchStream
from gluepot.connectors.kinesis.settings import FanOut, KinesisReadSettings
from gluepot.core.backoff import backoff_secs
from gluepot.core.clock import Clock
from gluepot.core.errors import ConfigError, TransientError
from gluepot.core.logging import get_logger

LOOK_SECS = 1.0
"""Time between two looks at a consumer that is not active yet."""
ACTIVE = "ACTIVE"

log = get_logger(__name__)


def active_consumer(
    client: KinesisClient, settings: KinesisReadSettings, stream_arn: str, clock: Clock, chance: Callable[[], float]
) -> str:
    """Return the ARN of the consumer that a read uses, once it is active; empty without enhanced fan-out.

    Raises:
        ConfigError: the consumer is not registered and must not be, or the stream has too many consumers.
        TransientError: the consumer did not become active, or the service did not answer, before the deadline.
    """
    fan_out = settings.fan_out
    if fan_out is None:
        return ""
    failures, refusals = 0, 0
    deadline = clock.monotonic() + settings.retry_deadline_secs
    while True:
        arn, status = "", "not described"
        try:
            arn, status = consumer_status(client, fan_out, stream_arn)
            if status == ACTIVE:
                return arn
            if not status:
                _register(client, fan_out.name, stream_arn)
            pause_secs = LOOK_SECS
        except _TooMany as refused:
            refusals += 1
            if refusals > settings.retries:
                raise ConfigError(str(refused)) from refused
            pause_secs = _pause_secs(settings, refusals, chance)
        except TransientError as away:
            failures += 1
            if failures > settings.retries and not isinstance(away, Throttled):
                raise
            pause_secs = _pause_secs(settings, failures, chance)
        if clock.monotonic() > deadline:
            raise TransientError(
                f"Consumer {arn or fan_out.name} of {client.where} is {status or 'not registered'} instead of {ACTIVE}"
                f" after {settings.retry_deadline_secs:.0f} s; the query retries."
            )
        clock.sleep(pause_secs)


def consumer_status(client: KinesisClient, fan_out: FanOut, stream_arn: str) -> tuple[str, str]:
    """Return ARN and status of a consumer; both are empty if the stream has none of this name.

    Raises:
        ConfigError: the consumer has an ARN and is not registered.
        EtlError: as the client raises it.
    """
    named = {"StreamARN": stream_arn, "ConsumerName": fan_out.name}
    try:
        answer = client.call("DescribeStreamConsumer", {"ConsumerARN": fan_out.arn} if fan_out.arn else named)
    except NoSuchStream as gone:
        if not fan_out.arn:
            return "", ""
        raise ConfigError(
            f"{client.where} has no consumer {fan_out.arn} ({gone}); register one with RegisterStreamConsumer and set"
            " fanoutConsumerARN to its ARN, or set fanoutConsumerName to let Gluepot register one."
        ) from gone
    plain = answer["ConsumerDescription"]
    return str(plain["ConsumerARN"]), str(plain["ConsumerStatus"])


class _TooMany(Exception):
    """The service registers no further consumer."""


def _register(client: KinesisClient, name: str, stream_arn: str) -> None:
    try:
        client.call("RegisterStreamConsumer", {"StreamARN": stream_arn, "ConsumerName": name})
    except Throttled as refused:
        raise _TooMany(
            f"{client.where} does not register consumer {name} ({refused}); a stream has at most 20 consumers, so"
            " deregister one that is not used, or use GetRecords."
        ) from refused
    log.info("kinesis_consumer_registered", consumer=name, stream=stream_arn)


def _pause_secs(settings: KinesisReadSettings, attempt: int, chance: Callable[[], float]) -> float:
    return backoff_secs(attempt, settings.retry_base_secs, settings.retry_cap_secs, chance())
