"""Reads tables of the Data Catalog: tables of files, streams and lake formats."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pyspark.sql import DataFrame, SparkSession

from awsglue import lake_tables
from awsglue.counting import counted
from awsglue.data_catalog import current_catalog, spark_columns
from awsglue.file_reads import table_frame
from awsglue.lake_tables import LakeTarget
from gluepot.catalog.databases import database_read, is_of_database
from gluepot.catalog.formats import table_format
from gluepot.catalog.streams import is_stream, stream_read
from gluepot.catalog.values import Table
from gluepot.core.errors import ConfigError
from gluepot.core.logging import get_logger
from gluepot.core.option_values import flag

if TYPE_CHECKING:
    from awsglue.context import GlueContext
    from awsglue.dynamicframe import DynamicFrame

log = get_logger(__name__)

SPARK_SOURCE, CATALOG_SCHEMA = "useSparkDataSource", "useCatalogSchema"
TEMP_DIR = "redshiftTmpDir"
SPARK_FORMATS = ("avro", "csv", "json", "orc", "parquet", "text")
# Glue's defaults of `maxSamplePartitions` and `maxSampleFilesPerPartition`.
SAMPLE_PARTITIONS, SAMPLE_FILES = 10, 10


def dynamic_frame(
    context: GlueContext, database: str, name: str, options: Mapping[str, Any], predicate: str, ctx: str
) -> DynamicFrame:
    """Return the records of a table; with bookmarks, only the new ones.

    Raises:
        ConfigError: the table does not exist, or cannot be read as the catalog describes it.
        NotSupportedHere: a bounded read of such a table is not supported here.
    """
    from awsglue.dynamicframe import DynamicFrame  # noqa: PLC0415  its module needs this one's caller

    table = lake_tables.lookup(context.spark_session, database, name, options)
    if isinstance(table, LakeTarget):
        return DynamicFrame.fromDF(of_lake(context.spark_session, table, predicate), context, name)
    if is_stream(table):
        read = stream_read(table, {name: value for name, value in options.items() if name != TEMP_DIR})
        return context.create_dynamic_frame_from_options(read.kind, read.options, transformation_ctx=ctx)
    if is_of_database(table):
        of_database = database_read(table, options)
        if predicate:  # in AWS Glue it selects partitions of S3
            hint = "for a table of a database give pushDownPredicate in additional_options"
            log.warning("option_without_effect", option="push_down_predicate", table=table.title, hint=hint)
        return context.create_dynamic_frame_from_options(of_database.kind, of_database.options, transformation_ctx=ctx)
    of_files = {name: value for name, value in options.items() if name != TEMP_DIR}
    pipeline = table_frame(context.spark_session, current_catalog(), table, of_files, predicate, ctx)
    return DynamicFrame(counted(pipeline, ctx or table.title), context, table.name)


def data_frame(
    context: GlueContext, database: str, name: str, options: Mapping[str, Any], predicate: str, ctx: str
) -> DataFrame:
    """Return a table as a DataFrame; for a stream, as a streaming DataFrame.

    Raises:
        ConfigError: as `dynamic_frame`, or options contradict each other.
        NotSupportedHere: as `dynamic_frame`.
    """
    table = lake_tables.lookup(context.spark_session, database, name, options)
    if isinstance(table, LakeTarget):
        return of_lake(context.spark_session, table, predicate)
    if is_stream(table):
        read = stream_read(table, options)
        return context.create_data_frame_from_options(read.kind, read.options)
    if flag(options, SPARK_SOURCE):
        return _by_spark(context.spark_session, table, options, predicate)
    if CATALOG_SCHEMA in options:
        raise ConfigError(f"{CATALOG_SCHEMA} goes together with {SPARK_SOURCE}; say both, or neither.")
    return dynamic_frame(context, database, name, options, predicate, ctx).toDF()


def sample(frame: DynamicFrame, num: int | None) -> DynamicFrame:
    """Return at most `num` records of a frame, or all if `num` is None."""
    from awsglue.dynamicframe import DynamicFrame  # noqa: PLC0415  its module needs this one's caller

    return frame if num is None else DynamicFrame.fromDF(frame.toDF().limit(num), frame.glue_ctx, frame.name)


def sample_bound(sample_options: Mapping[str, Any]) -> dict[str, str]:
    """Return the option that limits how many files a sample reads."""
    partitions = int(sample_options.get("maxSamplePartitions", SAMPLE_PARTITIONS))
    files = int(sample_options.get("maxSampleFilesPerPartition", SAMPLE_FILES))
    return {"boundedFiles": str(partitions * files)}


def of_lake(spark: SparkSession, target: LakeTarget, predicate: str) -> DataFrame:
    """Return a lake table, at the snapshot, time or version that its options choose."""
    frame = target.table.read(spark, target.options)
    return frame.where(predicate) if predicate else frame


def _by_spark(spark: SparkSession, table: Table, options: Mapping[str, Any], predicate: str) -> DataFrame:
    form = table_format(table)
    if form.name not in SPARK_FORMATS:
        raise ConfigError(
            f"{SPARK_SOURCE} cannot read {form.name} of {table.title}; it reads {', '.join(SPARK_FORMATS)}."
        )
    reader = spark.read.format(form.name)
    for name, value in options.items():
        if name not in {SPARK_SOURCE, CATALOG_SCHEMA}:
            reader = reader.option(name, value)
    if flag(options, CATALOG_SCHEMA):
        reader = reader.schema(spark_columns(table))
    frame = reader.load(table.storage.location)
    return frame.where(predicate) if predicate else frame
