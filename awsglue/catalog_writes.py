"""Writes to tables of the Data Catalog, and describes new tables in it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pyspark.sql import DataFrame

from awsglue.data_catalog import current_catalog
from awsglue.unsupported import NotSupportedHere
from gluepot.catalog.formats import HIVE_FORMATS, table_format
from gluepot.catalog.streams import is_stream
from gluepot.catalog.values import Table
from gluepot.core.errors import ConfigError, did_you_mean
from gluepot.core.option_values import flag
from gluepot.core.storage import canonical_url
from gluepot.engine.catalog_update import BEHAVIORS, UPDATE, CatalogTarget
from gluepot.engine.file_target import CatalogEntry, FileTarget

SPARK_SINK = "useSparkDataSink"
_UPDATE_CATALOG = "enableUpdateCatalog"


@dataclass(frozen=True, slots=True)
class TableWrite:
    """A write to a catalog table, expressed as a write of files.

    Args:
        options: options of the sink.
        format: a key of `gluepot.connectors.registry.SINKS`.
        format_options: options of the format, as Glue names them.
    """

    options: Mapping[str, Any]
    format: str
    format_options: Mapping[str, Any]


def table_write(table: Table, options: Mapping[str, Any]) -> TableWrite:
    """Return how to write a table: to its location, in its format and with its partition keys.

    The partition keys are used even if the write does not name them, because readers do not find files that lie beside
    the partition folders.

    Args:
        table: a table of files.
        options: `additional_options`.

    Raises:
        NotSupportedHere: the table does not consist of files, or its format cannot be written.
    """
    location = table.storage.location
    if is_stream(table) or not location:
        raise NotSupportedHere(f"writing to the table {table.title} of the catalog", "Tables of files can be written.")
    form = table_format(table)
    if form.name not in HIVE_FORMATS:
        raise NotSupportedHere(f"writing {form.name} to {table.title}", f"Written are {', '.join(HIVE_FORMATS)}.")
    keys = [key.name for key in table.partition_keys]
    of_table = {"path": location, "partitionKeys": keys} if keys else {"path": location}
    compression = table.parameters.get("compressionType", "none").lower()
    if compression != "none":
        of_table["compression"] = compression
    format_options: dict[str, Any] = {}
    if form.name == "csv":
        read = form.options
        format_options = {"separator": read["separator"], "writeHeader": bool(read.get("skipFirst"))}
        if "quoteChar" in read:
            format_options["quoteChar"] = read["quoteChar"]
    return TableWrite({**of_table, **options}, form.name, format_options)


def catalog_entry(target: FileTarget, options: Mapping[str, Any], table: tuple[str, str] | None) -> CatalogEntry | None:
    """Return the catalog entry that a write creates or updates; None if the script does not ask for one.

    Args:
        target: target of the sink.
        options: options from the script.
        table: database and table from `setCatalogInfo`; None takes `databaseName` and `tableName` of the options.

    Raises:
        ConfigError: the script asks for an entry but names no table, or names an unknown update behaviour.
    """
    if not flag(options, _UPDATE_CATALOG):
        return None
    named = tuple(str(options.get(name) or "") for name in ("databaseName", "tableName"))
    if table is None and all(named):
        table = named[0], named[1]
    if table is None:
        raise ConfigError(
            f"{_UPDATE_CATALOG} is set and no table is named; give the options databaseName and tableName, or call"
            " setCatalogInfo(catalogDatabase, catalogTableName)."
        )
    behavior = str(options.get("updateBehavior") or UPDATE)
    if behavior not in BEHAVIORS:
        known = ", ".join(BEHAVIORS)
        raise ConfigError(f"updateBehavior is {behavior!r}; use one of {known}.{did_you_mean(behavior, BEHAVIORS)}")
    is_parquet = target.format in {"parquet", "glueparquet"}
    parameters = {"useGlueParquetWriter": "true"} if is_parquet else {}
    if target.format == "csv":
        separator = str(target.format_options.get("separator", ","))
        header = flag(target.format_options, "writeHeader", default=True)
        parameters = {"delimiter": separator, "skip.header.line.count": "1" if header else "0"}
    entry = CatalogTarget(
        *table,
        behavior=behavior,
        location=canonical_url(target.path),
        format="parquet" if is_parquet else target.format,
        partition_keys=tuple(target.partition_keys),
        parameters=parameters,
    )
    return CatalogEntry(entry, current_catalog)


def wants_spark(options: Mapping[str, Any]) -> bool:
    """Tell whether the options ask for Spark's writer.

    Raises:
        ConfigError: they also set `enableUpdateCatalog`, which Spark's writer does not support.
    """
    wanted = flag(options, SPARK_SINK)
    if wanted and flag(options, _UPDATE_CATALOG):
        raise ConfigError(f"{SPARK_SINK} cannot be combined with {_UPDATE_CATALOG}; remove one of them.")
    return wanted


def write_by_spark(frame: DataFrame, table: Table, options: Mapping[str, Any]) -> None:
    """Append a DataFrame to a table's folder with Spark's writer, which does not recognise a repeated batch or run."""
    form = table_format(table)
    rest = {name: value for name, value in options.items() if name not in {SPARK_SINK, _UPDATE_CATALOG}}
    keys = [key.name for key in table.partition_keys]
    frame.write.format(form.name).options(**rest).partitionBy(*keys).mode("append").save(table.storage.location)
