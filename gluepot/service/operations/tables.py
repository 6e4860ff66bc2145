"""Tables of the Data Catalog and their versions (docs/glue 11.4)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import compress
from typing import Any

from gluepot.catalog.values import Table, catalog_name, table_of
from gluepot.service.catalog import catalog_id, catalog_of, error_detail, table_answer
from gluepot.service.context import Service
from gluepot.service.errors import ServiceError, invalid, not_found, taken
from gluepot.service.name_patterns import name_pattern
from gluepot.service.operations.partition_indexes import index_entries
from gluepot.service.paging import page, scanned
from gluepot.service.table_search import search

_PAGE = 100
_VERSION = re.compile("0|[1-9][0-9]{0,8}")
_INTEGER = re.compile("-?[0-9]+")
_ATTRIBUTES = {"NAME": "Name", "TABLE_TYPE": "TableType"}


def create_table(service: Service, request: Mapping[str, Any]) -> dict[str, Any]:
    """Add a table."""
    with catalog_of(service, "CreateTable") as catalog:
        table = _given(request, "OpenTableFormatInput")
        if not catalog.add_table(table, index_entries(table, request.get("PartitionIndexes") or ())):
            raise taken("Table already exists.")
    return {}


def get_table(service: Service, request: Mapping[str, Any]) -> dict[str, Any]:
    """Return one table."""
    with catalog_of(service) as catalog:
        table = catalog.table(request["DatabaseName"], request["Name"])
    return {"Table": table_answer(table, catalog_id(service, request))}


def get_tables(service: Service, request: Mapping[str, Any]) -> dict[str, Any]:
    """Return a page of the tables of a database whose names match a pattern, by name."""
    database, pattern = request["DatabaseName"], name_pattern(request.get("Expression", ""))
    wanted = request.get("AttributesToGet") or ()
    with catalog_of(service) as catalog:
        found, token = scanned(
            lambda after, most: catalog.tables(database, after, most),
            lambda one: one.name,
            lambda tables: compress(tables, pattern.chosen([one.name for one in tables])),
            request,
            _PAGE,
        )
    answers = [table_answer(one, catalog_id(service, request)) for one in found]
    if wanted and _ATTRIBUTES.keys() >= set(wanted):  # DEFAULT asks for all
        members = {"Name", *(_ATTRIBUTES[one] for one in wanted)}
        answers = [{name: value for name, value in one.items() if name in members} for one in answers]
    return {"TableList": answers, **token}


def update_table(service: Service, request: Mapping[str, Any]) -> dict[str, Any]:
    """Replace a table. With `VersionId`, only if nobody else has changed it since this version."""
    expected = request.get("VersionId")

    def change(now: Table) -> Table:
        if expected is not None and str(now.version) != expected:
            raise ServiceError(
                "ConcurrentModificationException",
                f"Table {now.name} has the version {now.version}, not {expected}; read it again and repeat the change.",
            )
        return replace(now, body=table.body)

    with catalog_of(service, "UpdateTable") as catalog:
        table = _given(request, "UpdateOpenTableFormatInput")
        catalog.change_table(table.database, table.name, change, keep_version=not request.get("SkipArchive", False))
    return {}


def delete_table(service: Service, request: Mapping[str, Any]) -> dict[str, Any]:
    """Remove a table with its partitions, versions and indexes. Files stay."""
    database, name = request["DatabaseName"], request["Name"]
    with catalog_of(service, "DeleteTable") as catalog:
        catalog.drop_table(database, name)
    _untag(service, database, [name])
    return {}


def batch_delete_table(service: Service, request: Mapping[str, Any]) -> dict[str, Any]:
    """Remove tables. Each that cannot be removed is told with its reason."""
    database, names = request["DatabaseName"], request["TablesToDelete"]
    with catalog_of(service, "BatchDeleteTable") as catalog:
        dropped = catalog.drop_tables(database, names)
    _untag(service, database, dropped)
    missing = [name for name in names if catalog_name(name) not in dropped]
    return {
        "Errors": [
            {"TableName": name, "ErrorDetail": error_detail(not_found(f"Table {catalog_name(name)} not found."))}
            for name in missing
        ]
    }


def get_table_versions(service: Service, request: Mapping[str, Any]) -> dict[str, Any]:
    """Return a page of the versions of a table, the newest first."""
    with catalog_of(service) as catalog:
        versions = catalog.table_versions(request["DatabaseName"], request["TableName"])
    of = catalog_id(service, request)
    return page(versions, request, "TableVersions", _PAGE, lambda one: _version_answer(one, of))


def get_table_version(service: Service, request: Mapping[str, Any]) -> dict[str, Any]:
    """Return one version of a table, the newest if none is named."""
    wanted = request.get("VersionId")
    if wanted is not None and not _INTEGER.fullmatch(wanted):
        raise _no_number(wanted)
    with catalog_of(service) as catalog:
        versions = catalog.table_versions(request["DatabaseName"], request["TableName"])
    found = next((one for one in versions if wanted is None or str(one.version) == wanted), None)
    if found is None:
        raise _no_version(wanted, request["TableName"])
    return {"TableVersion": _version_answer(found, catalog_id(service, request))}


def delete_table_version(service: Service, request: Mapping[str, Any]) -> dict[str, Any]:
    """Remove an older version of a table."""
    for refused in _drop_versions(service, request, [request["VersionId"]]).values():
        raise refused
    return {}


def batch_delete_table_version(service: Service, request: Mapping[str, Any]) -> dict[str, Any]:
    """Remove older versions of a table. Each that cannot be removed is told with its reason."""
    refusals = _drop_versions(service, request, request["VersionIds"])
    return {
        "Errors": [
            {"TableName": request["TableName"], "VersionId": version, "ErrorDetail": error_detail(refused)}
            for version, refused in refusals.items()
        ]
    }


def search_tables(service: Service, request: Mapping[str, Any]) -> dict[str, Any]:
    """Return a page of the tables of all databases that have a text and fulfil filters."""
    if request.get("ResourceShareType") in {"FOREIGN", "FEDERATED"}:
        return {"TableList": []}
    with catalog_of(service) as catalog:
        tables = catalog.all_tables()
    wanted = (request.get("SearchText", ""), request.get("Filters") or (), request.get("SortCriteria") or ())
    of = catalog_id(service, request)
    return page(search(tables, *wanted), request, "TableList", _PAGE, lambda one: table_answer(one, of))


def _given(request: Mapping[str, Any], open_format: str) -> Table:
    if open_format in request:
        raise invalid(f"{open_format} cannot be used here; create the Iceberg table with Spark SQL in a script.")
    if "TableInput" not in request:
        raise invalid("TableInput is missing; give the definition of the table.")
    table = table_of({**request["TableInput"], "DatabaseName": request["DatabaseName"]})
    if (name := request.get("Name")) is not None and catalog_name(name) != table.name:
        raise invalid(f"Name is {name!r} and TableInput.Name is {table.name!r}; a table cannot be renamed.")
    return table


def _untag(service: Service, database: str, names: Iterable[str]) -> None:
    with service.store.changes() as changes:
        for name in names:
            changes.untag(service.arn("table", f"{catalog_name(database)}/{catalog_name(name)}"))


def _version_answer(table: Table, catalog: str) -> dict[str, Any]:
    return {"Table": table_answer(table, catalog), "VersionId": str(table.version)}


def _no_version(version: str | None, table: str) -> ServiceError:
    return not_found(f"Table {table} has no version {version}.")


def _no_number(version: str) -> ServiceError:
    return invalid(f"VersionId is {version!r}; give the number of a version, such as '0'.")


def _drop_versions(service: Service, request: Mapping[str, Any], versions: list[str]) -> dict[str, ServiceError]:
    with catalog_of(service) as catalog:
        table = catalog.table(request["DatabaseName"], request["TableName"])
        dropped = catalog.drop_table_versions(table, [int(one) for one in versions if _VERSION.fullmatch(one)])
    refusals = {}
    for version in versions:
        if version == str(table.version):
            refusals[version] = invalid(f"Version {version} is the newest of table {table.name}; delete the table.")
        elif not _INTEGER.fullmatch(version):
            refusals[version] = _no_number(version)
        elif not _VERSION.fullmatch(version) or int(version) not in dropped:
            refusals[version] = _no_version(version, table.name)
    return refusals
