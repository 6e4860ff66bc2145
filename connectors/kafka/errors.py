"""Turns librdkafka's errors into Gluepot's error classes, chosen by what the caller should do next."""

from __future__ import annotations

from confluent_kafka import KafkaError

from gluepot.core.errors import ConfigError, DataLoss, EtlError, PermanentError, TransientError

NOT_ALLOWED = frozenset(
    {
        KafkaError.TOPIC_AUTHORIZATION_FAILED,
        KafkaError.GROUP_AUTHORIZATION_FAILED,
        KafkaError.CLUSTER_AUTHORIZATION_FAILED,
        KafkaError.SASL_AUTHENTICATION_FAILED,
        KafkaError._AUTHENTICATION,  # noqa: SLF001  confluent-kafka spells librdkafka's own codes with an underscore
        KafkaError._SSL,  # noqa: SLF001
    }
)
GONE = frozenset(
    {
        KafkaError.OFFSET_OUT_OF_RANGE,
        KafkaError._AUTO_OFFSET_RESET,  # noqa: SLF001
    }
)
NO_TOPIC = frozenset(
    {
        KafkaError.UNKNOWN_TOPIC_OR_PART,
        KafkaError.UNKNOWN_TOPIC_ID,
        KafkaError._UNKNOWN_TOPIC,  # noqa: SLF001
        KafkaError._UNKNOWN_PARTITION,  # noqa: SLF001
    }
)
TOO_LARGE = frozenset({KafkaError.MSG_SIZE_TOO_LARGE, KafkaError.RECORD_LIST_TOO_LARGE})
FOREVER = frozenset({KafkaError._INVALID_ARG, KafkaError._NOT_IMPLEMENTED, KafkaError.UNSUPPORTED_VERSION})  # noqa: SLF001


def from_kafka(error: KafkaError, doing: str, bootstrap: str) -> EtlError:
    """Turn an error of the Kafka client into an `EtlError`.

    Args:
        error: code and text of librdkafka; the text holds no secret.
        doing: the operation that failed, for the message, such as `reading clicks-0 at offset 7`.
        bootstrap: `host:port` list.
    """
    code = error.code()
    said = f"{error.name()}: {error.str()}"
    if code in NOT_ALLOWED:
        return ConfigError(f"Kafka at {bootstrap} refused {doing} ({said}); check user, password and certificates.")
    if code in GONE:
        return DataLoss(
            f"Kafka at {bootstrap} no longer has the records for {doing} ({said}); to go on from what is there, set"
            " failOnDataLoss to false.",
        )
    if code in NO_TOPIC:
        return PermanentError(f"Kafka at {bootstrap} does not know the topic when {doing} ({said}).")
    if code in TOO_LARGE:
        return PermanentError(
            f"Kafka at {bootstrap} refused a record as too large when {doing} ({said}); make the record smaller, or"
            " filter it out.",
        )
    if code in FOREVER:
        return PermanentError(f"Kafka at {bootstrap}: {doing} is impossible ({said}).")
    if code > 0:  # the codes of librdkafka itself are negative
        return TransientError(
            f"Kafka at {bootstrap} refused {doing} ({said}); look into the brokers' logs if it lasts."
        )
    return TransientError(
        f"Kafka at {bootstrap} could not be reached while {doing} ({said}); check that it runs, and that this machine"
        " can connect to it."
    )
