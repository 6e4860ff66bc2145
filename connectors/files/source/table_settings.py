"""A read of a catalog's table as a read of files: its folders, its format, the types it declares."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

import pyarrow as pa

from gluepot.catalog.formats import table_format
from gluepot.catalog.values import Column, Partition, Table
from gluepot.connectors.files.partition_folders import partition_path
from gluepot.connectors.files.source.listing import Root
from gluepot.connectors.files.source.settings import KNOWN_OPTIONS, FileReadSettings
from gluepot.connectors.files.source.sql_predicate import SqlEvaluator
from gluepot.core.errors import ConfigError
from gluepot.core.storage import canonical_url
from gluepot.frames.schema.hive_types import arrow_of_hive
from gluepot.frames.time_zone import TimeZone
from gluepot.frames.transforms import KnownTypes, ReadTexts, Step

_UNTYPED = ("csv", "groklog", "xml")
"""Formats whose values are texts until somebody says what they mean."""
_WITHOUT_SCHEMA = ("json", "ion")
"""Formats in which an empty list does not say the type of its elements."""


@dataclass(frozen=True, slots=True)
class TableRead:
    """A read of a table.

    Args:
        settings: of the files.
        types: what texts of the files and the folders' names mean, by column.
        nested: types of columns of lists, maps and structs in files that do not say the type of an empty value.
    """

    settings: FileReadSettings
    types: Mapping[str, pa.DataType]
    nested: Mapping[str, pa.DataType] = field(default_factory=dict)

    def steps(self, zone: TimeZone) -> list[Step]:
        """Return the steps that give the records of the files the types of the table.

        Args:
            zone: of texts of times that name none.
        """
        known = [KnownTypes(self.nested)] if self.nested else []
        return [*([ReadTexts(self.types, zone)] if self.types else []), *known]


def table_read(
    table: Table,
    partitions: Iterable[Partition],
    options: Mapping[str, Any],
    predicate: str,
    evaluator: SqlEvaluator | None = None,
) -> TableRead:
    """Return how a table is read.

    Args:
        table: of files.
        partitions: all of the table's; of those that the predicate leaves out no folder is listed.
        options: `additional_options`; they go before what the table's parameters say (docs/glue 5.1).
        predicate: `push_down_predicate`.
        evaluator: evaluates predicates that only Spark understands.

    Raises:
        ConfigError: the table has no location, or an option or a type is not understood.
    """
    location = table.storage.location
    if not location:
        raise ConfigError(f"The table {table.title} has no location; it is not a table of files.")
    form = table_format(table)
    of_table = {name: value for name, value in table.parameters.items() if name in KNOWN_OPTIONS}
    given = {**of_table, **options, "paths": [location]}
    settings = FileReadSettings.from_glue(given, form.name, form.options, predicate, evaluator)
    keys = table.partition_keys
    listing = replace(settings.listing, partitions=partition_roots(table, partitions)) if keys else settings.listing
    source = {"database": table.database, "name": table.name, "options": dict(options)}
    description = {**settings.description, "table": source}
    typed = (*table.storage.columns, *keys) if form.name in _UNTYPED else keys
    types = {column.name: arrow_of_hive(column.type) for column in typed}
    nested = _nested_types(table.storage.columns) if form.name in _WITHOUT_SCHEMA else {}
    return TableRead(replace(settings, listing=listing, description=description), types, nested)


def _nested_types(columns: Iterable[Column]) -> Mapping[str, pa.DataType]:
    """Return the types of nested columns; those that another tool has described in a way of its own are left out."""
    found = {}
    for column in columns:
        with suppress(ConfigError):
            found[column.name] = arrow_of_hive(column.type)
    return {name: kind for name, kind in found.items() if pa.types.is_nested(kind)}


def partition_roots(table: Table, partitions: Iterable[Partition]) -> list[Root]:
    """Return the folders of a table's partitions; one without a location is where Hive would put it."""
    names = [key.name for key in table.partition_keys]
    roots = []
    for one in partitions:
        under = partition_path(names, one.values)
        roots.append(Root(canonical_url(one.location or f"{table.storage.location.rstrip('/')}/{under}"), under))
    return roots
