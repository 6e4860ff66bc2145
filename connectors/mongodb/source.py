"""Reads a collection, divided among tasks by the values of a field."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any

import bson
from pymongo.collection import Collection

from gluepot.connectors.contracts import BatchRead
from gluepot.connectors.documents.bulk import Refused
from gluepot.connectors.documents.reading import chunk_of
from gluepot.connectors.mongodb.bson_values import READING, row_of
from gluepot.connectors.mongodb.client import database_of, explained
from gluepot.connectors.mongodb.partitions import bounds, filters, partition_count
from gluepot.connectors.mongodb.settings import ReadSettings
from gluepot.core.errors import ConfigError
from gluepot.core.logging import get_logger
from gluepot.frames.chunk import Chunk

_CHUNK_DOCUMENTS = 4096

log = get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Partition:
    """The part of a collection that one task reads.

    Args:
        condition: BSON of the filter.
        size_bytes: about the size of its documents; 0 if it is unknown.
    """

    condition: bytes
    size_bytes: int


@dataclass(frozen=True, slots=True)
class MongodbSource:
    """A `BatchSource` over a collection.

    Args:
        settings: of the read.
        columns: the only ones that are wanted, in lower case; None for all.
        guarantee: see `BatchSource`.
    """

    settings: ReadSettings
    columns: frozenset[str] | None = None
    guarantee: str = field(
        default="each document that is there all the time, once; changes during the read may be seen or not"
    )

    def only(self, columns: frozenset[str]) -> MongodbSource:
        """See `ColumnarSource`."""
        return replace(self, columns=columns)

    def read(self, split: Partition) -> Iterator[Chunk]:
        """See `BatchSource`. A document with a value that no column can hold becomes an error record."""
        address = self.settings.address
        with explained(address.where):
            cursor = _collection(self.settings).find(bson.decode(split.condition, READING))
            if self.settings.batch_documents:
                cursor = cursor.batch_size(self.settings.batch_documents)
            with cursor:
                while some := list(islice(cursor, _CHUNK_DOCUMENTS)):
                    yield chunk_of([self._wanted(row_of(one)) for one in some], address.where)

    def _wanted(self, row: dict[str, Any]) -> dict[str, Any]:
        if self.columns is None:
            return row
        return {name: value for name, value in row.items() if name.lower() in self.columns}


def planned(settings: ReadSettings) -> BatchRead:
    """Return the read of a collection, divided among tasks.

    Raises:
        ConfigError: the collection is not there, or may not be read.
        TransientError: the server does not answer.
    """
    address = settings.address
    with explained(address.where):
        database = database_of(address)
        if address.collection not in database.list_collection_names(filter={"name": address.collection}):
            raise ConfigError(f"{address.where} is not there; create it, or correct database and collection.")
        found = database.command("collStats", address.collection)
        documents, size_bytes = int(found.get("count", 0)), int(found.get("size", 0))
        count = partition_count(documents, size_bytes, settings.partition_bytes, settings.partitions)
        conditions = filters(settings.key, bounds(_samples(settings, documents, count), count) if count > 1 else [])
    size_bytes //= len(conditions)
    return BatchRead(MongodbSource(settings), tuple(Partition(bson.encode(one), size_bytes) for one in conditions))


def _samples(settings: ReadSettings, documents: int, count: int) -> list[Any]:
    """Return values of the field at about even distances, in MongoDB's order."""
    collection, key = _collection(settings), settings.key
    if key != "_id" and collection.find_one({key: {"$type": "array"}}) is not None:
        log.warning("read_by_one_task", collection=settings.address.collection, reason=f"{key} is a list in some rows")
        return []
    wanted = min(documents, count * settings.samples)
    try:
        with explained(settings.address.where):
            sample = [{"$sample": {"size": wanted}}, {"$project": {key: 1}}, {"$sort": {key: 1}}]
            return [_value(one, key) for one in collection.aggregate(sample)]
    except Refused:  # a server without $sample
        return _paginated(collection, key, max(1, documents // wanted))


def _paginated(collection: Collection[dict[str, Any]], key: str, step: int) -> list[Any]:
    """Return every `step`-th value of a field, among those of the type that comes first in MongoDB's order.

    Documents without the field, which come before all others, tell no bounds.
    """
    values: list[Any] = []
    condition: dict[str, Any] = {key: {"$ne": None}}
    while page := list(collection.find(condition, {key: 1}).sort(key, 1).skip(step - 1).limit(1)):
        values.append(_value(page[0], key))
        if values[-1] is None:
            break
        condition = {key: {"$gt": values[-1]}}
    return values


def _value(document: Mapping[str, Any], key: str) -> Any:
    value: Any = document
    for name in key.split("."):
        value = value.get(name) if isinstance(value, Mapping) else None
    return value


def _collection(settings: ReadSettings) -> Collection[dict[str, Any]]:
    return database_of(settings.address).get_collection(settings.address.collection, codec_options=READING)
