"""The sources that `getSource` and `getStreamingSource` return (docs/glue 1.1)."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from pyspark.sql import DataFrame

from awsglue.unsupported import NotSupportedHere
from gluepot.connectors.registry import connector, types_that

if TYPE_CHECKING:
    from awsglue.context import GlueContext
    from awsglue.dynamicframe import DynamicFrame


class _Source:
    """The arguments of one read."""

    def __init__(
        self,
        glue_context: GlueContext,
        connection_type: str,
        format: str | None,
        transformation_ctx: str,
        push_down_predicate: str,
        options: Mapping[str, Any],
    ) -> None:
        self._glue_context = glue_context
        self._connection_type = connection_type
        self._format = format
        self._format_options: Mapping[str, Any] = {}
        self._ctx = transformation_ctx
        self._predicate = push_down_predicate
        self._options = options

    def setFormat(self, format: str, **options: Any) -> None:
        """Set the format of the records and its options."""
        self._format, self._format_options = format, options

    def _arguments(self) -> tuple[str, Mapping[str, Any], str | None, Mapping[str, Any], str, str]:
        return (
            self._connection_type,
            self._options,
            self._format,
            self._format_options,
            self._ctx,
            self._predicate,
        )


class DataSource(_Source):
    """A bounded source."""

    def getFrame(self, **options: Any) -> DynamicFrame:
        """Return its records. `minPartitions` and `targetPartitions` are accepted and ignored."""
        frame = self._glue_context.create_dynamic_frame_from_options(*self._arguments())
        frame.name = frame_name(self._options.get("paths"))
        return frame

    def getSampleFrame(self, num: int, **options: Any) -> DynamicFrame:
        """Return at most `num` of its records."""
        frame = self.getFrame()
        return type(frame).fromDF(frame.toDF().limit(num), self._glue_context, frame.name)

    def getDataFrame(self) -> DataFrame:
        """Return its records as a DataFrame."""
        return self.getFrame().toDF()


class StreamingDataSource(_Source):
    """A stream."""

    def getFrame(self) -> DataFrame:
        """Return the streaming DataFrame.

        Raises:
            NotSupportedHere: the connection type is no stream.
        """
        if not connector(self._connection_type).reads_rows:
            raise NotSupportedHere(
                f"getStreamingSource(connection_type={self._connection_type!r})",
                f"Use one of {types_that(lambda one: one.reads_rows)}.",
            )
        return self._glue_context.create_data_frame_from_options(*self._arguments())


def frame_name(paths: Any) -> str:
    """Return the name that Glue gives a frame: the common prefix of its paths, without `:`, `/` and `.`."""
    if not paths:
        return str(uuid4()).replace("-", "_")
    # As in Glue, the common prefix is one of letters, not of whole folders.
    common = os.path.commonprefix([paths] if isinstance(paths, str) else list(paths))  # noqa: RUF071
    return common.translate(str.maketrans("", "", ":/."))
