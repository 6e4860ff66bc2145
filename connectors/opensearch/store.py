"""Writes rows to an index: each is put under its id, so that a repetition changes nothing."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from gluepot.connectors.documents.bulk import REFUSED, Answer, Entry, Limits, send_all
from gluepot.connectors.json_values import json_document
from gluepot.connectors.opensearch.client import AWAY, client_of, explained
from gluepot.connectors.opensearch.settings import WriteSettings
from gluepot.connectors.value_texts import text
from gluepot.connectors.values import Document, Refusal
from gluepot.core.clock import SystemClock
from gluepot.core.datasets import Dataset

MOST_ID_BYTES = 512
BAD_ID, BAD_VALUE = "bad_id", "bad_value"
_CONFLICT = 409
_BLOCKED = "cluster_block_exception"


@dataclass(frozen=True)
class OpensearchStore:
    """A `DocumentStore` over an index.

    Args:
        settings: of the write.
        guarantee: see `DocumentStore`.
    """

    settings: WriteSettings
    guarantee: str = "each row once, by its id; of rows with one id in a partition, the last one remains"

    @property
    def place(self) -> str:
        """See `DocumentStore`."""
        address = self.settings.address
        return f"{address.type} {','.join(address.nodes)} {address.index}"

    @property
    def dataset(self) -> Dataset:
        """See `DocumentStore`."""
        address = self.settings.address
        return Dataset(f"{address.type}://{address.nodes[0].partition('://')[2]}", address.index)

    def check(self) -> None:
        """Make sure that the server answers and knows the user. An index that is not there is made by the write."""
        address = self.settings.address
        with explained(address.where):
            client_of(address).indices.exists(index=address.index)

    def put(self, documents: Sequence[Document]) -> list[Refusal]:
        """See `DocumentStore`."""
        settings = self.settings
        entries, refused = actions(documents, settings)
        limits = Limits(settings.batch_entries, settings.batch_bytes)
        chance = random.Random().random  # noqa: S311  for jitter
        refused += send_all(entries, self._send, limits, settings.address.where, SystemClock(), chance)
        return sorted(refused, key=lambda one: one.index)

    def _send(self, part: Sequence[Entry[bytes]]) -> Answer[bytes]:
        address = self.settings.address
        with explained(address.where):
            answer = client_of(address).bulk(
                body=b"".join(one.body for one in part),
                index=address.index,
                params={"filter_path": "errors,items.*.status,items.*.error"},
            )
        return sorted_out(part, answer, address.where)


def actions(documents: Sequence[Document], settings: WriteSettings) -> tuple[list[Entry[bytes]], list[Refusal]]:
    """Return the lines of a bulk call for each document, and a refusal for each that has no fit id or value.

    Of documents that replace each other, only the last is sent. Updates of one document are sent one after the other.
    """
    refused: list[Refusal] = []
    made: list[tuple[str, Entry[bytes]]] = []
    for at, document in enumerate(documents):
        name = _id_of(document.fields, settings.id_path) if settings.id_path else document.id
        fault = _fault(name, settings.id_path)
        if fault:
            refused.append(Refusal(at, BAD_ID, f"{settings.address.where} cannot hold it: {fault}."))
            continue
        try:
            body = _lines(name, document.fields, settings)
        except (TypeError, ValueError, RecursionError) as error:
            refused.append(Refusal(at, BAD_VALUE, f"{settings.address.where} cannot hold it: {error}."))
            continue
        made.append((name, Entry(at, body, len(body))))
    if settings.operation in {"index", "create"}:
        return list(dict(made).values()), refused
    seen = Counter(name for name, _ in made)
    return [Entry(one.index, one.body, one.size_bytes, name if seen[name] > 1 else "") for name, one in made], refused


def _id_of(fields: Mapping[str, Any], path: Sequence[str]) -> str:
    value: Any = fields
    for name in path:
        value = value.get(name) if isinstance(value, Mapping) else None
    return "" if value is None or isinstance(value, dict | list) else text(value)


def _fault(name: str, path: Sequence[str]) -> str:
    """Return what is wrong with an id, as a clause; empty if nothing is."""
    if not name:
        return f"it has no text or number {'.'.join(path)}, which is to be its id"
    size = len(name.encode(errors="surrogatepass"))
    if size > MOST_ID_BYTES:
        return f"its id has {size} bytes, and an id has {MOST_ID_BYTES} at most"
    return ""


def _lines(name: str, fields: Mapping[str, Any], settings: WriteSettings) -> bytes:
    if settings.left_out:
        fields = {key: value for key, value in fields.items() if key not in settings.left_out}
    source = json_document(fields)
    match settings.operation:
        case "index" | "create":
            head: dict[str, Any] = {"index": {"_id": name}}
        case operation:
            head = {"update": {"_id": name, "retry_on_conflict": 3}}
            more = b',"doc_as_upsert":true' if operation == "upsert" else b""
            source = b'{"doc":' + source + more + b"}"
    return orjson.dumps(head) + b"\n" + source + b"\n"


def sorted_out(part: Sequence[Entry[bytes]], answer: Mapping[str, Any], where: str) -> Answer[bytes]:
    """Return what the answer to a bulk call leaves to do.

    Args:
        part: what was sent.
        answer: of the server, with `errors` and `items`.
        where: the index.
    """
    if not answer.get("errors"):
        return Answer()
    again, refused, said = [], [], ""
    for entry, item in zip(part, answer["items"], strict=True):
        (result,) = item.values()
        error = result.get("error")
        if error is None:
            continue
        told = _told(error)
        if result["status"] in AWAY | {_CONFLICT} or error.get("type") == _BLOCKED:
            again.append(entry)
            said = told
            continue
        refused.append(Refusal(entry.index, REFUSED, f"{where} refuses it ({told})."))
    return Answer(again, refused, said)


def _told(error: Mapping[str, Any]) -> str:
    reasons = [f"{error.get('type')}: {error.get('reason')}"]
    cause = error.get("caused_by")
    if isinstance(cause, dict) and cause.get("reason"):
        reasons.append(str(cause["reason"]))
    return "; ".join(reasons)[:500]
