"""What places get: URLs the JSON itself, topics of SNS a message with it. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from gluepot.core.errors import ConfigError
from gluepot.service.events.rules import is_place, region_of_topic


def topics_of(options: Sequence[str]) -> dict[str, str]:
    """Return the URLs of topics by their ARNs.

    Args:
        options: each `ARN=URL`.

    Raises:
        ConfigError: one has another form.
    """
    topics = dict(option.partition("=")[::2] for option in options)
    for arn, url in topics.items():
        if region_of_topic(arn) is None or not is_place(url) or region_of_topic(url) is not None:
            raise ConfigError(
                f"--topic is {f'{arn}={url}'!r}; use ARN=URL, such as"
                " arn:aws:sns:us-east-1:000000000000:alerts=https://chat.example.com/hooks/42."
            )
    return topics


def body_for(place: str, document: Mapping[str, Any], subject: str = "") -> dict[str, Any]:
    """Return the body of a delivery.

    Args:
        place: a URL, or the ARN of a topic.
        document: what is sent.
        subject: of a message to a topic; empty for none.
    """
    if region_of_topic(place) is None:
        return dict(document)
    return {"Message": json.dumps(document), **({"Subject": subject} if subject else {})}


def notification(topic: str, body: Mapping[str, str], message_id: str, at_ms: int) -> dict[str, str]:
    """Return what SNS posts to an HTTP subscriber of a topic. It is not signed.

    Args:
        topic: ARN of the topic.
        body: message and subject, as `body_for` returns them.
        message_id: the same each time that a delivery is tried.
        at_ms: when it was published, in milliseconds since 1970.
    """
    at = datetime.fromtimestamp(at_ms / 1000, UTC)
    stamp = f"{at:%Y-%m-%dT%H:%M:%S}.{at_ms % 1000:03d}Z"
    return {"Type": "Notification", "MessageId": message_id, "TopicArn": topic, **body, "Timestamp": stamp}
