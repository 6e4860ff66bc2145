"""Finds the lake table that a call means: by options, or by a name in the Data Catalog."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession
from pyspark.sql.pandas.types import to_arrow_schema

from awsglue.data_catalog import current_catalog
from gluepot.catalog.formats import lake_format
from gluepot.catalog.values import Table
from gluepot.connectors.lake import iceberg_catalogs
from gluepot.connectors.lake.delta import DeltaTable
from gluepot.connectors.lake.hudi import HudiTable
from gluepot.connectors.lake.iceberg import IcebergTable
from gluepot.connectors.lake.iceberg_files import IcebergFiles
from gluepot.connectors.lake.tables import LakeTable
from gluepot.core.errors import ConfigError
from gluepot.spark.settings import settings_of

_CONNECTOR_OPTIONS = frozenset({"path", "className", "connectionName"})


@dataclass(frozen=True, slots=True)
class LakeTarget:
    """A lake table and Spark's options for it."""

    table: LakeTable | IcebergFiles
    options: Mapping[str, Any] = field(default_factory=dict)

    def types(self, spark: SparkSession) -> Mapping[str, pa.DataType]:
        """Return the types of the table's columns; none if there is no such table yet, or the options name none."""
        try:
            schema = to_arrow_schema(self.table.read(spark, {}).schema)
        except (PySparkException, ConfigError):
            return {}
        return {field.name: field.type for field in schema}

    @property
    def writable(self) -> LakeTable:
        """The table, for writing.

        Raises:
            ConfigError: no catalog of the session has the table.
        """
        if isinstance(self.table, IcebergFiles):
            raise ConfigError(
                f"{self.table.title} is a table of Iceberg that no catalog of this session has, so it can be read and"
                " not written. Set the catalog that keeps it, or create the table in glue_catalog with Spark SQL."
            )
        return self.table


def of_options(connection_type: str, options: Mapping[str, Any]) -> LakeTarget:
    """Return the table of a call with connection options.

    Raises:
        ConfigError: the options name no format or no table.
    """
    kind = connection_type.lower()
    form = str(options.get("className", "")) if kind.endswith(".spark") else kind
    name = str(options.get("path") or "")
    if not name:
        raise ConfigError(
            f"connection_type {connection_type!r} has no path; give connection_options={{'path': ...}}: "
            "the folder of a table of Delta or Hudi, or catalog.database.table of Iceberg."
        )
    rest = {key: value for key, value in options.items() if key not in _CONNECTOR_OPTIONS}
    return LakeTarget(_table(form, name), rest)


def lookup(spark: SparkSession, database: str, name: str, options: Mapping[str, Any]) -> Table | LakeTarget:
    """Return the table of a name in the Data Catalog, as a `LakeTarget` if it is a lake table.

    A table that SQL created in an Iceberg catalog has no entry in the Data Catalog, so this also looks in the session's
    catalogs.

    Raises:
        ConfigError: the table does not exist, or is an Iceberg table that nothing leads to.
    """
    try:
        table = current_catalog().table(database, name)
    except ConfigError:
        for catalog in iceberg_catalogs(settings_of(spark)):
            if spark.catalog.tableExists(f"{catalog}.{database}.{name}"):
                return LakeTarget(IcebergTable(f"{catalog}.{database}.{name}"), options)
        raise
    match lake_format(table):
        case "delta":
            return LakeTarget(DeltaTable(table.storage.location), options)
        case "iceberg":
            return LakeTarget(_of_iceberg(spark, table), options)
        case "hudi":
            return LakeTarget(HudiTable(table.storage.location), options)
    return table


def _of_iceberg(spark: SparkSession, table: Table) -> IcebergTable | IcebergFiles:
    """Return the table of an entry as a catalog of the session has it, or else by its metadata file."""
    for catalog in iceberg_catalogs(settings_of(spark)):
        name = f"{catalog}.{table.database}.{table.name}"
        if catalog == table.iceberg_catalog or spark.catalog.tableExists(name):
            return IcebergTable(name)
    if location := table.parameters.get("metadata_location"):
        return IcebergFiles(table.title, location)
    raise ConfigError(
        f"{table.title} is a table of Iceberg that no catalog of this session has, and its entry names no metadata"
        " file; set spark.sql.catalog.glue_catalog and its properties, as Glue's guide does."
    )


def _table(form: str, name: str) -> LakeTable:
    # The connectors of the marketplace need no className. Without one, a path without folders names an Iceberg table.
    known = form or ("iceberg" if "/" not in name else "")
    match known.lower().rpartition(".")[2]:
        case "delta":
            return DeltaTable(name)
        case "iceberg":
            return IcebergTable(name)
        case "hudi":
            return HudiTable(name)
        case _:
            raise ConfigError(
                f"The connector's className is {form!r}; use 'delta', 'iceberg' or 'org.apache.hudi', or Spark's own"
                " reader and writer."
            )
