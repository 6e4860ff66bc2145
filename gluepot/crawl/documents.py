"""Collections of MongoDB: their documents tell the columns (docs/glue 11.6)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import pyarrow as pa

from gluepot.catalog.connections import load, mongodb_options
from gluepot.crawl.items import sample
from gluepot.crawl.relations import fits
from gluepot.crawl.schemas import catalog_columns, merged
from gluepot.crawl.settings import MongodbTarget
from gluepot.crawl.tables import Counts
from gluepot.crawl.values import FileKind, FoundRelation, FoundTable

if TYPE_CHECKING:
    from gluepot.connectors.mongodb.settings import ReadSettings

MONGODB = "mongodb"
# Collections of the server itself begin so.
_SYSTEM = "system."


@dataclass(frozen=True, slots=True)
class Scanned:
    """A collection.

    Args:
        name: of the collection.
        schema: the merged schema of the documents.
        documents: how many there are.
        size_bytes: of all of them.
    """

    name: str
    schema: pa.Schema
    documents: int = 0
    size_bytes: int = 0


Look = Callable[[MongodbTarget], Sequence[Scanned]]
"""Returns the collections that a target means; none if they are not there."""


def look(target: MongodbTarget) -> Sequence[Scanned]:
    """Ask the server of a target for its collections and their documents; see `Look`.

    Raises:
        ConfigError: the connection is of another type, or its user may not read.
        TransientError: the server does not answer.
    """
    from gluepot.connectors.documents.extras import needed  # noqa: PLC0415  few crawls have such targets
    from gluepot.connectors.mongodb.settings import read_settings  # noqa: PLC0415  as above

    with needed("pymongo", MONGODB):
        from gluepot.connectors.mongodb.client import database_of, explained  # noqa: PLC0415  an extra

    options = {**mongodb_options(load().get(target.connection)), "partitioner": "SinglePartitionPartitioner"}
    settings = read_settings(MONGODB, {**options, "database": target.database, "collection": target.pattern})
    with explained(settings.address.where):
        names = [one["name"] for one in database_of(settings.address).list_collections() if one["type"] != "view"]
    meant = sorted(one for one in names if is_meant(target, one))
    return [_scanned(replace(settings, address=replace(settings.address, collection=one)), target) for one in meant]


def _scanned(settings: ReadSettings, target: MongodbTarget) -> Scanned:
    from gluepot.connectors.mongodb.client import database_of, explained  # noqa: PLC0415  an extra
    from gluepot.connectors.mongodb.source import planned  # noqa: PLC0415  an extra

    address = settings.address
    with explained(address.where):
        stats = database_of(address).command("collStats", address.collection)
    read = planned(settings)
    batches: Iterator[pa.RecordBatch] = (chunk.batch for split in read.splits for chunk in read.source.read(split))
    schema = merged(batch.schema for batch in (batches if target.scans_all else sample(batches)))
    return Scanned(address.collection, schema, int(stats.get("count", 0)), int(stats.get("size", 0)))


def is_meant(target: MongodbTarget, collection: str) -> bool:
    """Tell whether a target means a collection."""
    return fits(target.pattern, collection) and not collection.startswith(_SYSTEM)


def is_meant_at(target: MongodbTarget, location: str) -> bool:
    """Tell whether a target means the collection at a location, `database.collection`."""
    database, _, collection = location.partition(".")
    return database == target.database and is_meant(target, collection)


def found_collection(target: MongodbTarget, scanned: Scanned) -> FoundTable:
    """Return a collection as a crawl has found it."""
    parameters = Counts(size_bytes=scanned.size_bytes, records=scanned.documents).sizes
    columns = catalog_columns(scanned.schema, by_place=False)
    location = f"{target.database}.{scanned.name}"
    relation = FoundRelation(target.connection, location, columns, parameters=parameters)
    return FoundTable(MONGODB, "", "", FileKind(MONGODB, schema=scanned.schema), relation=relation)
