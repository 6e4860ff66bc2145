"""Puts rows on an event bus of EventBridge, each as an event whose detail is the row's JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gluepot.connectors.aws.clients import ADDRESS_OPTIONS, Address, aws_client, explained
from gluepot.connectors.documents.bulk import Answer, Entry, Limits
from gluepot.connectors.json_values import json_document
from gluepot.connectors.notifications.sending import ID, by_entry, notify
from gluepot.connectors.options import ScriptOptions
from gluepot.connectors.values import Document, Refusal
from gluepot.core.datasets import Dataset

KNOWN = ("eventBusName", "source", "detailType", "rejectsPath", *ADDRESS_OPTIONS)
_LIMITS = Limits(entries=10, size_bytes=256 << 10)


@dataclass(frozen=True)
class EventBridgeStore:
    """A `DocumentStore` over an event bus.

    Args:
        bus: its name or ARN.
        address: where EventBridge is.
        source: `source` of the events.
        detail_type: `detail-type` of the events.
        guarantee: see `DocumentStore`.
    """

    bus: str
    address: Address
    source: str
    detail_type: str
    guarantee: str = "each row at least once; `resources` of its event names an id that a repetition repeats"

    @property
    def place(self) -> str:
        """See `DocumentStore`."""
        return f"eventbridge {self.address.region} {self.bus}"

    @property
    def dataset(self) -> Dataset:
        """See `DocumentStore`."""
        return Dataset(f"eventbridge://{self.address.region or 'default'}", self.bus)

    @property
    def _where(self) -> str:
        return f"EventBridge's event bus {self.bus}"

    def check(self) -> None:
        """See `DocumentStore`."""
        with explained(self._where):
            aws_client("events", self.address).describe_event_bus(Name=self.bus)

    def put(self, documents: Sequence[Document]) -> list[Refusal]:
        """See `DocumentStore`."""
        entries = [self._entry(at, one) for at, one in enumerate(documents)]
        return notify(entries, self._send, _LIMITS, self._where)

    def _entry(self, at: int, document: Document) -> Entry[dict[str, Any]]:
        detail, resource = json_document(document.fields).decode(), f"{ID}:{document.id}"
        event = {
            "EventBusName": self.bus,
            "Source": self.source,
            "DetailType": self.detail_type,
            "Detail": detail,
            "Resources": [resource],
        }
        size = sum(len(one.encode()) for one in (detail, self.source, self.detail_type, resource))
        return Entry(at, event, size)

    def _send(self, part: Sequence[Entry[dict[str, Any]]]) -> Answer[dict[str, Any]]:
        with explained(self._where):
            answer = aws_client("events", self.address).put_events(Entries=[one.body for one in part])
        failed = {
            at: (str(one["ErrorCode"]), str(one.get("ErrorMessage", "")))
            for at, one in enumerate(answer["Entries"])
            if one.get("ErrorCode")
        }
        return by_entry(part, failed, self._where)


def eventbridge_store(options: Mapping[str, Any]) -> EventBridgeStore:
    """Return the store for a script's options."""
    given = ScriptOptions(options)
    given.warn_unknown(KNOWN)
    return EventBridgeStore(
        given.text("eventBusName") or "default",
        Address.of(given),
        given.text("source") or "gluepot",
        given.text("detailType") or "row",
    )
