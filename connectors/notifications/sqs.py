"""Sends rows to a queue of SQS, each as a message with the row's JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from gluepot.connectors.aws.clients import ADDRESS_OPTIONS, Address, aws_client, explained
from gluepot.connectors.documents.bulk import Answer, Entry, Limits
from gluepot.connectors.notifications.sending import by_entry, failed_by_id, message, notify, required
from gluepot.connectors.options import ScriptOptions
from gluepot.connectors.values import Document, Refusal
from gluepot.core.datasets import Dataset

KNOWN = ("queueUrl", "queueName", "messageGroupId", "delaySeconds", "rejectsPath", *ADDRESS_OPTIONS)
_LIMITS = Limits(entries=10, size_bytes=256 << 10)


@dataclass(frozen=True)
class SqsStore:
    """A `DocumentStore` over a queue.

    Args:
        queue: URL or name of the queue.
        address: where SQS is.
        group_column: of a FIFO queue: the column whose value is a message's group; empty for one group for all.
        delay_secs: before a message can be received; None for the queue's own delay.
        guarantee: see `DocumentStore`.
    """

    queue: str
    address: Address
    group_column: str = ""
    delay_secs: int | None = None
    guarantee: str = (
        "each row at least once, with an id that a repetition repeats; a FIFO queue leaves out repetitions within five"
        " minutes"
    )

    @property
    def place(self) -> str:
        """See `DocumentStore`."""
        return f"sqs {self.address.region} {self.queue}"

    @property
    def dataset(self) -> Dataset:
        """See `DocumentStore`."""
        return Dataset(f"sqs://{self.address.region or 'default'}", self.queue.rpartition("/")[2])

    @property
    def _where(self) -> str:
        return f"SQS queue {self.queue}"

    def check(self) -> None:
        """See `DocumentStore`."""
        with explained(self._where):
            aws_client("sqs", self.address).get_queue_attributes(QueueUrl=_url(self), AttributeNames=["QueueArn"])

    def put(self, documents: Sequence[Document]) -> list[Refusal]:
        """See `DocumentStore`."""
        entries = [
            message(at, one, "MessageBody", is_fifo=self.queue.endswith(".fifo"), group_column=self.group_column)
            for at, one in enumerate(documents)
        ]
        return notify(entries, self._send, _LIMITS, self._where)

    def _send(self, part: Sequence[Entry[dict[str, Any]]]) -> Answer[dict[str, Any]]:
        delay = {} if self.delay_secs is None else {"DelaySeconds": self.delay_secs}
        messages = [{"Id": str(at), **one.body, **delay} for at, one in enumerate(part)]
        with explained(self._where):
            answer = aws_client("sqs", self.address).send_message_batch(QueueUrl=_url(self), Entries=messages)
        return by_entry(part, failed_by_id(answer), self._where)


@cache
def _url(store: SqsStore) -> str:
    if "://" in store.queue:
        return store.queue
    url: str = aws_client("sqs", store.address).get_queue_url(QueueName=store.queue)["QueueUrl"]
    return url


def sqs_store(options: Mapping[str, Any]) -> SqsStore:
    """Return the store for a script's options.

    Raises:
        ConfigError: an option is missing or wrong.
    """
    given = ScriptOptions(options)
    given.warn_unknown(KNOWN)
    return SqsStore(
        required(given, "queueUrl", "queueName"),
        Address.of(given),
        given.text("messageGroupId"),
        given.count("delaySeconds"),
    )
