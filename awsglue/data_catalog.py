"""Access to the Data Catalog for the calls of a script."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.types import StructType

from gluepot.catalog.values import Table
from gluepot.core.logging import get_logger
from gluepot.frames.schema.hive_types import arrow_of_hive
from gluepot.streaming.query import session

if TYPE_CHECKING:
    from gluepot.catalog.store import Catalog

log = get_logger(__name__)


def current_catalog() -> Catalog:
    """Return the catalog that the environment names; it stays open for the process.

    Raises:
        ConfigError: its URL is not of a known kind.
        TransientError: it cannot be reached.
    """
    from gluepot.catalog.connect import catalog_url, shared_catalog  # noqa: PLC0415  SQLAlchemy takes half a second to load

    return shared_catalog(catalog_url(os.environ), session.current().clock)


def names(
    database: str | None, table_name: str | None, catalog_id: str | None, further: Mapping[str, Any]
) -> tuple[str, str]:
    """Return the database and the table of a call, which may name the database in either of Glue's two spellings.

    Raises:
        Exception: a name is missing or given twice; type and text are those of Glue's own library (docs/glue 1.1).
    """
    name_space = further.get("name_space")
    if name_space is not None and database is not None:
        raise Exception("Parameter name_space and database are both specified, choose one.")  # noqa: TRY002
    if name_space is None and database is None:
        raise Exception("Parameter name_space or database is missing.")  # noqa: TRY002
    if table_name is None:
        raise Exception("Parameter table_name is missing.")  # noqa: TRY002
    if catalog_id:
        log.info("catalog_id_ignored", catalog_id=catalog_id, reason="there is one catalog here")
    return str(database or name_space), table_name


def arrow_columns(table: Table) -> pa.Schema:
    """Return the columns of a table, partition keys last.

    Raises:
        ConfigError: a type is not known.
    """
    columns = (*table.storage.columns, *table.partition_keys)
    return pa.schema([(column.name, arrow_of_hive(column.type)) for column in columns])


def spark_columns(table: Table) -> StructType:
    """Return the columns of a table in Spark's types, partition keys last."""
    return from_arrow_schema(arrow_columns(table))
