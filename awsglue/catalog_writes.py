"""Writing what the Data Catalog describes, or is to describe from then on."""

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
from gluepot.connectors.files.formats.options import flag
from gluepot.core.errors import ConfigError, did_you_mean
from gluepot.core.storage import canonical_url
from gluepot.engine.catalog_update import BEHAVIORS, UPDATE, CatalogTarget
from gluepot.engine.file_target import CatalogEntry, FileTarget

SPARK_SINK = "useSparkDataSink"
_UPDATE_CATALOG = "enableUpdateCatalog"


@dataclass(frozen=True, slots=True)
class TableWrite:
    """A write to a table as a write of files.

    Args:
        options: options of the sink.
        format: a key of `gluepot.connectors.registry.SINKS`.
        format_options: Glue's.
    """

    options: Mapping[str, Any]
    format: str
    format_options: Mapping[str, Any]


def table_write(table: Table, options: Mapping[str, Any]) -> TableWrite:
    """Return how a table is written: where it lies, in its format, in its partitions.

    A write that does not name the table's partition keys uses them all the same: files beside the folders of partitions
    would be found by nobody.

    Args:
        table: a table of files.
        options: `additional_options`.

    Raises:
        NotSupportedHere: the table is none of files, or of a format that is not written.
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
    """Return the table that a write makes known; None where the script does not ask for it.

    Args:
        target: target of the sink.
        options: as the script gave them.
        table: database and table of `setCatalogInfo`.

    Raises:
        ConfigError: it asks and names no table, or no behaviour there is.
    """
    if not flag(options, _UPDATE_CATALOG):
        return None
    if table is None:
        raise ConfigError(
            f"{_UPDATE_CATALOG} is set and no table is named; call setCatalogInfo(catalogDatabase, catalogTableName)."
        )
    behavior = str(options.get("updateBehavior") or UPDATE)
    if behavior not in BEHAVIORS:
        known = ", ".join(BEHAVIORS)
        raise ConfigError(f"updateBehavior is {behavior!r}; use one of {known}.{did_you_mean(behavior, BEHAVIORS)}")
    is_parquet = target.format in {"parquet", "glueparquet"}
    parameters = {"useGlueParquetWriter": "true"} if is_parquet else {}
    if target.format == "csv":
        separator = str(target.format_options.get("separator", ","))
        header = str(target.format_options.get("writeHeader", True)).lower() == "true"
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
    """Tell whether Spark's writer is asked for.

    Raises:
        ConfigError: together with `enableUpdateCatalog`, which it does not know.
    """
    wanted = flag(options, SPARK_SINK)
    if wanted and flag(options, _UPDATE_CATALOG):
        raise ConfigError(f"{SPARK_SINK} cannot be combined with {_UPDATE_CATALOG}; leave one of them out.")
    return wanted


def write_by_spark(frame: DataFrame, table: Table, options: Mapping[str, Any]) -> None:
    """Append a DataFrame to a table's folder with Spark's writer, which knows neither runs nor replays."""
    form = table_format(table)
    rest = {name: value for name, value in options.items() if name not in {SPARK_SINK, _UPDATE_CATALOG}}
    keys = [key.name for key in table.partition_keys]
    frame.write.format(form.name).options(**rest).partitionBy(*keys).mode("append").save(table.storage.location)
