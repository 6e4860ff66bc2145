"""Partition indexes. They are kept for clients; lookups do not need them (docs/glue 11.10)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from gluepot.catalog.values import Entry, Table, catalog_name
from gluepot.service.catalog import catalog_of
from gluepot.service.context import Service
from gluepot.service.errors import ServiceError, invalid, not_found, taken
from gluepot.service.paging import page

_PAGE = 100
_MOST_INDEXES = 3


def create_partition_index(service: Service, request: Mapping[str, Any]) -> dict[str, Any]:
    """Add an index, which is usable at once."""
    with catalog_of(service) as catalog:
        table = catalog.table(request["DatabaseName"], request["TableName"])
        (entry,) = index_entries(table, [request["PartitionIndex"]])
        if catalog.entry(entry) is None and len(catalog.entries("index", *_place(table))) >= _MOST_INDEXES:
            raise ServiceError(
                "ResourceNumberLimitExceededException", f"Table {table.name} has {_MOST_INDEXES} indexes; delete one."
            )
        if not catalog.add_entry(entry):
            raise taken(f"Index {entry.name} already exists.")
    return {}


def get_partition_indexes(service: Service, request: Mapping[str, Any]) -> dict[str, Any]:
    """Return the indexes of a table, by name."""
    with catalog_of(service) as catalog:
        table = catalog.table(request["DatabaseName"], request["TableName"])
        found = catalog.entries("index", *_place(table))
    types = {key.name: key.type for key in table.partition_keys}
    return page(found, request, "PartitionIndexDescriptorList", _PAGE, lambda one: _descriptor(one, types))


def delete_partition_index(service: Service, request: Mapping[str, Any]) -> dict[str, Any]:
    """Remove an index."""
    name = request["IndexName"]
    with catalog_of(service) as catalog:
        table = catalog.table(request["DatabaseName"], request["TableName"])
        if not catalog.drop_entry(Entry("index", name, {}, *_place(table))):
            raise not_found(f"Index {name} not found.")
    return {}


def index_entries(table: Table, indexes: Iterable[Mapping[str, Any]]) -> list[Entry]:
    """Return the indexes of a table as entries of the catalog.

    Raises:
        ServiceError: `InvalidInputException` for keys that the table does not have, two indexes of one name, or more
            than three indexes.
    """
    keys = {key.name for key in table.partition_keys}
    entries: dict[str, Entry] = {}
    for index in indexes:
        name = index["IndexName"]
        if odd := next((key for key in index["Keys"] if catalog_name(key) not in keys), None):
            known = ", ".join(sorted(keys)) or "none"
            raise invalid(f"Index {name} has the key {odd!r}; the partition keys of {table.title} are {known}.")
        if name in entries:
            raise invalid(f"Two indexes are called {name}; give them different names.")
        entries[name] = Entry("index", name, {"Keys": [catalog_name(key) for key in index["Keys"]]}, *_place(table))
    if len(entries) > _MOST_INDEXES:
        raise invalid(f"The table would have {len(entries)} indexes; {_MOST_INDEXES} are allowed.")
    return list(entries.values())


def _place(table: Table) -> tuple[str, str]:
    return table.database, table.name


def _descriptor(entry: Entry, types: Mapping[str, str]) -> dict[str, Any]:
    keys = [{"Name": key, "Type": types.get(key, "string")} for key in entry.body["Keys"]]
    return {"IndexName": entry.name, "Keys": keys, "IndexStatus": "ACTIVE"}
