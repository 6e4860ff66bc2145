"""Partitions of the Data Catalog's tables (docs/glue 11.4)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from gluepot.catalog.store import Catalog
from gluepot.catalog.values import Partition, Table, partition_of
from gluepot.service.catalog import catalog_id, catalog_of, error_detail, partition_answer
from gluepot.service.context import Service
from gluepot.service.errors import ServiceError, invalid, not_found, taken
from gluepot.service.paging import scanned
from gluepot.service.partition_expressions import in_segment, partition_filter

_PAGE = 1000


def create_partition(service: Service, request: Mapping[str, Any]) -> dict[str, Any]:
    """Add a partition."""
    with catalog_of(service, "CreatePartition") as catalog:
        if not catalog.add_new_partitions(_table(catalog, request), [partition_of(request["PartitionInput"])]):
            raise _exists()
    return {}


def batch_create_partition(service: Service, request: Mapping[str, Any]) -> dict[str, Any]:
    """Add partitions; those that exist already are told and stay as they are."""
    with catalog_of(service, "BatchCreatePartition") as catalog:
        wanted = list(map(partition_of, request["PartitionInputList"]))
        added = set(map(id, catalog.add_new_partitions(_table(catalog, request), wanted)))
    return {"Errors": [_error(one.values, _exists()) for one in wanted if id(one) not in added]}


def get_partition(service: Service, request: Mapping[str, Any]) -> dict[str, Any]:
    """Return one partition."""
    with catalog_of(service) as catalog:
        table = _table(catalog, request)
        found = catalog.find_partitions(table, [values := _values(table, request["PartitionValues"])])
    if values not in found:
        raise _missing()
    return {"Partition": partition_answer(found[values], table, catalog_id(service, request))}


def get_partitions(service: Service, request: Mapping[str, Any]) -> dict[str, Any]:
    """Return a page of the partitions that fulfil an expression. The partitions of a page are in their order."""
    segment = request.get("Segment")
    with catalog_of(service) as catalog:
        table = _table(catalog, request)
        fulfils = partition_filter(table, request.get("Expression", ""))
        found, token = scanned(
            lambda after, most: catalog.partitions_after(table, after, most),
            lambda one: one[0],
            lambda some: [one for one in some if in_segment(one[0], segment) and fulfils(one[1])],
            request,
            _PAGE,
        )
    of, without_columns = catalog_id(service, request), bool(request.get("ExcludeColumnSchema"))
    partitions = sorted((one for _, one in found), key=lambda one: one.values)
    answers = [partition_answer(one, table, of, without_columns=without_columns) for one in partitions]
    return {"Partitions": answers, **token}


def batch_get_partition(service: Service, request: Mapping[str, Any]) -> dict[str, Any]:
    """Return partitions by their values; those that do not exist are left out."""
    with catalog_of(service) as catalog:
        table = _table(catalog, request)
        wanted = [_values(table, one["Values"]) for one in request["PartitionsToGet"]]
        found = catalog.find_partitions(table, wanted)
    of = catalog_id(service, request)
    answers = [partition_answer(found[values], table, of) for values in dict.fromkeys(wanted) if values in found]
    return {"Partitions": answers, "UnprocessedKeys": []}


def update_partition(service: Service, request: Mapping[str, Any]) -> dict[str, Any]:
    """Replace what describes a partition."""
    for refused in _update(service, "UpdatePartition", request, [request]):
        raise refused[1]
    return {}


def batch_update_partition(service: Service, request: Mapping[str, Any]) -> dict[str, Any]:
    """Replace what describes partitions. Each that cannot be replaced is told with its reason."""
    refusals = _update(service, "BatchUpdatePartition", request, request["Entries"])
    return {
        "Errors": [{"PartitionValueList": values, "ErrorDetail": error_detail(refused)} for values, refused in refusals]
    }


def delete_partition(service: Service, request: Mapping[str, Any]) -> dict[str, Any]:
    """Remove a partition. Its files stay."""
    with catalog_of(service, "DeletePartition") as catalog:
        table = _table(catalog, request)
        if not catalog.drop_partitions(table, [_values(table, request["PartitionValues"])]):
            raise _missing()
    return {}


def batch_delete_partition(service: Service, request: Mapping[str, Any]) -> dict[str, Any]:
    """Remove partitions; those that do not exist are told. Files stay."""
    with catalog_of(service, "BatchDeletePartition") as catalog:
        table = _table(catalog, request)
        wanted = [tuple(one["Values"]) for one in request["PartitionsToDelete"]]
        dropped = catalog.drop_partitions(table, wanted)
    return {"Errors": [_error(values, _missing()) for values in wanted if values not in dropped]}


def _table(catalog: Catalog, request: Mapping[str, Any]) -> Table:
    return catalog.table(request["DatabaseName"], request["TableName"])


def _values(table: Table, given: Sequence[str]) -> tuple[str, ...]:
    keys = len(table.partition_keys)
    if len(given) != keys:
        raise invalid(f"The partition has {len(given)} values, and table {table.title} has {keys} partition keys.")
    return tuple(given)


def _update(
    service: Service, operation: str, request: Mapping[str, Any], entries: Sequence[Mapping[str, Any]]
) -> list[tuple[list[str], ServiceError]]:
    changes: list[Partition] = []
    refusals = []
    for entry in entries:
        values, given = entry["PartitionValueList"], entry["PartitionInput"]
        if given.get("Values", values) != values:
            refused = invalid(
                f"The values of a partition cannot change from {values} to {given['Values']}; add a new one."
            )
            refusals.append((values, refused))
        else:
            changes.append(Partition(tuple(values), partition_of({**given, "Values": values}).body))
    with catalog_of(service, operation) as catalog:
        changed = catalog.change_partitions(_table(catalog, request), changes)
    return refusals + [(list(one.values), _missing()) for one in changes if one.values not in changed]


def _error(values: Sequence[str], refused: ServiceError) -> dict[str, Any]:
    return {"PartitionValues": list(values), "ErrorDetail": error_detail(refused)}


def _exists() -> ServiceError:
    return taken("Partition already exists.")


def _missing() -> ServiceError:
    return not_found("Cannot find partition.")
