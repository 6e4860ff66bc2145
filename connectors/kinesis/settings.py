"""The options of a Kinesis read, in Glue's spelling and in the older connector's, checked once."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gluepot.connectors.options import ScriptOptions, epoch_ms
from gluepot.connectors.streams.record_columns import OPTION, RecordColumn, record_columns
from gluepot.connectors.streams.registries.options import REGISTRY_OPTIONS
from gluepot.core.durations import duration_secs
from gluepot.core.errors import ConfigError
from gluepot.core.logging import get_logger
from gluepot.core.on_malformed import OnMalformed

# Glue's option names, with the older open connector's name where it differs. If a script gives both, Glue's name wins.
OLDER_NAMES: Mapping[str, str] = {
    "maxFetchTimeInMs": "kinesis.executor.maxFetchTimeInMs",
    "maxFetchRecordsPerShard": "kinesis.executor.maxFetchRecordsPerShard",
    "maxRecordPerRead": "kinesis.executor.maxRecordPerRead",
    "addIdleTimeBetweenReads": "kinesis.executor.addIdleTimeBetweenReads",
    "idleTimeBetweenReadsInMs": "kinesis.executor.idleTimeBetweenReadsInMs",
    "describeShardInterval": "kinesis.client.describeShardInterval",
    "numRetries": "kinesis.client.numRetries",
    "retryIntervalMs": "kinesis.client.retryIntervalMs",
    "maxRetryIntervalMs": "kinesis.client.maxRetryIntervalMs",
    "avoidEmptyBatches": "kinesis.client.avoidEmptyBatches",
}
KNOWN = (
    *OLDER_NAMES, *OLDER_NAMES.values(), "streamARN", "streamName", "endpointUrl", "region", "classification",
    "delimiter", "startingPosition", "startingTimestamp", "failOnDataLoss", "awsSTSRoleARN", "awsSTSSessionName",
    "awsSTSEndpoint", "schema", "inferSchema", "avroSchema", "addRecordTimestamp", "addRecordColumns",
    "emitConsumerLagMetrics", "typeOfData", "rejectsPath", "onMalformed", "fanoutConsumerARN", "fanoutConsumerName",
    *REGISTRY_OPTIONS,
)  # fmt: skip
# Options of existing scripts that have no effect here.
HARMLESS = frozenset({"database", "tablename", "connectionname"})

KINESIS_COLUMNS = ("streamName", "partitionKey", "sequenceNumber", "approximateArrivalTimestamp")
"""What `addRecordColumns` can add: columns of Spark's connectors for Kinesis (`spark_options` adds all)."""

MAX_RECORDS_PER_READ = 10_000
"""The service's own limit for one GetRecords call."""

_ARN = re.compile(r"arn:[\w-]+:kinesis:(?P<region>[\w-]*):\d*:stream/(?P<name>[\w.-]+)")
_CONSUMER_ARN = re.compile(
    r"arn:[\w-]+:kinesis:[\w-]*:\d*:stream/(?P<stream>[\w.-]+)/consumer/(?P<name>[\w.-]{1,128})(:\d+)?"
)
_CONSUMER_NAME = re.compile(r"[\w.-]{1,128}", re.ASCII)
_SESSION_NAME = re.compile(r"[\w+=,.@-]{2,64}")


@dataclass(frozen=True, slots=True)
class FromHorizon:
    """Begin with the oldest record that exists."""


@dataclass(frozen=True, slots=True)
class FromLatest:
    """Begin with records that are sent from now on."""


@dataclass(frozen=True, slots=True)
class FromTime:
    """Begin with the first record that arrived at a moment or later."""

    epoch_ms: int


Start = FromHorizon | FromLatest | FromTime


@dataclass(frozen=True, slots=True)
class Role:
    """A role to assume for a stream of another account.

    Args:
        arn: ARN of the role.
        session_name: the name of our session in the other account's logs.
        endpoint: endpoint of the token service; empty for the usual one.
    """

    arn: str
    session_name: str
    endpoint: str = ""


@dataclass(frozen=True, slots=True)
class StreamAddress:
    """Where a stream is.

    Args:
        name: name of the stream.
        arn: ARN that the script gives; empty if it gives only the name.
        region: region of the ARN or of the script; empty for the environment's region.
        endpoint: endpoint that the script gives; empty for the environment's endpoint, or the service's own.
        role: role to assume; None to use the environment's credentials.
    """

    name: str
    arn: str = ""
    region: str = ""
    endpoint: str = ""
    role: Role | None = None

    def parameters(self) -> dict[str, str]:
        """Return the parameters by which a call names the stream."""
        return {"StreamARN": self.arn} if self.arn else {"StreamName": self.name}


@dataclass(frozen=True, slots=True)
class FanOut:
    """A registered consumer, which reads with enhanced fan-out.

    Args:
        arn: ARN of a consumer that the user has registered; empty if `name` is given.
        name: name of a consumer that is registered if the stream has none of this name; empty if `arn` is given.
    """

    arn: str = ""
    name: str = ""


@dataclass(frozen=True, slots=True)
class KinesisReadSettings:
    """One Kinesis read.

    Args:
        address: address of the stream.
        starting: where a query without a checkpoint starts.
        fill_secs: how long a small batch waits for further records, if the stream is known to have more.
        max_records_per_shard: a shard's part of a batch ends with the read that reaches this number.
        max_records_per_read: largest number of records of one GetRecords call.
        idle_secs: shortest time between two reads of a shard, beyond what the service's limits demand; 0 adds none.
        describe_interval_secs: shortest time between two ListShards calls.
        retries: number of retries of calls that are not reads; reads are retried up to `retry_deadline_secs`.
        retry_base_secs: back-off of the first retry.
        retry_cap_secs: longest back-off.
        fail_on_data_loss: if False, reading continues with the records that the stream still has.
        add_record_timestamp: adds `__src_timestamp`.
        record_columns: further columns; see `KINESIS_COLUMNS`.
        classification: format of the payload in lower case; empty if not given.
        infer_schema: True gives the magic column that DynamicFrame.fromDF expands.
        schema: DDL of the payload, used if `infer_schema` is False; empty if not given.
        delimiter: delimiter of csv.
        on_malformed: what happens to records that cannot be read as rows.
        rejects_path: folder for records that cannot become rows of a DataFrame; None stands for one below the
            checkpoint.
        retry_deadline_secs: how long a read waits for an unreachable service.
        fan_out: the consumer for enhanced fan-out; None to read with GetRecords.
    """

    address: StreamAddress
    starting: Start = FromLatest()
    fill_secs: float = 1.0
    max_records_per_shard: int = 100_000
    max_records_per_read: int = MAX_RECORDS_PER_READ
    idle_secs: float = 0.0
    describe_interval_secs: float = 1.0
    retries: int = 3
    retry_base_secs: float = 1.0
    retry_cap_secs: float = 10.0
    fail_on_data_loss: bool = True
    add_record_timestamp: bool = False
    record_columns: tuple[RecordColumn, ...] = ()
    classification: str = ""
    infer_schema: bool = False
    schema: str = ""
    delimiter: str = ","
    rejects_path: str | None = None
    on_malformed: OnMalformed = OnMalformed.KEEP
    retry_deadline_secs: float = 300.0
    fan_out: FanOut | None = None

    @classmethod
    def from_options(cls, options: Mapping[str, Any]) -> KinesisReadSettings:
        """Check the options of a script.

        Args:
            options: the script's options: strings, bools and ints.

        Raises:
            ConfigError: an option is missing, contradicts another, or has a value outside what is allowed.
        """
        given = ScriptOptions(options)
        given.warn_unknown(KNOWN, HARMLESS)
        infer = given.flag("inferSchema", default=False)
        idle = _flag(given, "addIdleTimeBetweenReads")
        address = stream_address(given)
        return cls(
            address=address,
            starting=_starting(given),
            fill_secs=(_count(given, "maxFetchTimeInMs") or 1000) / 1000,
            max_records_per_shard=_count(given, "maxFetchRecordsPerShard") or 100_000,
            max_records_per_read=_per_read(given),
            idle_secs=(_count(given, "idleTimeBetweenReadsInMs") or 1000) / 1000 if idle else 0.0,
            describe_interval_secs=_interval_secs(given, "describeShardInterval", 1.0),
            retries=_count(given, "numRetries") or 3,
            retry_base_secs=(_count(given, "retryIntervalMs") or 1000) / 1000,
            retry_cap_secs=(_count(given, "maxRetryIntervalMs") or 10_000) / 1000,
            fail_on_data_loss=given.flag("failOnDataLoss", default=True),
            add_record_timestamp=given.flag("addRecordTimestamp", default=False),
            record_columns=record_columns(given.text(OPTION), KINESIS_COLUMNS),
            classification=given.text("classification").lower(),
            infer_schema=infer,
            schema="" if infer else given.text("schema") or given.text("avroSchema"),
            delimiter=given.delimiter(),
            rejects_path=given.text("rejectsPath") or None,
            on_malformed=OnMalformed.of(given.text("onMalformed")),
            fan_out=_fan_out(given, address.name),
        )


def stream_address(given: ScriptOptions) -> StreamAddress:
    """Return the stream that options name, for reading or writing.

    Raises:
        ConfigError: the options name no stream, or an option is malformed.
    """
    arn, name, region = given.text("streamARN"), given.text("streamName"), given.text("region")
    if arn:
        found = _ARN.fullmatch(arn)
        if not found:
            raise ConfigError(
                f"streamARN is {arn!r}; use the stream's whole ARN, such as"
                " arn:aws:kinesis:us-east-1:123456789012:stream/clicks.",
            )
        if name and name != found["name"]:
            raise ConfigError(f"streamARN is {arn!r} and streamName is {name!r}; give one of them.")
        name, region = found["name"], found["region"] or region
    if not name:
        raise ConfigError("No Kinesis stream is given; set streamARN, or streamName with endpointUrl.")
    endpoint = given.text("endpointUrl")
    if endpoint and not re.match(r"https?://.", endpoint):
        raise ConfigError(f"endpointUrl is {endpoint!r}; use a URL such as https://kinesis.us-east-1.amazonaws.com.")
    in_host = re.match(r"https?://kinesis(?:-fips)?\.([\w-]+)\.amazonaws\.com", endpoint)
    if not region and in_host:
        region = in_host[1]
    return StreamAddress(name, arn, region, endpoint.rstrip("/"), _role(given))


def _role(given: ScriptOptions) -> Role | None:
    arn, session = given.text("awsSTSRoleARN"), given.text("awsSTSSessionName")
    if not arn:
        return None
    if session and not _SESSION_NAME.fullmatch(session):
        raise ConfigError(
            f"awsSTSSessionName is {session!r}; use 2 to 64 characters, letters of the alphabet, digits and _+=,.@-."
        )
    return Role(arn, session or "gluepot", given.text("awsSTSEndpoint"))


def _fan_out(given: ScriptOptions, stream: str) -> FanOut | None:
    arn, name = given.text("fanoutConsumerARN"), given.text("fanoutConsumerName")
    if arn and name:
        raise ConfigError("fanoutConsumerARN and fanoutConsumerName are both given; use one of them.")
    if name and not _CONSUMER_NAME.fullmatch(name):
        raise ConfigError(
            f"fanoutConsumerName is {name!r}; use up to 128 characters, letters of the alphabet, digits and _.-."
        )
    if arn:
        found = _CONSUMER_ARN.fullmatch(arn)
        if not found:
            raise ConfigError(
                f"fanoutConsumerARN is {arn!r}; use the ARN that RegisterStreamConsumer returns, such as"
                " arn:aws:kinesis:us-east-1:123456789012:stream/clicks/consumer/job:1700000000."
            )
        if found["stream"] != stream:
            raise ConfigError(
                f"fanoutConsumerARN is a consumer of stream {found['stream']}, but the script reads {stream}; register"
                " a consumer of this stream."
            )
    if not arn and not name:
        return None
    for unused in ("maxRecordPerRead", "idleTimeBetweenReadsInMs"):
        if given.text(_spelled(given, unused)):
            get_logger(__name__).info(
                "option_without_effect", option=unused, reason="with enhanced fan-out the service pushes records"
            )
    return FanOut(arn, name)


def _starting(given: ScriptOptions) -> Start:
    position, timestamp = given.text("startingPosition"), given.text("startingTimestamp")
    if position and timestamp:
        raise ConfigError("startingPosition and startingTimestamp are both given; use one of them.")
    if timestamp:
        return FromTime(epoch_ms("startingTimestamp", timestamp))
    match position.lower():
        case "" | "latest":
            return FromLatest()
        case "trim_horizon" | "earliest":
            return FromHorizon()
    try:
        return FromTime(epoch_ms("startingPosition", position))
    except ConfigError as wrong:
        raise ConfigError(
            f"startingPosition is {position!r}; use latest, trim_horizon, earliest or a time such as"
            " 2026-01-31T12:00:00Z.",
        ) from wrong


def _spelled(given: ScriptOptions, name: str) -> str:
    return name if given.text(name) else OLDER_NAMES[name]


def _count(given: ScriptOptions, name: str) -> int | None:
    return given.count(_spelled(given, name))


def _flag(given: ScriptOptions, name: str) -> bool:
    return given.flag(_spelled(given, name), default=False)


def _per_read(given: ScriptOptions) -> int:
    wanted = _count(given, "maxRecordPerRead") or MAX_RECORDS_PER_READ
    if wanted > MAX_RECORDS_PER_READ:
        raise ConfigError(f"maxRecordPerRead is {wanted}; the maximum of Kinesis is {MAX_RECORDS_PER_READ}.")
    return wanted


def _interval_secs(given: ScriptOptions, name: str, default_secs: float) -> float:
    """Read `1s`, `500ms`, `2m`; a bare number counts as milliseconds, as in the older connector."""
    text = given.text(_spelled(given, name))
    if not text:
        return default_secs
    secs = duration_secs(text, bare_unit="ms")
    if secs is None:
        raise ConfigError(f"{name} is {text!r}; use a time such as 1s, 500ms or 2m.")
    return secs
