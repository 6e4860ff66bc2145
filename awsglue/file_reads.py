"""Reads files: turns a script's options into a pipeline."""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce
from typing import TYPE_CHECKING, Any

from pyspark.sql import SparkSession

from gluepot.bookmarks import jobrun
from gluepot.bookmarks.files_input import files_input
from gluepot.catalog.values import Table
from gluepot.connectors.files.source.settings import FileReadSettings
from gluepot.connectors.files.source.table_settings import table_read
from gluepot.core.datasets import folder_dataset
from gluepot.engine.pipeline import Pipeline
from gluepot.engine.session_zone import session_zone
from gluepot.streaming.query import session
from gluepot.tables.partition_sql import PartitionSql, types_of_keys

if TYPE_CHECKING:
    from gluepot.catalog.store import Catalog

# Formats that are also accepted as connection types, because Glue's own library replaces `s3` by them (docs/glue 1.1).
FORMAT_TYPES = ("parquet", "orc")


def file_settings(
    connection_type: str,
    options: Mapping[str, Any],
    format_name: str | None,
    format_options: Mapping[str, Any],
    predicate: str,
    spark: SparkSession | None = None,
) -> FileReadSettings:
    """Check the options that a script gives for a read.

    Args:
        connection_type: Glue's.
        options: `connection_options`.
        format_name: of the files.
        format_options: Glue's.
        predicate: `push_down_predicate`.
        spark: evaluates predicates that our own grammar does not know; without it they are errors.

    Raises:
        ConfigError: an option is missing or wrong.
    """
    kind = connection_type.lower()
    name = format_name or (kind if kind in FORMAT_TYPES else None)
    evaluator = PartitionSql(spark) if spark else None
    settings = FileReadSettings.from_glue(options, name, format_options, predicate, evaluator)
    return settings.in_zone(session_zone(spark)) if spark else settings


def file_frame(spark: SparkSession, settings: FileReadSettings, ctx: str) -> Pipeline:
    """Return the pipeline of a read. This lists the files; they are read when the frame is used."""
    session.current().read.update(map(folder_dataset, settings.listing.paths))
    parallelism = spark.sparkContext.defaultParallelism
    return Pipeline(files_input(settings, ctx, jobrun.for_read(ctx), parallelism, session.current().clock))


def table_frame(
    spark: SparkSession, catalog: Catalog, table: Table, options: Mapping[str, Any], predicate: str, ctx: str
) -> Pipeline:
    """Return the pipeline of a read of a table's files. This lists the files.

    Raises:
        ConfigError: the table does not consist of files, or an option is wrong.
    """
    partitions = catalog.partitions(table) if table.partition_keys else ()
    read = table_read(table, partitions, options, predicate, PartitionSql(spark, types_of_keys(table)))
    zone = session_zone(spark)
    pipeline = file_frame(spark, read.settings.in_zone(zone), ctx)
    return reduce(Pipeline.then, read.steps(zone), pipeline)
