"""The facades through which a script writes, and the choice of the sink behind them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from awsglue import lake_tables
from awsglue.catalog_writes import catalog_entry
from awsglue.collection import DynamicFrameCollection
from awsglue.jdbc_connection import write_settings
from awsglue.options import document_target, record_sink
from awsglue.unsupported import NotSupportedHere
from awsglue.writing import current_writer
from gluepot.connectors.contracts import RecordSink
from gluepot.connectors.documents.sink import DocumentTarget
from gluepot.connectors.jdbc.target import JdbcWriteSettings
from gluepot.connectors.options import warn_ignored
from gluepot.connectors.registry import SINKS, Access, connector, types_that
from gluepot.core.errors import ConfigError, did_you_mean
from gluepot.core.logging import get_logger
from gluepot.engine.file_target import FileTarget
from gluepot.engine.session_zone import session_zone
from gluepot.streaming.query import session

if TYPE_CHECKING:
    from awsglue.context import GlueContext
    from awsglue.dynamicframe import DynamicFrame

KNOWN_OPTIONS = (
    "path",
    "partitionKeys",
    "compression",
    "rejectsPath",
    "enableUpdateCatalog",
    "databaseName",
    "tableName",
    "updateBehavior",
    "useFrameName",
)

log = get_logger(__name__)


def file_target(
    connection_type: str,
    options: Mapping[str, Any],
    format: str | None,
    format_options: Mapping[str, Any],
) -> FileTarget:
    """Check the options that a script gives for a target.

    Raises:
        NotSupported: the target is not a folder of files.
        ConfigError: the path or format is missing or unknown.
    """
    if connector(connection_type).writes is not Access.FILES:
        raise NotSupportedHere(
            f"writing to connection_type {connection_type!r}",
            f"Use one of {types_that(lambda one: one.writes)}; 's3' is also for a local folder.",
        )
    warn_ignored(log, options, KNOWN_OPTIONS)
    path = str(options.get("path") or "")
    if not path:
        raise ConfigError(
            "The sink has no path; give connection_options={'path': 's3://bucket/folder'} or a local folder."
        )
    name = (format or "").lower()
    if name not in SINKS:
        raise ConfigError(
            f"The format is {format!r}; use one of {', '.join(sorted(SINKS))}.{did_you_mean(name, SINKS)}"
        )
    if "compression" in options:
        format_options = {"compression": options["compression"], **format_options}
    return FileTarget(path, name, format_options, _keys(options.get("partitionKeys", ())), options.get("rejectsPath"))


def _keys(given: object) -> tuple[str, ...]:
    if isinstance(given, str):
        return tuple(key.strip() for key in given.strip("[]").split(",") if key.strip())
    if isinstance(given, Sequence):
        return tuple(map(str, given))
    raise ConfigError(f"partitionKeys is {given!r}; use a list of column names.")


class DataSink:
    """The sink that `getSink` returns: the script sets its format and writes frames to it."""

    def __init__(
        self,
        glue_context: GlueContext,
        connection_type: str,
        options: Mapping[str, Any],
        format: str | None,
        transformation_ctx: str,
    ) -> None:
        self._glue_context = glue_context
        self._connection_type = connection_type
        self._options = dict(options)
        self._format = format
        self._format_options: dict[str, Any] = {}
        self._ctx = transformation_ctx
        self._table: tuple[str, str] | None = None

    def setFormat(self, format: str, **options: Any) -> None:
        """Set the file format and its options."""
        self._format = format
        self._format_options = options

    def setAccumulableSize(self, size: int) -> None:
        """Accept Glue's tuning option, which has no effect here."""

    def setCatalogInfo(self, catalogDatabase: str, catalogTableName: str, catalogId: str = "") -> None:
        """Set the table of the catalog that `enableUpdateCatalog` updates."""
        self._table = (catalogDatabase, catalogTableName)

    def writeFrame(self, dynamic_frame: DynamicFrame, info: str = "") -> DynamicFrame:
        """Write a frame."""
        target: FileTarget | JdbcWriteSettings | DocumentTarget | RecordSink
        writes = connector(self._connection_type).writes
        if writes is Access.LAKE:
            of_lake = lake_tables.of_options(self._connection_type, self._options)
            rows = dynamic_frame.rows_for(lambda: of_lake.types(dynamic_frame.glue_ctx.spark_session))
            current_writer().append(rows, of_lake.writable, of_lake.options, self._ctx)
            return dynamic_frame
        if writes is Access.RECORDS:
            target = record_sink(self._connection_type, self._options)
        elif writes is Access.DOCUMENTS:
            target = document_target(self._connection_type, self._options)
        elif writes is Access.DATABASE:
            target = write_settings(self._options)
        else:
            target = file_target(self._connection_type, self._options, self._format, self._format_options)
            zone = session_zone(self._glue_context.spark_session)
            entry = catalog_entry(target, self._options, self._table)
            target = replace(target, catalog=entry, zone=zone, is_strict=session.current().is_strict)
        current_writer().write(self._glue_context.spark_session, dynamic_frame.pipeline, target, self._ctx)
        return dynamic_frame

    def write(
        self, dynamic_frame_or_dfc: DynamicFrame | DynamicFrameCollection, info: str = ""
    ) -> DynamicFrame | DynamicFrameCollection:
        """Write a frame; or write each frame of a collection to a folder or table of its own name.

        Raises:
            TypeError: the argument is neither a frame nor a collection.
        """
        if isinstance(dynamic_frame_or_dfc, DynamicFrameCollection):
            for name, frame in dynamic_frame_or_dfc.items():
                self._below(name).writeFrame(frame, info)
            return dynamic_frame_or_dfc
        if not hasattr(dynamic_frame_or_dfc, "pipeline"):
            raise TypeError(f"a {type(dynamic_frame_or_dfc).__name__} cannot be written; give a DynamicFrame.")
        return self.writeFrame(dynamic_frame_or_dfc, info)

    def _below(self, name: str) -> DataSink:
        if connector(self._connection_type).writes is Access.DATABASE:
            options = {**self._options, "dbtable": name}
        else:
            options = {**self._options, "path": f"{str(self._options.get('path', '')).rstrip('/')}/{name}"}
        ctx = f"{self._ctx}_{name}" if self._ctx else ""
        sink = DataSink(self._glue_context, self._connection_type, options, self._format, ctx)
        sink.setFormat(self._format or "", **self._format_options)
        return sink


class DynamicFrameWriter:
    """`glueContext.write_dynamic_frame`."""

    def __init__(self, glue_context: GlueContext) -> None:
        self._glue_context = glue_context

    def from_options(self, *args: Any, **kwargs: Any) -> DynamicFrame:
        """Do what `GlueContext.write_dynamic_frame_from_options` does."""
        return self._glue_context.write_dynamic_frame_from_options(*args, **kwargs)

    def from_catalog(self, *args: Any, **kwargs: Any) -> DynamicFrame:
        """Do what `GlueContext.write_dynamic_frame_from_catalog` does."""
        return self._glue_context.write_dynamic_frame_from_catalog(*args, **kwargs)

    def from_jdbc_conf(self, *args: Any, **kwargs: Any) -> None:
        """Do what `GlueContext.write_dynamic_frame_from_jdbc_conf` does."""
        self._glue_context.write_dynamic_frame_from_jdbc_conf(*args, **kwargs)


class DataFrameWriter:
    """`glueContext.write_data_frame`."""

    def __init__(self, glue_context: GlueContext) -> None:
        self._glue_context = glue_context

    def from_catalog(self, *args: Any, **kwargs: Any) -> None:
        """Do what `GlueContext.write_data_frame_from_catalog` does."""
        self._glue_context.write_data_frame_from_catalog(*args, **kwargs)
