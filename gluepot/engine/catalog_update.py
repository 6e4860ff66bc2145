"""Records a published write in the Data Catalog: its table, columns and partitions (docs/glue 5.6).

It runs after every publish, and again when a batch is replayed; then existing entries stay unchanged.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import TYPE_CHECKING

import pyarrow as pa

from gluepot.catalog.formats import new_storage
from gluepot.catalog.values import Column, Partition, Table, catalog_name
from gluepot.connectors.files.partition_folders import DEFAULT_PARTITION, partition_values
from gluepot.connectors.values import ManifestPart
from gluepot.core.errors import ConfigError
from gluepot.core.logging import get_logger
from gluepot.core.storage import canonical_url
from gluepot.frames.schema import merge_known, without_nulls
from gluepot.frames.schema.hive_types import arrow_of_hive, hive_name

if TYPE_CHECKING:
    from gluepot.catalog.store import Catalog

UPDATE, LOG = "UPDATE_IN_DATABASE", "LOG"
BEHAVIORS = (UPDATE, LOG)

log = get_logger("DataSink")


@dataclass(frozen=True, slots=True)
class CatalogTarget:
    """The catalog table that a sink writes.

    Args:
        database: in any letter case.
        table: in any letter case.
        behavior: one of `BEHAVIORS`.
        location: URL of the folder that is written to.
        format: format of the files, a key of `gluepot.catalog.formats.HIVE_FORMATS`.
        partition_keys: partition keys of the sink, outermost first.
        parameters: parameters of the table, used if the write creates it.
    """

    database: str
    table: str
    behavior: str
    location: str
    format: str
    partition_keys: tuple[str, ...] = ()
    parameters: Mapping[str, str] | None = None


def check(catalog: Catalog, target: CatalogTarget) -> None:
    """Check, before any data is written, that the catalog can record the write.

    Raises:
        ConfigError: the database does not exist, or the table has other partition keys or another location.
    """
    if found := catalog.find_table(target.database, target.table):
        _check_fit(found, target)


def update(catalog: Catalog, target: CatalogTarget, paths: Sequence[str], parts: Iterable[ManifestPart]) -> None:
    """Record in the catalog what was published.

    Args:
        catalog: the catalog.
        target: the table.
        paths: paths of the published data files, relative to the location.
        parts: what each task reported; they hold the schemas of the files.

    Raises:
        ConfigError: as for `check`.
        TransientError: the catalog cannot be reached. What was published stays, and a replay records it.
    """
    schemas = [pa.ipc.read_schema(pa.py_buffer(part.schema)) for part in parts if part.schema is not None]
    if not paths or not schemas:
        return
    merged = reduce(merge_known, schemas)
    written = without_nulls(pa.RecordBatch.from_pylist([], schema=merged)).schema  # files have no such columns either
    place = f"nameSpace: {target.database}, table: {target.table}, catalogId: None"
    _say(f"Attempting to fast-forward updates to the Catalog - {place}")
    _say(f"Schema change policy behavior: {target.behavior}")
    table = catalog.find_table(target.database, target.table)
    if table is None:
        if target.behavior == LOG:
            log.warning("catalog_not_updated", table=target.table, reason="there is no such table, and LOG makes none")
            return
        catalog.add_table(new_table(target, written))
        table = catalog.table(target.database, target.table)
    _check_fit(table, target)
    fits = _tell_whether_schemas_qualify(table, written)
    if target.behavior == UPDATE and with_written(table, written) != table:
        table = catalog.change_table(table.database, table.name, lambda now: with_written(now, written))
    if target.behavior == LOG and not fits:
        log.warning("catalog_not_updated", table=table.title, reason="the schema differs, and updateBehavior is LOG")
        return
    if table.partition_keys:
        catalog.add_partitions(table, new_partitions(table, target, paths))


def new_table(target: CatalogTarget, written: pa.Schema) -> Table:
    """Return the table that the first write creates."""
    keys = [Column(key.lower(), _key_type(written, key)).to_json() for key in target.partition_keys]
    body = {
        "StorageDescriptor": new_storage(target.format, target.location).body,
        "PartitionKeys": keys,
        "TableType": "EXTERNAL_TABLE",
        "Parameters": {"EXTERNAL": "TRUE", "classification": target.format, **(target.parameters or {})},
    }
    return with_written(Table(catalog_name(target.database), catalog_name(target.table), body), written)


def with_written(table: Table, written: pa.Schema) -> Table:
    """Return the table with the written columns: new ones at the end, existing ones widened where necessary."""
    keys = {key.name for key in table.partition_keys}
    columns = {column.name: column for column in table.storage.columns}
    for field in written:
        name = field.name.lower()
        if name in keys:
            continue
        known = columns.get(name)
        columns[name] = Column(name, hive_name(field)) if known is None else _widened(known, field)
    return table.with_columns(columns.values())


def new_partitions(table: Table, target: CatalogTarget, paths: Sequence[str]) -> Iterator[Partition]:
    """Yield the partition of every folder that was written to."""
    location = target.location.rstrip("/")
    body = new_storage(target.format, location, partition=True).body
    columns = [column.to_json() for column in table.storage.columns]
    for folder in sorted({path.rpartition("/")[0] for path in paths}):
        values = [DEFAULT_PARTITION if value is None else value for value in partition_values(folder).values()]
        storage = {"Columns": columns, **body, "Location": f"{location}/{folder}"}
        yield Partition(tuple(values), {"StorageDescriptor": storage})


def _tell_whether_schemas_qualify(table: Table, written: pa.Schema) -> bool:
    """Return whether the table has all the columns that were written, and log it as Glue does."""
    known = {(one.name, one.type) for one in (*table.storage.columns, *table.partition_keys)}
    exact = {(field.name, hive_name(field)) for field in written} <= known
    folded = {(field.name.lower(), hive_name(field)) for field in written} <= {(n.lower(), kind) for n, kind in known}
    _say(f"Schemas qualify (schema compare): {str(exact).lower()}")
    _say(f"Schemas qualify (case-insensitive compare): {str(folded).lower()}")
    return folded


def _say(line: str) -> None:
    """Log a line word for word as Glue does."""
    log.info(line)


def _widened(known: Column, field: pa.Field) -> Column:
    try:
        before = pa.field(field.name, arrow_of_hive(known.type))
    except ConfigError:
        return known  # another tool wrote this type, and we do not know it
    name = hive_name(merge_known(pa.schema([before]), pa.schema([field])).field(0))
    # Tools name one type differently, such as `varchar(20)` and `string`. A type that can hold the values stays.
    return known if name == hive_name(before) else replace(known, type=name)


def _check_fit(table: Table, target: CatalogTarget) -> None:
    keys = [key.name for key in table.partition_keys]
    wanted = [key.lower() for key in target.partition_keys]
    if keys != wanted:
        raise ConfigError(
            f"The sink has the partitionKeys {wanted}, the table {table.title} has {keys}; give the table's, in its"
            " order."
        )
    location = table.storage.location
    if location and canonical_url(location) != canonical_url(target.location):
        raise ConfigError(
            f"The sink writes to {target.location}, the table {table.title} lies in {location}; write there, or name"
            " another table."
        )


def _key_type(written: pa.Schema, key: str) -> str:
    return hive_name(written.field(key)) if key in written.names else "string"
