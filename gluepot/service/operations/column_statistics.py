"""Statistics of columns: kept for the table or partition that has them, and returned."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gluepot.service.catalog import catalog_of, error_detail
from gluepot.service.context import Service
from gluepot.service.errors import ServiceError, invalid, not_found
from gluepot.service.store.definitions import Definition, Kind


@dataclass(frozen=True, slots=True)
class _Place:
    """A table or a partition.

    Args:
        prefix: of the names of its statistics.
        columns: names of its columns, in lower case.
        created_ms: statistics of a table that was dropped since do not count for the one that has its name now.
    """

    prefix: str
    columns: frozenset[str]
    created_ms: int


def get_column_statistics_for_table(service: Service, request: Mapping[str, Any]) -> dict[str, Any]:
    """Return the statistics of columns of a table. Columns that have none are told."""
    return _get(service, request, _table(service, request))


def update_column_statistics_for_table(service: Service, request: Mapping[str, Any]) -> dict[str, Any]:
    """Set the statistics of columns of a table. Those that are refused are told with the reason."""
    return _update(service, request, _table(service, request))


def delete_column_statistics_for_table(service: Service, request: Mapping[str, Any]) -> dict[str, Any]:
    """Remove the statistics of a column of a table."""
    return _delete(service, request, _table(service, request))


def get_column_statistics_for_partition(service: Service, request: Mapping[str, Any]) -> dict[str, Any]:
    """Return the statistics of columns of a partition. Columns that have none are told."""
    return _get(service, request, _partition(service, request))


def update_column_statistics_for_partition(service: Service, request: Mapping[str, Any]) -> dict[str, Any]:
    """Set the statistics of columns of a partition. Those that are refused are told with the reason."""
    return _update(service, request, _partition(service, request))


def delete_column_statistics_for_partition(service: Service, request: Mapping[str, Any]) -> dict[str, Any]:
    """Remove the statistics of a column of a partition."""
    return _delete(service, request, _partition(service, request))


def _table(service: Service, request: Mapping[str, Any]) -> _Place:
    with catalog_of(service) as catalog:
        table = catalog.table(request["DatabaseName"], request["TableName"])
    columns = [one.name.lower() for one in (*table.storage.columns, *table.partition_keys)]
    return _Place(f"{table.database}/{table.name}//", frozenset(columns), table.created_ms)


def _partition(service: Service, request: Mapping[str, Any]) -> _Place:
    values = tuple(request["PartitionValues"])
    with catalog_of(service) as catalog:
        table = catalog.table(request["DatabaseName"], request["TableName"])
        found = catalog.find_partitions(table, [values]).get(values)
    if found is None:
        raise not_found("Cannot find partition.")
    digest = hashlib.sha256(json.dumps(values).encode(errors="surrogatepass")).hexdigest()
    columns = frozenset(one.name.lower() for one in table.storage.columns)
    return _Place(f"{table.database}/{table.name}/{digest}/", columns, found.created_ms)


def _get(service: Service, request: Mapping[str, Any], place: _Place) -> dict[str, Any]:
    found, errors = [], []
    with service.store.changes() as changes:
        for name in request["ColumnNames"]:
            kept = changes.definitions.get(Kind.STATISTICS, place.prefix + name.lower())
            if kept is None or kept.body["of_ms"] != place.created_ms:
                errors.append({"ColumnName": name, "Error": error_detail(_missing(name))})
            else:
                found.append(kept.body["statistics"])
    return {"ColumnStatisticsList": found, "Errors": errors}


def _update(service: Service, request: Mapping[str, Any], place: _Place) -> dict[str, Any]:
    errors, now_ms = [], service.now_ms()
    with service.store.changes() as changes:
        for one in request["ColumnStatisticsList"]:
            try:
                _check(one, place)
            except ServiceError as refused:
                errors.append({"ColumnStatistics": one, "Error": error_detail(refused)})
                continue
            body = {"statistics": one, "of_ms": place.created_ms}
            name = place.prefix + one["ColumnName"].lower()
            changes.definitions.put(Definition(Kind.STATISTICS, name, body, now_ms, now_ms))
    return {"Errors": errors}


def _delete(service: Service, request: Mapping[str, Any], place: _Place) -> dict[str, Any]:
    with service.store.changes() as changes:
        if not changes.definitions.delete(Kind.STATISTICS, place.prefix + request["ColumnName"].lower()):
            raise _missing(request["ColumnName"])
    return {}


def _check(statistics: Mapping[str, Any], place: _Place) -> None:
    column, data = statistics["ColumnName"], statistics["StatisticsData"]
    if column.lower() not in place.columns:
        raise not_found(f"Column {column} not found.")
    member = f"{data['Type'].capitalize()}ColumnStatisticsData"
    if member not in data:
        raise invalid(f"StatisticsData of {column} is of the type {data['Type']} and has no {member}.")


def _missing(column: str) -> ServiceError:
    return not_found(f"Statistics of the column {column} not found.")
