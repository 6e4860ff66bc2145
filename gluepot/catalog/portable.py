"""The catalog as JSON in the shapes of GetDatabases, GetTables and GetPartitions, which the AWS command line prints."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Literal

from gluepot.catalog.store import Catalog
from gluepot.catalog.values import Database, Partition, Table, catalog_name, database_of, partition_of, table_of
from gluepot.core.errors import ConfigError

_DATABASES, _TABLES, _PARTITIONS = "DatabaseList", "TableList", "Partitions"
_SINGLE = {"Database": _DATABASES, "Table": _TABLES, "Partition": _PARTITIONS}

Action = Literal["add", "replace", "keep"]


@dataclass(frozen=True, slots=True)
class Dump:
    """The contents of some documents, in no particular order.

    Args:
        databases: the databases that are described, and those that only tables name.
        tables: the tables that are described.
        partitions: by database and table.
    """

    databases: tuple[Database, ...] = ()
    tables: tuple[Table, ...] = ()
    partitions: Mapping[tuple[str, str], tuple[Partition, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Step:
    """What an import does with one entry; the partitions of a table are one.

    Args:
        kind: `database`, `table` or `partitions`.
        name: of the entry, `database.table` for the last two.
        action: what becomes of it.
        count: entries it stands for.
    """

    kind: str
    name: str
    action: Action
    count: int = 1


def read_dump(documents: Iterable[object]) -> Dump:
    """Read what GetDatabase, GetTable, GetPartition and their plurals answer, or an export of ours.

    Raises:
        ConfigError: a document is none of these, or an entry lacks its name.
    """
    found: dict[str, list[Mapping[str, Any]]] = {name: [] for name in _SINGLE.values()}
    for document in documents:
        for name, entry in _entries(document):
            found[name].append(entry)
    tables = tuple(map(table_of, found[_TABLES]))
    described = {one.name: one for one in map(database_of, found[_DATABASES])}
    named = {table.database: Database(table.database) for table in tables}
    partitions: dict[tuple[str, str], list[Partition]] = {}
    for plain in found[_PARTITIONS]:
        of = (catalog_name(plain.get("DatabaseName")), catalog_name(plain.get("TableName")))
        partitions.setdefault(of, []).append(partition_of(plain))
    databases = tuple((named | described).values())
    return Dump(databases, tables, {of: tuple(some) for of, some in partitions.items()})


def plan_import(catalog: Catalog, dump: Dump, *, overwrite: bool) -> list[Step]:
    """Return what `run_import` would do.

    Raises:
        ConfigError: partitions belong to a table that is neither in the dump nor in the catalog.
    """
    there = {one.name for one in catalog.databases()}
    steps = [Step("database", one.name, "keep" if one.name in there else "add") for one in dump.databases]
    tables = [one for name in there for one in catalog.tables(name)]
    known = {(one.database, one.name) for one in tables}
    replaced = {(one.database, one.name) for one in tables if overwrite and one.iceberg_catalog is None}
    for table in dump.tables:
        key = table.database, table.name
        action: Action = "replace" if key in replaced else "keep" if key in known else "add"
        steps.append(Step("table", table.title, action))
    known |= {(one.database, one.name) for one in dump.tables}
    for of, some in dump.partitions.items():
        if of not in known:
            raise ConfigError(f"The dump has partitions of {'.'.join(of)} and not the table; import its GetTable, too.")
        steps.append(Step("partitions", ".".join(of), "add", len(some)))
    return steps


def run_import(catalog: Catalog, dump: Dump, *, overwrite: bool) -> None:
    """Import a dump. Existing entries stay unless `overwrite` is true. A second import of the dump changes nothing.

    An Iceberg table that jobs have stays in any case: what a dump says of its state is older. One that a dump adds is
    not given to jobs, which must not commit to what the catalog of AWS keeps.

    Raises:
        ConfigError: as for `plan_import`.
    """
    plan_import(catalog, dump, overwrite=overwrite)
    for database in dump.databases:
        catalog.add_database(database)
    for table in dump.tables:
        if not catalog.add_table(table, for_jobs=False) and overwrite:
            catalog.change_table(table.database, table.name, partial(_replaced, table.body))
    for of, some in dump.partitions.items():
        table = catalog.table(*of)
        if overwrite:
            catalog.drop_partitions(table, [one.values for one in some])
        catalog.add_partitions(table, some)


def export(catalog: Catalog, database: str | None = None, table: str | None = None) -> dict[str, list[dict[str, Any]]]:
    """Return the catalog, or a part of it, in the shapes above, all three in one document.

    Raises:
        ConfigError: there is no such database or table.
    """
    databases = [catalog.database(database)] if database else catalog.databases()
    tables = [catalog.table(database, table)] if database and table else []
    if not tables:
        tables = [one for of in databases for one in catalog.tables(of.name)]
    return {
        _DATABASES: [one.to_json() for one in databases],
        _TABLES: [one.to_json() for one in tables],
        _PARTITIONS: [part.to_json(one) for one in tables for part in catalog.partitions(one)],
    }


def _replaced(body: Mapping[str, Any], now: Table) -> Table:
    return now if now.iceberg_catalog is not None else replace(now, body=body)


def _entries(document: object) -> Iterator[tuple[str, Mapping[str, Any]]]:
    if not isinstance(document, Mapping):
        raise _unknown(document)
    known = False
    for name, value in document.items():
        if name in _SINGLE and isinstance(value, Mapping):
            known = True
            yield _SINGLE[name], value
        elif name in _SINGLE.values() and isinstance(value, list) and all(isinstance(one, Mapping) for one in value):
            known = True
            yield from ((name, one) for one in value)
    if not known:
        raise _unknown(document)


def _unknown(document: object) -> ConfigError:
    names = ", ".join(map(str, document)) if isinstance(document, Mapping) else type(document).__name__
    known = ", ".join([*_SINGLE, *_SINGLE.values()])
    return ConfigError(
        f"The document has {names or 'nothing'}, none of {known}; make one with `aws glue get-tables` or"
        " `gluepot catalog export`."
    )
