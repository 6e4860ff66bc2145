"""`awsglue.context`, as job scripts import it."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from typing import Any
from uuid import uuid4

from pyspark import SparkContext
from pyspark.sql import DataFrame, SparkSession, SQLContext
from pyspark.sql.types import StructType

from awsglue import catalog_reads, catalog_writes, data_catalog, lake_tables
from awsglue.collection import DynamicFrameCollection
from awsglue.counting import counted
from awsglue.dynamicframe import DynamicFrame
from awsglue.file_reads import file_frame, file_settings
from awsglue.lake_catalogs import use_local_catalogs
from awsglue.lake_tables import LakeTarget
from awsglue.options import as_options, batch_read, overridden, stream_source
from awsglue.readers import DataFrameReader, DynamicFrameReader, batch_frame, row_pipeline
from awsglue.resolving import as_spec
from awsglue.sinks import DataFrameWriter, DataSink, DynamicFrameWriter
from awsglue.sources import DataSource, StreamingDataSource
from awsglue.unsupported import GLUE_CONTEXT, NotSupportedHere, missing
from awsglue.writing import current_writer
from gluepot.catalog.connections import jdbc_connection, load
from gluepot.catalog.databases import database_read, is_of_database
from gluepot.connectors.lake.merging import use_own_merges
from gluepot.connectors.options import warn_ignored
from gluepot.connectors.registry import Access, connector, types_that
from gluepot.core.logging import get_logger
from gluepot.engine.pipeline import Pipeline, SplitInput
from gluepot.engine.session_zone import session_zone
from gluepot.frames.time_zone import UTC, TimeZone
from gluepot.streaming.micro_batch.frames import StreamFrame, new_stream
from gluepot.streaming.micro_batch.own_queries import tell_checkpoints
from gluepot.streaming.query import session
from gluepot.streaming.query.run import for_each_batch
from gluepot.streaming.query.sampling import SampleSettings, sample
from gluepot.streaming.settings import StreamSettings
from gluepot.tables import purge
from gluepot.tables.partition_sql import PartitionSql, types_of_keys
from gluepot.tables.purge import PurgeOptions
from gluepot.tables.spark import register as register_tables
from gluepot.tables.sql_catalog import use_data_catalog

__all__ = ["GlueContext"]


_NO_TRANSACTIONS = "they are Lake Formation's; here each write is published by itself, at once or not at all"
_log = get_logger(__name__)


_ARGUMENTS = ("connection_options", "format", "format_options", "transformation_ctx", "push_down_predicate")
_STREAM_NAMES = ("topicname", "subscribe", "subscribepattern", "assign", "streamname", "streamarn", "connectionname")


class GlueLogger:
    """The logger that `get_logger` returns."""

    def __init__(self) -> None:
        self._log = get_logger("script")

    def info(self, msg: object) -> None:
        """Log a message about a normal event."""
        self._log.info(str(msg))

    def warn(self, msg: object) -> None:
        """Log a warning."""
        self._log.warning(str(msg))

    def error(self, msg: object) -> None:
        """Log an error."""
        self._log.error(str(msg))


class GlueContext(SQLContext):
    """The entry point of a Glue script.

    Args:
        sparkContext: a SparkContext, a SparkSession, or nothing.
        options: `minPartitions`, `targetPartitions`; accepted and ignored.
    """

    Spark_SQL_Formats = frozenset({"parquet", "orc"})
    Unsupported_Compression_Types = frozenset({"lzo"})

    def __init__(self, sparkContext: SparkContext | SparkSession | None = None, **options: Any) -> None:
        match sparkContext:
            case SparkSession():
                spark = sparkContext
            case SparkContext():
                spark = SparkSession(sparkContext)
            case None:
                spark = SparkSession.builder.getOrCreate()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)  # SQLContext is deprecated; Glue's class is one all the same
            super().__init__(spark.sparkContext, spark)
        self.spark_session = spark
        register_tables(spark)
        use_local_catalogs(spark)
        use_data_catalog(spark, data_catalog.current_catalog)
        use_own_merges()
        tell_checkpoints()
        self.create_data_frame = DataFrameReader(self)
        self.create_dynamic_frame = DynamicFrameReader(self)
        self.write_dynamic_frame = DynamicFrameWriter(self)
        self.write_data_frame = DataFrameWriter(self)

    def create_data_frame_from_options(
        self,
        connection_type: str,
        connection_options: Mapping[str, Any] = {},
        format: str | None = None,
        format_options: Mapping[str, Any] = {},
        transformation_ctx: str = "",
        push_down_predicate: str = "",
        **kwargs: Any,
    ) -> DataFrame:
        """Return the streaming DataFrame of a topic or a stream (docs/glue 3), or the rows of another source.

        Files and tables are read as `create_dynamic_frame_from_options` reads them, with bookmarks.
        """
        known = connector(connection_type)
        if known.reads in {Access.FILES, Access.DATABASE} or (known.reads and not known.reads_rows):
            return self.create_dynamic_frame_from_options(
                *(connection_type, connection_options, format, format_options),
                *(transformation_ctx, push_down_predicate),
                **kwargs,
            ).toDF()
        if known.reads is Access.LAKE:
            table = lake_tables.of_options(connection_type, as_options(connection_options))
            return catalog_reads.of_lake(self.spark_session, table, push_down_predicate)
        if (stand_in := session.current().stand_in) is not None:
            return stand_in(self.spark_session, connection_type, as_options(connection_options))
        if not known.reads_rows:
            raise NotSupportedHere(
                f"create_data_frame.from_options(connection_type={connection_type!r})",
                f"Use one of {types_that(lambda one: one.reads)}.",
            )
        options = overridden(as_options(connection_options), session.current().stream_options)
        return self._opened(connection_type, options)

    def _opened(self, connection_type: str, options: Mapping[str, Any]) -> StreamFrame:
        failures, name = session.current().thread_failures, f"{connection_type} {_stream_name(options)}".rstrip()
        with failures.watched(f"reading {name}"):
            stream = new_stream(self.spark_session, stream_source(connection_type, options, self._zone()))
        failures.opened(name, lambda: stream.is_used)
        return stream

    def _zone(self) -> TimeZone:
        return session_zone(self.spark_session) if self.spark_session else UTC  # a check of a script has no session

    def create_dynamic_frame_from_options(
        self,
        connection_type: str,
        connection_options: Mapping[str, Any] = {},
        format: str | None = None,
        format_options: Mapping[str, Any] = {},
        transformation_ctx: str = "",
        push_down_predicate: str = "",
        **kwargs: Any,
    ) -> DynamicFrame:
        """Return the records of files, of a stream up to its current end, or of a lake; with bookmarks the new ones."""
        known, options = connector(connection_type), as_options(connection_options)
        if known.reads is not Access.DATABASE:  # options of databases may be keyword arguments
            warn_ignored(_log, kwargs, _ARGUMENTS)
        if known.reads is None:
            raise NotSupportedHere(
                f"create_dynamic_frame.from_options(connection_type={connection_type!r})",
                f"Use one of {types_that(lambda one: one.reads)}.",
            )
        if known.reads is Access.LAKE:
            lake = lake_tables.of_options(connection_type, options)
            rows = catalog_reads.of_lake(self.spark_session, lake, push_down_predicate)
            return DynamicFrame.fromDF(rows, self, transformation_ctx)
        where = str(options.get("dbtable") or connection_type)
        if known.reads is Access.FILES:
            settings = file_settings(
                connection_type, options, format, as_options(format_options), push_down_predicate, self.spark_session
            )
            where = ", ".join(settings.listing.paths[:1])
            pipeline = file_frame(self.spark_session, settings, transformation_ctx)
        elif known.reads is Access.DATABASE:
            from awsglue.jdbc_reads import jdbc_frame  # noqa: PLC0415  drivers of databases take their time to load

            pipeline = jdbc_frame(self.spark_session, {**kwargs, **options}, transformation_ctx)
        elif known.batch_source:
            read = batch_read(connection_type, options)
            pipeline = Pipeline(SplitInput(read.source, read.splits, read.schema))
        else:
            pipeline = batch_frame(stream_source(connection_type, options, self._zone()))
        return DynamicFrame(counted(pipeline, transformation_ctx or where), self, transformation_ctx)

    def create_dynamic_frame_from_catalog(
        self,
        database: str | None = None,
        table_name: str | None = None,
        redshift_tmp_dir: str = "",
        transformation_ctx: str = "",
        push_down_predicate: str = "",
        additional_options: Mapping[str, Any] = {},
        catalog_id: str | None = None,
        **kwargs: Any,
    ) -> DynamicFrame:
        """Return the records of a table of the catalog; with bookmarks, only the new ones."""
        where = data_catalog.names(database, table_name, catalog_id, kwargs)
        # Articles about bookmarks pass options of the source as keyword arguments, although Glue does not document that
        # (docs/glue 4.6).
        further = {name: value for name, value in kwargs.items() if name != "name_space"}
        options = {**further, **_staged_in(redshift_tmp_dir), **as_options(additional_options)}
        return catalog_reads.dynamic_frame(self, *where, options, push_down_predicate, transformation_ctx)

    def create_data_frame_from_catalog(
        self,
        database: str | None = None,
        table_name: str | None = None,
        redshift_tmp_dir: str = "",
        transformation_ctx: str = "",
        push_down_predicate: str = "",
        additional_options: Mapping[str, Any] = {},
        catalog_id: str | None = None,
        **kwargs: Any,
    ) -> DataFrame:
        """Return a table of the catalog as a DataFrame; for a stream, as a streaming DataFrame."""
        where = data_catalog.names(database, table_name, catalog_id, kwargs)
        options = {**_staged_in(redshift_tmp_dir), **as_options(additional_options)}
        with session.current().thread_failures.watched(f"reading the table {'.'.join(where)}"):
            return catalog_reads.data_frame(self, *where, options, push_down_predicate, transformation_ctx)

    def create_sample_dynamic_frame_from_catalog(
        self,
        database: str | None = None,
        table_name: str | None = None,
        num: int | None = None,
        sample_options: Mapping[str, Any] = {},
        redshift_tmp_dir: str = "",
        transformation_ctx: str = "",
        push_down_predicate: str = "",
        additional_options: Mapping[str, Any] = {},
        catalog_id: str | None = None,
        **kwargs: Any,
    ) -> DynamicFrame:
        """Return some records of a table; the sample has no bookmark."""
        where = data_catalog.names(database, table_name, catalog_id, kwargs)
        bound = catalog_reads.sample_bound(as_options(sample_options))
        options = {**_staged_in(redshift_tmp_dir), **as_options(additional_options), **bound}
        return catalog_reads.sample(catalog_reads.dynamic_frame(self, *where, options, push_down_predicate, ""), num)

    def create_sample_dynamic_frame_from_options(
        self,
        connection_type: str,
        connection_options: Mapping[str, Any] = {},
        num: int | None = None,
        sample_options: Mapping[str, Any] = {},
        format: str | None = None,
        format_options: Mapping[str, Any] = {},
        transformation_ctx: str = "",
        push_down_predicate: str = "",
        **kwargs: Any,
    ) -> DynamicFrame:
        """Return some records of files; the sample has no bookmark."""
        options = {**as_options(connection_options), **catalog_reads.sample_bound(as_options(sample_options))}
        frame = self.create_dynamic_frame_from_options(
            connection_type, options, format, format_options, "", push_down_predicate
        )
        return catalog_reads.sample(frame, num)

    def get_catalog_schema_as_spark_schema(
        self, database: str | None = None, table_name: str | None = None, catalog_id: str | None = None
    ) -> StructType:
        """Return the columns of a table, partition keys last."""
        where = data_catalog.names(database, table_name, catalog_id, {})
        return data_catalog.spark_columns(data_catalog.current_catalog().table(*where))

    def create_dynamic_frame_from_rdd(
        self,
        data: Any,
        name: str,
        schema: Any = None,
        sample_ratio: float | None = None,
        transformation_ctx: str = "",
    ) -> DynamicFrame:
        """Make a frame from an RDD or a list of records, with the arguments of Spark's `createDataFrame`."""
        return DynamicFrame.fromDF(self.spark_session.createDataFrame(data, schema, sample_ratio), self, name)

    def write_dynamic_frame_from_options(
        self,
        frame: DynamicFrame | DataFrame,
        connection_type: str,
        connection_options: Mapping[str, Any] = {},
        format: str | None = None,
        format_options: Mapping[str, Any] = {},
        transformation_ctx: str = "",
    ) -> DynamicFrame:
        """Write a frame; what a micro-batch writes is there exactly once, however often the batch is retried."""
        if isinstance(frame, DataFrame):  # Glue's library refuses this, but AWS's own samples do it
            frame = DynamicFrame.fromDF(frame, self, "frame")
        if not isinstance(frame, DynamicFrame):
            raise TypeError(f"frame is a {type(frame).__name__}; use a DynamicFrame")
        sink = DataSink(self, connection_type, as_options(connection_options), format, transformation_ctx)
        sink.setFormat(format or "", **as_options(format_options))
        return sink.writeFrame(frame)

    def write_dynamic_frame_from_catalog(
        self,
        frame: DynamicFrame | DataFrame,
        database: str | None = None,
        table_name: str | None = None,
        redshift_tmp_dir: str = "",
        transformation_ctx: str = "",
        additional_options: Mapping[str, Any] = {},
        catalog_id: str | None = None,
        **kwargs: Any,
    ) -> DynamicFrame:
        """Write a frame to a table of the catalog: at its location and in its format, or in its database."""
        if isinstance(frame, DataFrame):  # Glue's library refuses this, but AWS's own samples do it
            frame = DynamicFrame.fromDF(frame, self, "frame")
        where = data_catalog.names(database, table_name, catalog_id, kwargs)
        table = lake_tables.lookup(self.spark_session, *where, as_options(additional_options))
        if isinstance(table, LakeTarget):
            rows = frame.rows_for(lambda: table.types(self.spark_session))
            current_writer().append(rows, table.writable, table.options, transformation_ctx)
            return frame
        if is_of_database(table):
            options = {**_staged_in(redshift_tmp_dir), **as_options(additional_options)}
            there = database_read(table, options, writes=True)
            return self.write_dynamic_frame_from_options(
                frame, there.kind, there.options, transformation_ctx=transformation_ctx
            )
        write = catalog_writes.table_write(table, as_options(additional_options))
        sink = DataSink(self, "s3", write.options, write.format, transformation_ctx)
        sink.setFormat(write.format, **write.format_options)
        sink.setCatalogInfo(*where)
        return sink.writeFrame(frame)

    def write_data_frame_from_catalog(
        self,
        frame: DataFrame,
        database: str | None = None,
        table_name: str | None = None,
        redshift_tmp_dir: str = "",
        transformation_ctx: str = "",
        additional_options: Mapping[str, Any] = {},
        catalog_id: str | None = None,
        **kwargs: Any,
    ) -> None:
        """Write a DataFrame to a table of the catalog; with `useSparkDataSink`, by Spark's own writer."""
        options = as_options(additional_options)
        if not catalog_writes.wants_spark(options):
            ours = {name: value for name, value in options.items() if name != catalog_writes.SPARK_SINK}
            self.write_dynamic_frame_from_catalog(
                frame, database, table_name, redshift_tmp_dir, transformation_ctx, ours, catalog_id, **kwargs
            )
            return
        where = data_catalog.names(database, table_name, catalog_id, kwargs)
        table = lake_tables.lookup(self.spark_session, *where, options)
        if isinstance(table, LakeTarget):
            current_writer().append(frame, table.writable, table.options, transformation_ctx)
            return
        catalog_writes.write_by_spark(frame, table, options)

    def write_dynamic_frame_from_jdbc_conf(
        self,
        frame: DynamicFrame,
        catalog_connection: str,
        connection_options: Mapping[str, Any] = {},
        redshift_tmp_dir: str = "",
        transformation_ctx: str = "",
        catalog_id: str | None = None,
    ) -> None:
        """Write a frame to a table in the database of a connection."""
        options = _of_connection(connection_options, catalog_connection, redshift_tmp_dir)
        self.write_dynamic_frame_from_options(frame, "jdbc", options, transformation_ctx=transformation_ctx)

    def write_from_jdbc_conf(
        self,
        frame_or_dfc: DynamicFrame | DynamicFrameCollection,
        catalog_connection: str,
        connection_options: Mapping[str, Any] = {},
        redshift_tmp_dir: str = "",
        transformation_ctx: str = "",
        catalog_id: str | None = None,
    ) -> DynamicFrame | DynamicFrameCollection:
        """Write a frame, or each frame of a collection, to the table that the options name."""
        options = _of_connection(connection_options, catalog_connection, redshift_tmp_dir)
        return self.write_from_options(frame_or_dfc, "jdbc", options, transformation_ctx=transformation_ctx)

    def write_from_options(
        self,
        frame_or_dfc: DynamicFrame | DynamicFrameCollection,
        connection_type: str,
        connection_options: Mapping[str, Any] = {},
        format: str | Mapping[str, Any] = {},
        format_options: Mapping[str, Any] = {},
        transformation_ctx: str = "",
        **kwargs: Any,
    ) -> DynamicFrame | DynamicFrameCollection:
        """Write a frame; or write each frame of a collection to a folder of its own name below the path."""
        warn_ignored(_log, kwargs, _ARGUMENTS)
        name = format if isinstance(format, str) else None
        sink = DataSink(self, connection_type, as_options(connection_options), name, transformation_ctx)
        sink.setFormat(name or "", **as_options(format_options))
        return sink.write(frame_or_dfc)

    def empty_frame(self, name: str) -> DynamicFrame:
        """Return a frame without records and fields. Ours, not Glue's."""
        return DynamicFrame.fromDF(self.spark_session.createDataFrame([], StructType()), self, name)

    def getSource(
        self,
        connection_type: str,
        format: str | None = None,
        transformation_ctx: str = "",
        push_down_predicate: str = "",
        **options: Any,
    ) -> DataSource:
        """Return a source; the script then sets its format and gets its frame."""
        return DataSource(self, connection_type, format, transformation_ctx, push_down_predicate, options)

    def getStreamingSource(
        self,
        connection_type: str,
        format: str | None = None,
        transformation_ctx: str = "",
        push_down_predicate: str = "",
        **options: Any,
    ) -> StreamingDataSource:
        """Return a streaming source, from which the script then gets the frame."""
        return StreamingDataSource(self, connection_type, format, transformation_ctx, push_down_predicate, options)

    def getSink(
        self, connection_type: str, format: str | None = None, transformation_ctx: str = "", **options: Any
    ) -> DataSink:
        """Return a sink; the script then sets its format and writes frames to it."""
        return DataSink(self, connection_type, options, format, transformation_ctx)

    def forEachBatch(
        self,
        frame: DataFrame,
        batch_function: Callable[[DataFrame, int], Any],
        options: Mapping[str, Any] = {},
    ) -> None:
        """Run a function on every micro-batch of a stream (docs/glue 2). Return only when the job ends its streams."""
        streams = session.current()
        wanted = overridden(as_options(options), streams.batch_options)
        checkpoint = next((value for name, value in wanted.items() if name.lower() == "checkpointlocation"), None)
        with streams.thread_failures.watched(f"forEachBatch with the checkpoint {checkpoint}"):
            use_local_catalogs(self.spark_session)
            settings = StreamSettings.from_glue({"onBatchFailure": streams.on_batch_failure, **wanted})
            for_each_batch(frame, batch_function, settings, streams)

    def getSampleStreamingDynamicFrame(
        self,
        frame: DataFrame,
        options: Mapping[str, Any] = {},
        batch_function: Callable[[DataFrame, int], Any] | None = None,
    ) -> DynamicFrame:
        """Return some records of a stream, after `pollingTimeInMs` or as soon as there are `recordPollingLimit`."""
        settings = SampleSettings.from_glue(as_options(options))
        rows = sample(frame, settings, batch_function, session.current().clock)
        return DynamicFrame(row_pipeline(rows, None), self, "sample")

    def start_transaction(self, read_only: bool) -> str:
        """Return the id of a transaction of Lake Formation, which has no effect here: each write publishes at once."""
        _log.warning("transaction_ignored", reason=_NO_TRANSACTIONS)
        return uuid4().hex

    def commit_transaction(self, transaction_id: str, wait_for_commit: bool = True) -> bool:
        """Do nothing: what the transaction wrote is published already."""
        return True

    def cancel_transaction(self, transaction_id: str) -> None:
        """Warn that what was written stays."""
        _log.warning("transaction_not_cancelled", reason=_NO_TRANSACTIONS)

    def add_ingestion_time_columns(self, frame: DataFrame, time_granularity: str) -> DataFrame:
        """Append `ingest_year`, `ingest_month`, ... as zero-padded strings, down to day, hour or minute."""
        from pyspark.sql import functions as F  # noqa: N812, PLC0415

        parts = {"year": "yyyy", "month": "MM", "day": "dd", "hour": "HH", "minute": "mm"}
        names = list(parts)
        if time_granularity not in names[2:]:
            raise ValueError(f"time_granularity is {time_granularity!r}; use day, hour or minute")
        for name in names[: names.index(time_granularity) + 1]:
            frame = frame.withColumn(f"ingest_{name}", F.date_format(F.current_timestamp(), parts[name]))
        return frame

    def convert_resolve_option(self, path: str, action: str, target: str | None) -> tuple[str, str]:
        """Return an option of `toDF` as a spec of `resolveChoice`."""
        return as_spec(path, action, target)

    def extract_jdbc_conf(self, connection_name: str, catalog_id: str | None = None) -> dict[str, str]:
        """Return the address, user and password of a connection's database (docs/glue 1.3)."""
        return jdbc_connection(load().get(connection_name)).to_glue()

    def purge_table(
        self,
        database: str,
        table_name: str,
        options: Mapping[str, Any] = {},
        transformation_ctx: str = "",
        catalog_id: str | None = None,
    ) -> None:
        """Delete the files of a table that are older than `retentionPeriod` hours, and partitions that become empty."""
        catalog = data_catalog.current_catalog()
        given = PurgeOptions.from_glue(as_options(options))
        table = catalog.table(database, table_name)
        evaluator = PartitionSql(self.spark_session, types_of_keys(table))
        purge.purge_table(catalog, table, given, session.current().clock, uuid4().hex[:12], evaluator)

    def purge_s3_path(self, s3_path: str, options: Mapping[str, Any] = {}, transformation_ctx: str = "") -> None:
        """Delete the files below a path that are older than `retentionPeriod` hours."""
        given = PurgeOptions.from_glue(as_options(options))
        purge.purge_path(s3_path, given, session.current().clock, uuid4().hex[:12])

    def get_logger(self) -> GlueLogger:
        """Return the job's logger."""
        return GlueLogger()

    def currentTimeMillis(self) -> int:
        """Return the time in milliseconds since 1970 UTC."""
        return int(session.current().clock.epoch() * 1000)

    def __getattr__(self, name: str) -> Any:
        raise missing("GlueContext", name, GLUE_CONTEXT)


def _of_connection(options: Mapping[str, Any], connection: str, redshift_tmp_dir: str) -> dict[str, Any]:
    """Return the options of a write to the database of a connection."""
    return {**_staged_in(redshift_tmp_dir), **as_options(options), "connectionName": connection}


def _staged_in(redshift_tmp_dir: str) -> dict[str, str]:
    """Return the option for the folder in which rows from and for Redshift are staged."""
    return {catalog_reads.TEMP_DIR: redshift_tmp_dir} if redshift_tmp_dir else {}


def _stream_name(options: Mapping[str, Any]) -> str:
    """Return what options call a stream, for messages."""
    by_lower = {name.lower(): str(value) for name, value in options.items()}
    return next((by_lower[name] for name in _STREAM_NAMES if name in by_lower), "")
