"""Finds the columns of a table from its manifests, and converts the rows of any of its files to these columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa

from gluepot.commit.history import Published
from gluepot.connectors.files.sink.clashes import new_names, without_clashes
from gluepot.connectors.files.sink.typed import typed
from gluepot.core.errors import ConfigError, did_you_mean
from gluepot.frames.columns import Column, batch_of
from gluepot.frames.schema import align, choice_to_string, without_nulls
from gluepot.frames.schema.glue_types import TIMESTAMP
from gluepot.frames.timestamps import is_instant


@dataclass(frozen=True, slots=True)
class TableColumn:
    """One column.

    Args:
        field: the column as readers see it. It is text if its type changed and no type covers both the old and the new.
        source: the column as it is in files, merged over all of them; its type may be a choice of several types.
        is_key: whether some file has the column in the names of its folders.
    """

    field: pa.Field
    source: pa.Field
    is_key: bool


def table_columns(published: Published) -> list[TableColumn]:
    """Return the columns: those of files in order of first appearance, then the partition keys.

    A column that never had a value is left out, as Parquet files leave it out. If two names differ only in case, one
    gets a number, as in files, because most readers would take them for one column.
    """
    merged, keys = published.columns()
    fields = [field for field in merged if field.name not in keys]
    sources = [*(field for field in fields if _shown(field)), *(_key_field(merged, key) for key in keys)]
    names = new_names([source.name for source in sources])
    return [
        TableColumn(shown.with_name(name), source, source.name in keys)
        for name, source in zip(names, sources, strict=True)
        if (shown := _shown(source))
    ]


def choose(columns: Sequence[TableColumn], names: Sequence[str], where: str) -> Sequence[TableColumn]:
    """Return columns by name, in that order.

    Args:
        columns: to choose from.
        names: as readers see them.
        where: the table, for the message.

    Raises:
        ConfigError: the table has no column of that name.
    """
    known = {column.field.name: column for column in columns}
    for name in names:
        if name not in known:
            hint = did_you_mean(name, known)
            raise ConfigError(f"{where} has no column {name!r}; use some of {', '.join(known)}.{hint}")
    return [known[name] for name in names]


def in_columns(
    batch: pa.RecordBatch,
    partition: Mapping[str, str | None],
    columns: Sequence[TableColumn],
    instants: Mapping[str, int] = {},
) -> pa.RecordBatch:
    """Return a file's rows in the given columns; what the file lacks is null.

    Args:
        batch: rows of a file, in its own types.
        partition: what the file's folders say.
        columns: any columns of the table.
        instants: what times in the names of folders stand for, if they are not in UTC.

    Raises:
        ValueError: the text in a folder's name is not a value of the column's type.
    """
    return batch_of([Column(one.field, _values(batch, partition, one, instants)) for one in columns], batch.num_rows)


def _values(
    batch: pa.RecordBatch, partition: Mapping[str, str | None], column: TableColumn, instants: Mapping[str, int]
) -> pa.Array:
    name, kind = column.source.name, column.field.type
    if name in instants and is_instant(kind):
        return pa.repeat(pa.scalar(instants[name], TIMESTAMP).cast(kind), batch.num_rows)
    if name in partition:
        (value,) = typed(pa.array([partition[name]], pa.string()), kind)
        return pa.repeat(value, batch.num_rows)
    if name not in batch.schema.names:
        return pa.nulls(batch.num_rows, kind)
    return _readable(align(batch.select([name]), pa.schema([column.source]))).column(0)


def _readable(batch: pa.RecordBatch) -> pa.RecordBatch:
    return without_clashes(without_nulls(choice_to_string(batch)))


def _shown(source: pa.Field) -> pa.Field | None:
    """Return a column of files as readers see it; None if it never had a value."""
    schema = _readable(pa.RecordBatch.from_pylist([], schema=pa.schema([source]))).schema
    return schema.field(0) if len(schema) else None


def _key_field(merged: pa.Schema, key: str) -> pa.Field:
    """Return a partition key's field; one that was null in every row is text."""
    known = key in merged.names and not pa.types.is_null(merged.field(key).type)
    return merged.field(key) if known else pa.field(key, pa.string())
