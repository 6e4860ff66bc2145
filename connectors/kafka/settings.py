"""The options of a Kafka read, in Glue's and in Spark's spelling, checked once."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from gluepot.connectors.kafka.client import librdkafka_config
from gluepot.connectors.options import ScriptOptions, epoch_ms
from gluepot.connectors.streams.record_columns import OPTION, RecordColumn, record_columns
from gluepot.connectors.streams.registries.options import REGISTRY_OPTIONS
from gluepot.core.durations import duration_secs
from gluepot.core.errors import ConfigError
from gluepot.core.on_malformed import OnMalformed
from gluepot.core.patterns.expressions import expression
from gluepot.core.patterns.syntax import Invalid

EARLIEST, LATEST = -2, -1  # as Spark's per-partition JSON spells them

# Options that have an effect, grouped by purpose; the common ones are matched in any letter case.
KNOWN = (
    "connectionName", "bootstrap.servers", "security.protocol", "topicName", "assign", "subscribe", "subscribePattern",
    "classification", "delimiter", "startingOffsets", "startingTimestamp", "endingOffsets",
    "pollTimeoutMs", "numRetries", "retryIntervalMs", "maxOffsetsPerTrigger", "minOffsetsPerTrigger",
    "maxTriggerDelay", "minPartitions", "failOnDataLoss", "includeHeaders", "schema", "inferSchema", "avroSchema",
    "addRecordTimestamp", "addRecordColumns", "emitConsumerLagMetrics", "typeOfData", "rejectsPath", "onMalformed",
    "commitGroupOffsets", *REGISTRY_OPTIONS,
)  # fmt: skip
# Options of existing scripts that have no effect here: Spark and Gluepot control commits and fetch sizes themselves.
HARMLESS = frozenset({"enable.auto.commit", "max.partition.fetch.bytes", "database", "tablename", "startingposition"})

KAFKA_COLUMNS = ("topic", "partition", "offset", "timestamp", "key")
"""What `addRecordColumns` can add: columns of Spark's own Kafka source."""

API_TIMEOUT = "default.api.timeout.ms"


@dataclass(frozen=True, slots=True)
class Topics:
    """Read whole topics."""

    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Assign:
    """Read only the given partitions."""

    partitions: frozenset[tuple[str, int]]


@dataclass(frozen=True, slots=True)
class Pattern:
    """Read every topic whose whole name matches a regular expression."""

    regex: str


@dataclass(frozen=True, slots=True)
class AtOffsets:
    """One offset for each partition; -2 means earliest, -1 latest."""

    offsets: Mapping[tuple[str, int], int]


@dataclass(frozen=True, slots=True)
class AtTime:
    """The first record whose time stamp is this time or later."""

    epoch_ms: int


@dataclass(frozen=True, slots=True)
class KafkaReadSettings:
    """One Kafka read.

    Args:
        subscription: which partitions.
        client: librdkafka configuration, secrets included.
        starting: where a query without a checkpoint starts.
        ending: where a batch read ends.
        max_offsets_per_trigger: most offsets in a micro-batch.
        min_offsets_per_trigger: a micro-batch waits for this many, but no longer than `max_trigger_delay_secs`.
        max_trigger_delay_secs: see above; 15 minutes as in Spark.
        min_partitions: smallest number of tasks per micro-batch.
        fail_on_data_loss: if False, reading continues with the records that the broker still has.
        include_headers: adds `glue_streaming_kafka_headers`.
        add_record_timestamp: adds `__src_timestamp`.
        record_columns: further columns; see `KAFKA_COLUMNS`.
        emit_consumer_lag: Glue's switch; Gluepot always measures lag.
        classification: format of the payload in lower case; empty if not given.
        infer_schema: True gives the magic column that DynamicFrame.fromDF expands.
        schema: DDL of the payload, used if `infer_schema` is False; empty if not given.
        delimiter: delimiter of csv.
        on_malformed: what happens to records that cannot be read as rows.
        rejects_path: folder for records that cannot become rows of a DataFrame; None stands for one below the
            checkpoint.
        group: consumer group to which the end of each committed batch is written, for tools that look there; empty
            for none.
        retry_deadline_secs: how long a read waits for an unreachable broker.
        api_timeout_secs: how long the first call waits for a broker that is just starting; the Java client's
            `default.api.timeout.ms`.
    """

    subscription: Topics | Assign | Pattern
    client: Mapping[str, Any] = field(repr=False)
    starting: Literal["earliest", "latest"] | AtOffsets | AtTime = "latest"
    ending: Literal["earliest", "latest"] | AtOffsets | AtTime = "latest"
    max_offsets_per_trigger: int | None = None
    min_offsets_per_trigger: int | None = None
    max_trigger_delay_secs: float = 900.0
    min_partitions: int | None = None
    fail_on_data_loss: bool = True
    include_headers: bool = False
    add_record_timestamp: bool = False
    record_columns: tuple[RecordColumn, ...] = ()
    emit_consumer_lag: bool = False
    classification: str = ""
    infer_schema: bool = False
    schema: str = ""
    delimiter: str = ","
    rejects_path: str | None = None
    on_malformed: OnMalformed = OnMalformed.KEEP
    group: str = ""
    retry_deadline_secs: float = 300.0
    api_timeout_secs: float = 30.0

    @property
    def needs_messages(self) -> bool:
        """Whether a record's key or headers are needed, which the compiled consumer does not have."""
        return self.include_headers or any(column.of == "key" for column in self.record_columns)

    @property
    def bootstrap(self) -> str:
        """The `host:port` list, for messages."""
        return str(self.client["bootstrap.servers"])

    def topics(self) -> tuple[str, ...] | None:
        """Return the topics that the subscription names; None for a pattern."""
        match self.subscription:
            case Topics(names):
                return names
            case Assign(partitions):
                return tuple(sorted({topic for topic, _ in partitions}))
            case Pattern():
                return None

    def covers(self, topic: str, partition: int) -> bool:
        """Tell whether the subscription includes a partition."""
        match self.subscription:
            case Topics(names):
                return topic in names
            case Assign(partitions):
                return (topic, partition) in partitions
            case Pattern(regex):
                return expression(regex).matches(topic)

    @classmethod
    def from_options(cls, options: Mapping[str, Any]) -> KafkaReadSettings:
        """Check the options of a script.

        Args:
            options: the script's options merged with the connection's properties; strings, bools and ints.

        Raises:
            ConfigError: an option is missing, contradicts another, or has a value outside what is allowed.
        """
        given = ScriptOptions(options)
        java = {name.removeprefix("kafka."): str(v) for name, v in options.items() if name.startswith("kafka.")}
        for plain in ("bootstrap.servers", "security.protocol"):
            if given.text(plain):
                java.setdefault(plain, given.text(plain))
        if not java.get("bootstrap.servers"):
            raise ConfigError(
                "No Kafka broker is named: give connectionName (looked up in the connections file) or"
                " bootstrap.servers, for example 127.0.0.1:9092.",
            )
        java.pop(API_TIMEOUT, None)  # Gluepot uses this value itself; the client does not get it.
        given.warn_unknown(KNOWN, HARMLESS, prefix="kafka.")
        classification = given.text("classification").lower()
        infer = given.flag("inferSchema", default=False)
        return cls(
            subscription=_subscription(given),
            client=librdkafka_config(java),
            starting=_starting(given),
            ending=_bound(given, "endingOffsets", default="latest"),
            max_offsets_per_trigger=given.count("maxOffsetsPerTrigger"),
            min_offsets_per_trigger=given.count("minOffsetsPerTrigger"),
            max_trigger_delay_secs=_delay_secs(given.text("maxTriggerDelay") or "15m"),
            min_partitions=given.count("minPartitions"),
            fail_on_data_loss=given.flag("failOnDataLoss", default=True),
            include_headers=given.flag("includeHeaders", default=False),
            add_record_timestamp=given.flag("addRecordTimestamp", default=False),
            record_columns=record_columns(given.text(OPTION), KAFKA_COLUMNS),
            emit_consumer_lag=given.flag("emitConsumerLagMetrics", default=False),
            classification=classification,
            infer_schema=infer,
            schema="" if infer else given.text("schema") or given.text("avroSchema"),
            delimiter=given.delimiter(),
            rejects_path=given.text("rejectsPath") or None,
            on_malformed=OnMalformed.of(given.text("onMalformed")),
            group=_group(given, java),
            api_timeout_secs=(given.count(f"kafka.{API_TIMEOUT}") or 30_000) / 1000,
        )


def _group(given: ScriptOptions, java: Mapping[str, str]) -> str:
    """Return the group to commit to. It is empty unless the script asks, because Glue and Spark commit to no group."""
    if not given.flag("commitGroupOffsets", default=False):
        return ""
    if not java.get("group.id"):
        raise ConfigError("commitGroupOffsets is true and no group is named; give kafka.group.id, one per job.")
    return java["group.id"]


def _subscription(given: ScriptOptions) -> Topics | Assign | Pattern:
    named = [name for name in ("assign", "subscribe", "topicName", "subscribePattern") if given.text(name)]
    if len(named) != 1:
        problem = f"{' and '.join(named)} are both given" if named else "No topic is named"
        raise ConfigError(f"{problem}; give exactly one of topicName, subscribe, subscribePattern and assign.")
    (name,) = named
    text = given.text(name)
    if name == "subscribePattern":
        try:
            expression(text)
        except Invalid as wrong:
            raise ConfigError(f"subscribePattern {text!r} is not a regular expression: {wrong}.") from wrong
        return Pattern(text)
    if name == "assign":
        plain = _json(name, text, 'a JSON map such as {"clicks":[0,1]}')
        try:
            return Assign(frozenset((topic, int(p)) for topic, numbers in plain.items() for p in numbers))
        except (TypeError, ValueError) as wrong:
            raise ConfigError(f'assign is {text!r}; use a JSON map such as {{"clicks":[0,1]}}.') from wrong
    topics = tuple(dict.fromkeys(topic.strip() for topic in text.split(",") if topic.strip()))
    if not topics:
        raise ConfigError(f"{name} is {text!r}; use one topic, or several with commas between them.")
    return Topics(topics)


def _starting(given: ScriptOptions) -> Literal["earliest", "latest"] | AtOffsets | AtTime:
    timestamp = given.text("startingTimestamp")
    if timestamp and given.text("startingOffsets"):
        raise ConfigError("startingOffsets and startingTimestamp are both given; use one of them, as Glue demands.")
    if timestamp:
        return AtTime(epoch_ms("startingTimestamp", timestamp))
    return _bound(given, "startingOffsets", default="latest")


def _bound(
    given: ScriptOptions,
    name: str,
    *,
    default: Literal["earliest", "latest"],
) -> Literal["earliest", "latest"] | AtOffsets | AtTime:
    text = given.text(name)
    match text.lower():
        case "":
            return default
        case "latest":
            return "latest"
        case "earliest" if name == "startingOffsets":
            return "earliest"
    allowed = 'earliest, latest or a JSON map such as {"clicks":{"0":23,"1":-2}}'
    plain = _json(name, text, allowed)
    try:
        offsets = {(topic, int(p)): int(at) for topic, by in plain.items() for p, at in by.items()}
    except (AttributeError, TypeError, ValueError) as wrong:
        raise ConfigError(f"{name} is {text!r}; use {allowed}.") from wrong
    if any(at < EARLIEST for at in offsets.values()):
        raise ConfigError(f"{name} is {text!r}; offsets are 0 or more, -1 for latest, -2 for earliest.")
    return AtOffsets(offsets)


def _json(name: str, text: str, allowed: str) -> dict[str, Any]:
    try:
        plain = json.loads(text)
    except ValueError as wrong:
        raise ConfigError(f"{name} is {text!r}; use {allowed}.") from wrong
    if not isinstance(plain, dict):
        raise ConfigError(f"{name} is {text!r}; use {allowed}.")
    return plain


def _delay_secs(text: str) -> float:
    """Read Spark's time strings: `15m`, `30s`, `500ms`; a bare number counts as seconds."""
    secs = duration_secs(text)
    if secs is None:
        raise ConfigError(f"maxTriggerDelay is {text!r}; use a time such as 15m, 30s or 500ms.")
    return secs
