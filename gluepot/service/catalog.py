"""The Data Catalog as the API shows it: which database it is, and the form of its entries (docs/glue 11.4)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from gluepot.catalog.connect import catalog_url, shared_catalog
from gluepot.catalog.iceberg_rows import ChangedMeanwhile
from gluepot.catalog.store import Catalog, NotInCatalog
from gluepot.catalog.values import Database, Entry, Partition, Table, epoch_ms
from gluepot.core.errors import ConfigError
from gluepot.service.context import Service, secs
from gluepot.service.errors import ServiceError, invalid, not_found

_TIMES = ("LastAccessTime", "LastAnalyzedTime")


@contextmanager
def catalog_of(service: Service, changing: str = "") -> Iterator[Catalog]:
    """Yield the catalog that scripts use; what it refuses in the block is refused in the words of AWS.

    Args:
        service: the service.
        changing: the operation that changes the catalog, if its changes are told as events.

    Raises:
        ServiceError: `EntityNotFoundException`, `ConcurrentModificationException` and `InvalidInputException`.
        TransientError: its database does not answer.
    """
    catalog = shared_catalog(catalog_url(service.environ), service.clock)
    if changing:
        with service.store.changes() as changes:
            anyone_listens = changes.events.has_rules()
        catalog = catalog.noting(changing) if anyone_listens else catalog
    try:
        yield catalog
    except ChangedMeanwhile as changed:
        raise ServiceError("ConcurrentModificationException", str(changed)) from None
    except NotInCatalog as missing:
        raise not_found(f"{missing.kind} {missing.name} not found.") from None
    except ConfigError as error:
        raise invalid(str(error)) from None


def catalog_id(service: Service, request: Mapping[str, Any]) -> str:
    """Return the catalog's id for an answer: the one that the client named, since there is one catalog."""
    return str(request.get("CatalogId") or service.account)


def database_answer(database: Database, catalog: str) -> dict[str, Any]:
    """Return a database as GetDatabase answers.

    Args:
        database: the database.
        catalog: id of the catalog.
    """
    return {**database.to_json(), "CreateTime": secs(database.created_ms), "CatalogId": catalog}


def table_answer(table: Table, catalog: str) -> dict[str, Any]:
    """Return a table as GetTable answers.

    Args:
        table: the table.
        catalog: id of the catalog.
    """
    return {
        "Retention": 0,
        "PartitionKeys": [],
        "CreatedBy": f"arn:aws:iam::{catalog}:root",
        "IsRegisteredWithLakeFormation": False,
        **_with_times(table.to_json()),
        "CreateTime": secs(table.created_ms),
        "UpdateTime": secs(table.updated_ms),
        "CatalogId": catalog,
    }


def partition_answer(
    partition: Partition, table: Table, catalog: str, *, without_columns: bool = False
) -> dict[str, Any]:
    """Return a partition as GetPartition answers.

    Args:
        partition: the partition.
        table: that has it.
        catalog: id of the catalog.
        without_columns: leave its own columns out, which are mostly those of the table.
    """
    answer = {
        **_with_times(partition.to_json(table)),
        "CreationTime": secs(partition.created_ms),
        "CatalogId": catalog,
    }
    if without_columns and "StorageDescriptor" in answer:
        storage = answer["StorageDescriptor"]
        answer["StorageDescriptor"] = {name: value for name, value in storage.items() if name != "Columns"}
    return answer


def error_detail(refused: ServiceError) -> dict[str, str]:
    """Return a refusal as answers about many things tell it."""
    return {"ErrorCode": refused.code, "ErrorMessage": refused.message}


def resource_of_catalog(service: Service, arn: str) -> str | None:
    """Return the ARN of an entry of the catalog as the service spells it; None for a resource of another kind.

    Raises:
        ServiceError: `EntityNotFoundException`, because the catalog has no such entry.
    """
    kind, _, name = arn.split(":", 5)[-1].partition("/")
    of, _, inner = name.partition("/")
    found: Entry | None
    with catalog_of(service) as catalog:
        match kind:
            case "database" if name:
                return service.arn(kind, catalog.database(name).name)
            case "table" if inner:
                table = catalog.table(of, inner)
                return service.arn(kind, f"{table.database}/{table.name}")
            case "userDefinedFunction" if inner:
                database = catalog.database(of).name
                found, spelled = catalog.entry(Entry("function", inner, {}, database)), f"{database}/{inner}"
            case "connection" if name:
                found, spelled = catalog.entry(Entry("connection", name)), name
            case _:
                return None
    if found is None:
        raise not_found(f"There is no {kind} {name}.")
    return service.arn(kind, spelled)


def _with_times(plain: Mapping[str, Any]) -> dict[str, Any]:
    """Return times as the protocol has them; a dump that was imported has them as texts."""
    return {
        name: secs(epoch_ms(value)) if name in _TIMES and isinstance(value, str) else value
        for name, value in plain.items()
    }
