"""The first rows of a table of the Data Catalog that consists of files, read without Spark."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import date, datetime, time
from typing import Any

from gluepot.catalog.databases import is_of_database
from gluepot.catalog.formats import lake_format
from gluepot.catalog.streams import is_stream
from gluepot.catalog.values import Partition, Table
from gluepot.connectors.files.source.grouping import FileGroup
from gluepot.connectors.files.source.listing import ListingStats, list_files
from gluepot.connectors.files.source.table_settings import table_read
from gluepot.core.errors import ConfigError
from gluepot.frames.time_zone import UTC
from gluepot.frames.transforms import run_steps


def first_rows(table: Table, partitions: Iterable[Partition], most: int) -> list[dict[str, Any]]:
    """Return rows of a table, in the order of its files; `from_catalog` would read the same values.

    Each has the declared columns, null where a file does not have them, and behind them what else its file has.

    Args:
        table: of files.
        partitions: all of the table's.
        most: the largest number of rows.

    Raises:
        ConfigError: it is not a table of files, or its format is not known.
        PermanentError: a file is damaged.
        TransientError: the storage was away.
    """
    _check(table)
    found: list[dict[str, Any]] = []
    for row in _rows(table, partitions):
        if len(found) == most:
            break
        found.append(row)
    return found


def _rows(table: Table, partitions: Iterable[Partition]) -> Iterator[dict[str, Any]]:
    read = table_read(table, partitions, {}, "")
    declared = dict.fromkeys(column.name for column in (*table.storage.columns, *table.partition_keys))
    for file in list_files(read.settings.listing, ListingStats()):
        for chunk in read.settings.source.read(FileGroup((file,))):
            for row in run_steps(read.steps(UTC), chunk).batch.to_pylist():
                yield {**declared, **row}


def _check(table: Table) -> None:
    if is_stream(table):
        raise ConfigError(f"{table.title} is a stream; look at its records with `gluepot topic consume`.")
    if is_of_database(table):
        raise ConfigError(f"{table.title} is a table of a database; look at its rows with the database's own client.")
    if (lake := lake_format(table)) is not None:
        raise ConfigError(f"{table.title} is a table of {lake.capitalize()}, whose rows only a job can read.")


def plain(value: Any) -> Any:
    """Return a value as JSON can hold it, in the form in which people write it."""
    match value:
        case dict():
            return {name: plain(one) for name, one in value.items()}
        case list() | tuple():
            return [plain(one) for one in value]
        case bytes():
            return f"0x{value.hex()}"
        case None | bool() | int() | float() | str():
            return value
        case date() | datetime() | time():
            return value.isoformat()
        case _:
            return str(value)
