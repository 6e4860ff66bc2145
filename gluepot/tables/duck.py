"""Makes a table a view in DuckDB."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from gluepot.core.duckdb_sql import quoted_name, quoted_text
from gluepot.core.errors import ConfigError
from gluepot.core.storage import LocalStorage
from gluepot.frames.chunk import is_choice
from gluepot.tables.columns import TableColumn
from gluepot.tables.files import TableFile

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

    from gluepot.tables.table import Table

_TYPES_VIEW = "gluepot_types"


def new_view(table: Table, connection: DuckDBPyConnection | None, name: str) -> DuckDBPyConnection:
    """Make the view that `Table.duckdb` describes.

    DuckDB reads local Parquet files itself, and each query reads only what it needs. For other tables, each query gets
    all columns as a stream of Arrow data, and the view lives as long as the connection.
    """
    try:
        import duckdb  # noqa: PLC0415  an extra
    except ImportError as missing:
        raise ConfigError("DuckDB is missing; run `pip install duckdb`.") from missing
    if not table.columns:
        raise ConfigError(f"{table.storage.url} has no rows yet and so no columns; make the view when it has some")
    db = connection or duckdb.connect()
    root = table.storage.root if isinstance(table.storage, LocalStorage) else None
    if root and _is_literal(root) and reads_as_is(table.files(), table.columns):
        files = [str(root / file.path) for file in table.files()]
        db.execute(view_sql(name, files, _types(db, table.schema), table.columns))
    else:
        db.register(name, table)
    return db


def reads_as_is(files: Sequence[TableFile], columns: Sequence[TableColumn]) -> bool:
    """Tell whether DuckDB's own reader, given the types, finds the same rows as ours.

    It does not if a type changed to one that is not wider, if columns are renamed, if a column is in the folder names
    of some files and inside others, or if DuckDB reads the text of a partition key in another way.
    """
    if any(file.encoding["format"] != "parquet" or file.instants for file in files):
        return False
    keys = [column.source.name for column in columns if column.is_key]
    if any(list(file.partition) != keys for file in files):
        return False
    return all(
        column.field.name == column.source.name
        and not _holds_choice(column.source)
        and (not column.is_key or _is_plain(column.field.type))
        for column in columns
    )


def view_sql(name: str, files: Sequence[str], types: Sequence[str], columns: Sequence[TableColumn]) -> str:
    """Return the statement that makes the view.

    Args:
        name: name of the view.
        files: absolute paths.
        types: DuckDB's type of each column.
        columns: columns of the table.
    """
    chosen = ", ".join(
        f"CAST({quoted_name(column.field.name)} AS {kind}) AS {quoted_name(column.field.name)}"
        for column, kind in zip(columns, types, strict=True)
    )
    listed = ", ".join(quoted_text(file) for file in files)
    hive = "true, hive_types_autocast = false" if any(column.is_key for column in columns) else "false"
    return (  # names and paths are quoted, types are DuckDB's own words
        f"CREATE OR REPLACE VIEW {quoted_name(name)} AS SELECT {chosen} "  # noqa: S608
        f"FROM read_parquet([{listed}], union_by_name = true, hive_partitioning = {hive})"
    )


def _types(db: DuckDBPyConnection, schema: pa.Schema) -> list[str]:
    """Return DuckDB's names for the columns' types."""
    db.register(_TYPES_VIEW, schema.empty_table())
    try:
        return [str(row[1]) for row in db.execute(f"DESCRIBE {_TYPES_VIEW}").fetchall()]
    finally:
        db.unregister(_TYPES_VIEW)


def _is_literal(root: Path) -> bool:
    """Tell whether DuckDB takes a folder's name literally, and not as a pattern or as partition values."""
    return not set("*?[=") & set(str(root))


def _holds_choice(field: pa.Field) -> bool:
    inner = (field.type.field(at) for at in range(field.type.num_fields))
    return is_choice(field) or any(_holds_choice(one) for one in inner)


def _is_plain(kind: pa.DataType) -> bool:
    return bool(
        pa.types.is_string(kind) or pa.types.is_integer(kind) or pa.types.is_boolean(kind) or pa.types.is_date(kind)
    )
