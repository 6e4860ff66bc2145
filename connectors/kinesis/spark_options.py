"""Options of the connectors that give Spark the formats `kinesis` and `aws-kinesis`, in the words of ours. Pure.

Glue ships neither, and scripts bring them as jars, which are built for other versions of Spark. Their frames have the
columns data, streamName, partitionKey, sequenceNumber and approximateArrivalTimestamp.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from gluepot.connectors.kinesis.settings import KINESIS_COLUMNS, KNOWN, KinesisReadSettings
from gluepot.connectors.streams.record_columns import RecordColumn
from gluepot.core.errors import ConfigError
from gluepot.core.logging import get_logger

FORMATS = ("kinesis", "aws-kinesis")
"""What `readStream` is told, letter case aside."""

_PREFIX = "kinesis."
_NAMES = {name.lower(): name for name in (*KNOWN, "consumerType", "consumerName")} | {
    "initialposition": "startingPosition"
}
_OF_ENVIRONMENT = frozenset({"awsaccesskey", "awsaccesskeyid", "awssecretkey", "awssessiontoken"})
_WITHOUT_EFFECT = {
    "subscribetoshard.timeoutsec": "a subscription is made again as long as records are read",
    "subscribetoshard.maxretries": "a subscription is made again as long as records are read",
    "metadatapath": "positions are kept in the checkpoint",
    "metadatacommittertype": "positions are kept in the checkpoint",
}
_ALL_COLUMNS = tuple(RecordColumn(name, name) for name in KINESIS_COLUMNS)
_AT_TIMESTAMP = "at_timestamp"

log = get_logger(__name__)


def settings_of_spark(options: Mapping[str, Any]) -> KinesisReadSettings:
    """Return the settings of a read, for the options of one of Spark's connectors.

    Args:
        options: as the script gives them; names with and without the prefix `kinesis.`, in any case.

    Raises:
        ConfigError: as `KinesisReadSettings.from_options`.
    """
    given: dict[str, Any] = {}
    for name, value in options.items():
        lower = name.lower().removeprefix(_PREFIX)
        if lower in _OF_ENVIRONMENT:
            log.warning("option_without_effect", option=name, reason="credentials are those of the environment")
        elif lower in _WITHOUT_EFFECT:
            log.info("option_without_effect", option=name, reason=_WITHOUT_EFFECT[lower])
        else:
            given[_NAMES.get(name.lower()) or _NAMES.get(lower) or name] = value
    if "startingPosition" in given:
        given["startingPosition"] = _position(str(given["startingPosition"]))
    given |= _fan_out(given.pop("consumerType", ""), given.pop("consumerName", ""))
    settings = KinesisReadSettings.from_options(given)
    return replace(settings, classification="", infer_schema=False, schema="", record_columns=_ALL_COLUMNS)


def _fan_out(consumer_type: object, consumer_name: object) -> dict[str, Any]:
    match str(consumer_type).strip().lower():
        case "" | "getrecords":
            return {}
        case "subscribetoshard" if str(consumer_name).strip():
            return {"fanoutConsumerName": str(consumer_name).strip()}
        case "subscribetoshard":
            raise ConfigError(
                "consumerType is SubscribeToShard, but consumerName is not set; set it to the name of a consumer of the"
                " stream."
            )
    raise ConfigError(f"consumerType is {str(consumer_type)!r}; use GetRecords or SubscribeToShard.")


def _position(text: str) -> str:
    """Return a start without the word that some connectors write before a time."""
    word, _, rest = text.strip().partition(" ")
    return rest.strip() if word.lower() == _AT_TIMESTAMP else text
