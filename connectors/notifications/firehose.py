"""Puts rows into a delivery stream of Firehose, each as a line of JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gluepot.connectors.aws.clients import ADDRESS_OPTIONS, Address, aws_client, explained
from gluepot.connectors.documents.bulk import Answer, Entry, Limits
from gluepot.connectors.json_values import json_document
from gluepot.connectors.notifications.sending import by_entry, notify, required
from gluepot.connectors.options import ScriptOptions
from gluepot.connectors.values import Document, Refusal
from gluepot.core.datasets import Dataset

KNOWN = ("deliveryStreamName", "idColumn", "rejectsPath", *ADDRESS_OPTIONS)
_LIMITS = Limits(entries=500, size_bytes=4 << 20)


@dataclass(frozen=True)
class FirehoseStore:
    """A `DocumentStore` over a delivery stream.

    Args:
        stream: its name.
        address: where Firehose is.
        id_column: field of the written JSON that holds the row's id; empty to leave the id out.
        guarantee: see `DocumentStore`.
    """

    stream: str
    address: Address
    id_column: str = ""
    guarantee: str = "each row at least once; with idColumn, a repetition has the same id"

    @property
    def place(self) -> str:
        """See `DocumentStore`."""
        return f"firehose {self.address.region} {self.stream}"

    @property
    def dataset(self) -> Dataset:
        """See `DocumentStore`."""
        return Dataset(f"firehose://{self.address.region or 'default'}", self.stream)

    @property
    def _where(self) -> str:
        return f"Firehose's delivery stream {self.stream}"

    def check(self) -> None:
        """See `DocumentStore`."""
        with explained(self._where):
            aws_client("firehose", self.address).describe_delivery_stream(DeliveryStreamName=self.stream)

    def put(self, documents: Sequence[Document]) -> list[Refusal]:
        """See `DocumentStore`."""
        entries = [self._entry(at, one) for at, one in enumerate(documents)]
        return notify(entries, self._send, _LIMITS, self._where)

    def _entry(self, at: int, document: Document) -> Entry[dict[str, Any]]:
        fields = {**document.fields, self.id_column: document.id} if self.id_column else document.fields
        line = json_document(fields) + b"\n"
        return Entry(at, {"Data": line}, len(line))

    def _send(self, part: Sequence[Entry[dict[str, Any]]]) -> Answer[dict[str, Any]]:
        with explained(self._where):
            answer = aws_client("firehose", self.address).put_record_batch(
                DeliveryStreamName=self.stream, Records=[one.body for one in part]
            )
        failed = {
            at: (str(one["ErrorCode"]), str(one.get("ErrorMessage", "")))
            for at, one in enumerate(answer["RequestResponses"])
            if one.get("ErrorCode")
        }
        return by_entry(part, failed, self._where)


def firehose_store(options: Mapping[str, Any]) -> FirehoseStore:
    """Return the store for a script's options.

    Raises:
        ConfigError: an option is missing.
    """
    given = ScriptOptions(options)
    given.warn_unknown(KNOWN)
    return FirehoseStore(required(given, "deliveryStreamName"), Address.of(given), given.text("idColumn"))
