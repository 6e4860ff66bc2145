"""The facades through which a script reads, and the pipelines behind them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyspark.sql import DataFrame

from awsglue.declared import JSON
from awsglue.session_frames import with_each_name_once
from awsglue.unsupported import NotSupportedHere
from gluepot.connectors.contracts import StreamSource
from gluepot.connectors.streams.handover import Handover
from gluepot.core.errors import ConfigError
from gluepot.engine.pipeline import FrameInput, Pipeline, RangeInput, StickySchema
from gluepot.frames.magic import magic_format
from gluepot.streaming.query import session

if TYPE_CHECKING:
    from awsglue.context import GlueContext
    from awsglue.dynamicframe import DynamicFrame
    from gluepot.streaming.micro_batch.context import BatchContext


class DataFrameReader:
    """`glueContext.create_data_frame`."""

    def __init__(self, glue_context: GlueContext) -> None:
        self._glue_context = glue_context

    def from_options(self, *args: Any, **kwargs: Any) -> DataFrame:
        """Do what `GlueContext.create_data_frame_from_options` does."""
        return self._glue_context.create_data_frame_from_options(*args, **kwargs)

    def from_catalog(self, *args: Any, **kwargs: Any) -> DataFrame:
        """Do what `GlueContext.create_data_frame_from_catalog` does."""
        return self._glue_context.create_data_frame_from_catalog(*args, **kwargs)


class DynamicFrameReader:
    """`glueContext.create_dynamic_frame`."""

    def __init__(self, glue_context: GlueContext) -> None:
        self._glue_context = glue_context

    def from_options(self, *args: Any, **kwargs: Any) -> DynamicFrame:
        """Do what `GlueContext.create_dynamic_frame_from_options` does."""
        return self._glue_context.create_dynamic_frame_from_options(*args, **kwargs)

    def from_catalog(self, *args: Any, **kwargs: Any) -> DynamicFrame:
        """Do what `GlueContext.create_dynamic_frame_from_catalog` does."""
        return self._glue_context.create_dynamic_frame_from_catalog(*args, **kwargs)

    def from_rdd(
        self,
        data: Any,
        name: str,
        schema: Any = None,
        sampleRatio: float | None = None,
    ) -> DynamicFrame:
        """Do what `GlueContext.create_dynamic_frame_from_rdd` does."""
        return self._glue_context.create_dynamic_frame_from_rdd(data, name, schema, sampleRatio)


def batch_frame(source: StreamSource) -> Pipeline:
    """Return the pipeline of a bounded read. Its columns are those of the schema, or are inferred from JSON records."""
    shape = source.shape
    if shape.decoding is None and shape.classification not in JSON:
        raise NotSupportedHere(
            f"a bounded read of a stream with classification {shape.classification!r} and no schema",
            "Use json, or give a schema.",
        )
    source = source.in_folder(Handover.create().folder)
    ranges = tuple(source.bounded())
    session.current().read.update(source.admin.dataset(stream) for stream in {one.stream for one in ranges})
    added = tuple(shape.added.names)
    given = RangeInput(
        source.reading(),
        ranges,
        extras=added,
        declared=shape.declared,
        growing=shape.growing,
        on_malformed=shape.on_malformed,
        record_columns=shape.record_columns,
    )
    return Pipeline(given)


def row_pipeline(rows: DataFrame, batch: BatchContext | None) -> Pipeline:
    """Return the pipeline over a DataFrame; the JSON column of an `inferSchema` stream is decoded to its fields.

    Args:
        rows: of columns with the same name, the last counts.
        batch: the running batch, if the JSON documents are its records; then its stream learns their fields.

    Raises:
        ConfigError: the payload of the stream is not JSON, and has no schema.
    """
    rows = with_each_name_once(rows)
    magic = [(column, kind) for column in rows.columns if (kind := magic_format(column))]
    if not magic:
        return Pipeline(FrameInput(rows))
    column, kind = magic[0]
    if kind != "json":
        raise ConfigError(f"The column {column} holds {kind}; only json can be inferred: give the stream a schema.")
    if batch is None:
        return Pipeline(FrameInput(rows, column))
    known = StickySchema(batch.totals.schema.known)
    return batch.pipeline(FrameInput(rows, column, known, batch.source_name, batch.on_malformed, batch.distinct))
