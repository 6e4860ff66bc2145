"""Publishes rows to a topic of SNS, each as a message with the row's JSON."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gluepot.connectors.aws.clients import ADDRESS_OPTIONS, Address, aws_client, explained
from gluepot.connectors.documents.bulk import Answer, Entry, Limits
from gluepot.connectors.notifications.sending import by_entry, failed_by_id, message, notify, required
from gluepot.connectors.options import ScriptOptions
from gluepot.connectors.values import Document, Refusal
from gluepot.core.datasets import Dataset
from gluepot.core.errors import ConfigError

KNOWN = ("topicArn", "subject", "messageGroupId", "rejectsPath", *ADDRESS_OPTIONS)
_LIMITS = Limits(entries=10, size_bytes=256 << 10)
_ARN = re.compile(r"arn:[\w-]+:sns:(?P<region>[\w-]+):\d*:(?P<name>[\w.-]+)")


@dataclass(frozen=True)
class SnsStore:
    """A `DocumentStore` over a topic.

    Args:
        topic: ARN of the topic.
        address: where SNS is.
        subject: of each message; empty for none.
        group_column: of a FIFO topic: the column whose value is a message's group; empty for one group for all.
        guarantee: see `DocumentStore`.
    """

    topic: str
    address: Address
    subject: str = ""
    group_column: str = ""
    guarantee: str = (
        "each row at least once, with an id that a repetition repeats; a FIFO topic leaves out repetitions within five"
        " minutes"
    )

    @property
    def place(self) -> str:
        """See `DocumentStore`."""
        return f"sns {self.topic}"

    @property
    def dataset(self) -> Dataset:
        """See `DocumentStore`."""
        return Dataset(f"sns://{self.address.region}", self.topic.rpartition(":")[2])

    @property
    def _where(self) -> str:
        return f"SNS topic {self.topic}"

    def check(self) -> None:
        """See `DocumentStore`."""
        with explained(self._where):
            aws_client("sns", self.address).get_topic_attributes(TopicArn=self.topic)

    def put(self, documents: Sequence[Document]) -> list[Refusal]:
        """See `DocumentStore`."""
        entries = [
            message(at, one, "Message", is_fifo=self.topic.endswith(".fifo"), group_column=self.group_column)
            for at, one in enumerate(documents)
        ]
        return notify(entries, self._send, _LIMITS, self._where)

    def _send(self, part: Sequence[Entry[dict[str, Any]]]) -> Answer[dict[str, Any]]:
        subject = {"Subject": self.subject} if self.subject else {}
        messages = [{"Id": str(at), **one.body, **subject} for at, one in enumerate(part)]
        with explained(self._where):
            answer = aws_client("sns", self.address).publish_batch(
                TopicArn=self.topic, PublishBatchRequestEntries=messages
            )
        return by_entry(part, failed_by_id(answer), self._where)


def sns_store(options: Mapping[str, Any]) -> SnsStore:
    """Return the store for a script's options.

    Raises:
        ConfigError: an option is missing or wrong.
    """
    given = ScriptOptions(options)
    given.warn_unknown(KNOWN)
    topic = required(given, "topicArn")
    found = _ARN.fullmatch(topic)
    if found is None:
        raise ConfigError(f"topicArn is {topic!r}; use the ARN of a topic, such as arn:aws:sns:eu-west-1:123:orders.")
    return SnsStore(
        topic, Address.of(given, region=found["region"]), given.text("subject"), given.text("messageGroupId")
    )
