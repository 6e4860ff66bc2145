"""Entries of the catalog for what a crawl found, in the form that crawlers of AWS write them (docs/glue 11.6). Pure."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from gluepot.catalog.formats import KNOWN_FORMATS, HiveFormat
from gluepot.catalog.values import Partition
from gluepot.crawl.schemas import catalog_columns
from gluepot.crawl.values import FileKind, FoundRelation, FoundTable, Part

UPDATED_BY, DEPRECATED_BY, RUN_ID = "UPDATED_BY_CRAWLER", "DEPRECATED_BY_CRAWLER", "CRAWL_RUN_ID"
INDEX = "crawler_partition_index"

COUNTS = frozenset({"sizeKey", "objectCount", "recordCount", "averageRecordSize", RUN_ID})
"""Parameters that say how much there is. They change without a new version of the table."""

_BY_PLACE = frozenset({"csv", "opencsv"})
_NO_FORMAT = HiveFormat("", "", "")
_VERSIONS = {"CrawlerSchemaSerializerVersion": "1.0", "CrawlerSchemaDeserializerVersion": "1.0"}


class Counts(NamedTuple):
    """How much a table or a partition has.

    Args:
        files: how many.
        size_bytes: of all of them.
        records: an estimate.
    """

    files: int = 0
    size_bytes: int = 0
    records: int = 0

    @classmethod
    def of_parts(cls, parts: Iterable[Part]) -> Counts:
        """Return how much some folders have."""
        return cls().changed((cls(part.files, part.size_bytes, part.records) for part in parts), ())

    @classmethod
    def of(cls, parameters: Mapping[str, str]) -> Counts:
        """Return what parameters say; zero where they say nothing."""
        said = (parameters.get(name, "") for name in ("objectCount", "sizeKey", "recordCount"))
        return cls(*(int(one) if one.isdecimal() else 0 for one in said))

    def changed(self, added: Iterable[Counts], removed: Iterable[Counts]) -> Counts:
        """Return how much there is when some is added and some removed; never less than nothing."""
        files, size_bytes, records = self
        for sign, some in ((1, added), (-1, removed)):
            for one in some:
                files += sign * one.files
                size_bytes += sign * one.size_bytes
                records += sign * one.records
        return Counts(max(files, 0), max(size_bytes, 0), max(records, 0))

    @property
    def parameters(self) -> dict[str, str]:
        """The same as parameters of a table of files."""
        return {**self.sizes, "objectCount": str(self.files)}

    @property
    def sizes(self) -> dict[str, str]:
        """The same as parameters of a table that has no files."""
        return {
            "sizeKey": str(self.size_bytes),
            "recordCount": str(self.records),
            "averageRecordSize": str(self.size_bytes // self.records if self.records else 0),
        }


def table_body(found: FoundTable, crawler: str, run_id: str) -> dict[str, Any]:
    """Return a table as GetTable answers, without name and database.

    Args:
        found: what was found.
        crawler: name of the crawler.
        run_id: of the crawl.
    """
    if found.relation is not None:
        return _relation_body(found.relation, found.kind.classification, crawler, run_id)
    parameters = _parameters(found.kind, found.parts, found.exclusions) | {
        **found.parameters,
        UPDATED_BY: crawler,
        **({"partition_filtering.enabled": "true"} if found.keys else {}),
    }
    if run_id:
        parameters[RUN_ID] = run_id
    return {
        "Owner": "owner",
        "Retention": 0,
        "StorageDescriptor": _storage(found.kind, found.location, parameters, found.keys),
        "PartitionKeys": [{"Name": key, "Type": "string"} for key in found.keys],
        "TableType": "EXTERNAL_TABLE",
        "Parameters": parameters,
    }


def _relation_body(found: FoundRelation, classification: str, crawler: str, run_id: str) -> dict[str, Any]:
    parameters = {
        "classification": classification,
        "compressionType": "none",
        **({"connectionName": found.connection} if found.connection else {}),
        "typeOfData": "view" if found.is_view else "table",
        **_VERSIONS,
        **found.parameters,
        UPDATED_BY: crawler,
        **({RUN_ID: run_id} if run_id else {}),
    }
    return {
        "Owner": "owner",
        "Retention": 0,
        **({"Description": found.description} if found.description else {}),
        "StorageDescriptor": {
            **_storage(FileKind(classification), found.location, parameters, ()),
            "Columns": [dict(one) for one in found.columns],
        },
        "PartitionKeys": [],
        "TableType": "EXTERNAL_TABLE",
        "Parameters": parameters,
    }


def partition_of(found: FoundTable, part: Part, table: Mapping[str, Any] | None) -> Partition:
    """Return a partition.

    Args:
        found: the table.
        part: a folder of it.
        table: the table's body, if the partition inherits from it.
    """
    location, counts = found.location_of(part), Counts.of_parts([part]).parameters
    if table is None:
        parameters = _parameters(part.kind, [part])
        storage = _storage(part.kind, location, parameters, found.keys)
        return Partition(part.values, {"StorageDescriptor": storage, "Parameters": parameters})
    storage = table["StorageDescriptor"]
    own = {name: value for name, value in (storage.get("Parameters") or {}).items() if name not in COUNTS}
    parameters = own | counts
    body = {"StorageDescriptor": {**storage, "Location": location, "Parameters": parameters}, "Parameters": parameters}
    return Partition(part.values, body)


def columns_of(body: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the columns of a table's body."""
    return list((body.get("StorageDescriptor") or {}).get("Columns") or ())


def _storage(kind: FileKind, location: str, parameters: Mapping[str, str], keys: Sequence[str]) -> dict[str, Any]:
    hive = KNOWN_FORMATS.get(kind.format, _NO_FORMAT)
    return {
        "Columns": _columns(kind, tuple(keys)),
        "Location": location,
        "InputFormat": hive.input,
        "OutputFormat": hive.output,
        "Compressed": kind.compression != "none",
        "NumberOfBuckets": -1,
        "SerdeInfo": {"SerializationLibrary": hive.serde, "Parameters": dict(kind.serde)},
        "BucketColumns": [],
        "SortColumns": [],
        "Parameters": dict(parameters),
        "StoredAsSubDirectories": False,
    }


@lru_cache(maxsize=256)
def _columns(kind: FileKind, keys: tuple[str, ...]) -> list[dict[str, str]]:
    """Return the columns of a kind; a hundred thousand partitions share them."""
    return catalog_columns(kind.schema, by_place=kind.format in _BY_PLACE, keys=keys)


def _parameters(kind: FileKind, parts: Sequence[Part], exclusions: Sequence[str] = ()) -> dict[str, str]:
    return {
        **dict(kind.basics),
        **dict(kind.traits),
        **Counts.of_parts(parts).parameters,
        **_VERSIONS,
        "compressionType": kind.compression,
        "classification": kind.classification,
        "typeOfData": "file",
        **({"exclusions": json.dumps(list(exclusions))} if exclusions else {}),
    }
