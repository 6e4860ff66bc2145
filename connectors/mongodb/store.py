"""Writes rows to a collection: each is put under its `_id`, so that a repetition changes nothing."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Any, NamedTuple

import pyarrow as pa
from bson.raw_bson import RawBSONDocument

from gluepot.connectors.documents.bulk import REFUSED, Answer, Entry, Limits, send_all
from gluepot.connectors.documents.rows import DocumentRows
from gluepot.connectors.mongodb.bson_columns import upserts
from gluepot.connectors.mongodb.bson_values import NoDocument, document_key, upsert
from gluepot.connectors.mongodb.client import PASSING, database_of, explained
from gluepot.connectors.mongodb.settings import WriteSettings
from gluepot.connectors.values import Document, Refusal
from gluepot.core.clock import SystemClock
from gluepot.core.datasets import Dataset
from gluepot.core.errors import ConfigError, TransientError

# A command may take 16 MiB and a little more, so a document of that size goes alone.
_CALL_BYTES = 8 << 20
# What a list of statements adds to each of them.
_STATEMENT_BYTES = 10
CALLS_AT_ONCE = 2
DUPLICATE = 11000
DUPLICATE_KEY = "duplicate_key"


@dataclass(frozen=True)
class MongodbStore:
    """A `DocumentStore` over a collection.

    Args:
        settings: of the write.
        guarantee: see `DocumentStore`.
    """

    settings: WriteSettings
    guarantee: str = "each row once, by its _id; of rows with one _id in a partition, the last one remains"

    @property
    def place(self) -> str:
        """See `DocumentStore`."""
        address = self.settings.address
        return f"{address.server} {address.hosts} {address.database}.{address.collection}"

    @property
    def dataset(self) -> Dataset:
        """See `DocumentStore`."""
        address = self.settings.address
        return Dataset(f"mongodb://{address.hosts}", f"{address.database}.{address.collection}")

    def check(self) -> None:
        """Make sure that the server answers and knows the user. A collection that is not there is made by the write."""
        address = self.settings.address
        concern = self._concern()
        if concern.get("w") == 0:
            raise ConfigError(
                "connection.uri has w=0, by which MongoDB acknowledges nothing, so rows could be lost; omit it."
            )
        with explained(address.where):
            database_of(address).list_collection_names(filter={"name": address.collection})

    def put(self, documents: Sequence[Document]) -> list[Refusal]:
        """See `DocumentStore`."""
        refused: list[Refusal] = []
        entries, in_order = _statements_of(documents, self.settings, refused)
        sender = _Sender(self.settings, self._concern())
        limits = Limits(self.settings.batch_documents, _CALL_BYTES, at_once=1 if in_order else CALLS_AT_ONCE)
        chance = random.Random().random  # noqa: S311  for jitter
        refused += send_all(entries, sender.send, limits, self.settings.address.where, SystemClock(), chance)
        return sorted(refused, key=lambda one: one.index)

    def _concern(self) -> Mapping[str, Any]:
        """Return the URI's write concern; without one, a write counts when most members have it."""
        given = database_of(self.settings.address).write_concern
        return {"w": "majority", **given.document}


class Keyed(NamedTuple):
    """A document and its key; a tuple, because one is made for each row.

    Args:
        at: which of the documents it is.
        key: its `_id`.
        document: the document.
        order: documents with one text are put one after the other; empty if there is no other one.
    """

    at: int
    key: Any
    document: Document
    order: str = ""


def keyed(
    documents: Sequence[Document], settings: WriteSettings, refused: list[Refusal]
) -> tuple[Iterable[Keyed], bool]:
    """Return the documents to put, and whether some must be put one after the other.

    Of documents that replace each other, only the last is put. Updates of one document are put in their order.

    Args:
        documents: in order.
        settings: of the write.
        refused: gets a refusal for each document whose `_id` no document may have.
    """
    if not any("_id" in one.fields for one in documents):  # the ids that we give are all different
        return (Keyed(at, one.id, one) for at, one in enumerate(documents)), False
    found: list[tuple[Hashable, Keyed]] = []
    for at, one in enumerate(documents):
        try:
            key = document_key(one.fields, one.id, has_object_ids=settings.has_object_ids)
        except NoDocument as wrong:
            refused.append(_refusal(at, wrong, settings))
        else:
            found.append((_identity(key), Keyed(at, key, one)))
    last = dict(found)
    if settings.replaces or len(last) == len(found):
        return list(last.values()), False
    seen = Counter(identity for identity, _ in found)
    return [one._replace(order=repr(identity)) if seen[identity] > 1 else one for identity, one in found], True


def statements(
    numbered: Iterable[Keyed], settings: WriteSettings, refused: list[Refusal]
) -> Iterator[Entry[RawBSONDocument]]:
    """Yield a statement for each document that BSON can hold.

    Args:
        numbered: see `keyed`.
        settings: of the write.
        refused: gets a refusal for each of the others.
    """
    for one in numbered:
        try:
            statement = upsert(one.document.fields, one.key, replaces=settings.replaces)
        except NoDocument as wrong:
            refused.append(_refusal(one.at, wrong, settings))
        else:
            yield Entry(one.at, statement, len(statement.raw) + _STATEMENT_BYTES, one.order)


def _statements_of(
    documents: Sequence[Document], settings: WriteSettings, refused: list[Refusal]
) -> tuple[Iterator[Entry[RawBSONDocument]], bool]:
    """Return the statements to send, from columns where they have types that allow it; see `keyed`."""
    if settings.replaces and isinstance(documents, DocumentRows):
        made = upserts(documents.batch, documents.ids)
        if made is not None:
            return _entries(made), False
    numbered, in_order = keyed(documents, settings, refused)
    return statements(numbered, settings, refused), in_order


def _entries(made: pa.Array) -> Iterator[Entry[RawBSONDocument]]:
    for at, statement in enumerate(made.to_pylist()):
        yield Entry(at, RawBSONDocument(statement), len(statement) + _STATEMENT_BYTES)


def _refusal(index: int, wrong: NoDocument, settings: WriteSettings) -> Refusal:
    return Refusal(index, wrong.reason, f"{settings.address.where} cannot hold it: {wrong}.")


def _identity(key: Any) -> Hashable:
    """Return what two keys have in common if MongoDB takes them for one.

    Python takes True for 1, and a date for something else than its midnight; for MongoDB it is the other way round.
    """
    if isinstance(key, bool | dict):
        return type(key), repr(key)
    is_day = isinstance(key, date) and not isinstance(key, datetime)
    found: Hashable = datetime(key.year, key.month, key.day, tzinfo=UTC) if is_day else key
    return found


def sorted_out(
    part: Sequence[Entry[RawBSONDocument]], answer: Mapping[str, Any], where: str, doubted: set[int]
) -> Answer[RawBSONDocument]:
    """Return what an answer to an unordered update leaves to do.

    Two upserts of one `_id` at the same time can fail with a duplicate key although the second would have found the
    document of the first. So what fails by a duplicate key is tried again.

    Args:
        part: the statements that were sent.
        answer: of the server.
        where: the collection.
        doubted: indices of the documents that have failed so once; changed.

    Raises:
        TransientError: the server did not acknowledge the writes.
    """
    if concern := answer.get("writeConcernError"):
        raise TransientError(f"{where} has not acknowledged the writes yet ({concern.get('errmsg', concern)}).")
    again, refused, said = [], [], ""
    for error in answer.get("writeErrors", ()):
        entry, code = part[error["index"]], error.get("code")
        text = str(error.get("errmsg", "no reason given"))
        if code in PASSING or (code == DUPLICATE and entry.index not in doubted):
            again.append(entry)
            said = f"error {code}: {text}"
            if code == DUPLICATE:
                doubted.add(entry.index)
            continue
        reason = DUPLICATE_KEY if code == DUPLICATE else REFUSED
        number = "" if code is None else f"error {code}: "
        refused.append(Refusal(entry.index, reason, f"{where} refuses it ({number}{text})."))
    return Answer(again, refused, said)


class _Sender:
    """Makes the calls of one `put`."""

    def __init__(self, settings: WriteSettings, concern: Mapping[str, Any]) -> None:
        self._address = settings.address
        self._concern = concern
        self._doubted: set[int] = set()

    def send(self, part: Sequence[Entry[RawBSONDocument]]) -> Answer[RawBSONDocument]:
        address = self._address
        command = {
            "update": address.collection,
            "updates": [one.body for one in part],
            "ordered": False,
            "writeConcern": self._concern,
        }
        with explained(address.where):
            answer = database_of(address).command(command)
        return sorted_out(part, answer, address.where, self._doubted)
