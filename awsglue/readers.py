"""Reading: the facades a script calls, and the frames behind them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyspark.sql import DataFrame, SparkSession

from awsglue.declared import JSON, declared_payload
from awsglue.unsupported import NotSupportedHere
from batch.pipeline import Pipeline, RangeInput
from connectors.kafka.settings import KafkaReadSettings
from connectors.kafka.shape import added_columns, payload_column
from connectors.kafka.source import KafkaSource
from streaming.frames import new_stream

if TYPE_CHECKING:
    from awsglue.context import GlueContext
    from awsglue.dynamicframe import DynamicFrame


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


def stream_frame(spark: SparkSession, settings: KafkaReadSettings) -> DataFrame:
    """Return the streaming DataFrame Glue would give (glue-api 3.5).

    With a schema the payload is decoded into its columns; without one it stays in one column.
    """
    payload, _ = payload_column(settings)
    source = KafkaSource(settings, declared_payload(settings), settings.api_timeout_secs)
    return new_stream(spark, source, payload if settings.infer_schema else None, added_columns(settings))


def batch_frame(settings: KafkaReadSettings) -> Pipeline:
    """Return the pipeline of a bounded read: with a schema of its columns, without one of what JSON records tell."""
    declared = declared_payload(settings)
    if declared is None and settings.classification not in JSON:
        raise NotSupportedHere(
            f"a Kafka read with classification {settings.classification!r} and no schema", "Use json, or give a schema."
        )
    source = KafkaSource(settings, declared, settings.api_timeout_secs)
    return Pipeline(
        RangeInput(source, tuple(source.bounded()), extras=added_columns(settings), declared=source.declared)
    )
