"""Reading: the facades a script calls, and the frames behind them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from awsglue.unsupported import NotSupportedHere
from batch.pipeline import Pipeline, RangeInput
from connectors.kafka.settings import KafkaReadSettings
from connectors.kafka.shape import arrow_schema, payload_column
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
        """Say that the catalog is not there yet."""
        raise NotSupportedHere("create_data_frame.from_catalog", "Use from_options with the topic's name.")


class DynamicFrameReader:
    """`glueContext.create_dynamic_frame`."""

    def __init__(self, glue_context: GlueContext) -> None:
        self._glue_context = glue_context

    def from_options(self, *args: Any, **kwargs: Any) -> DynamicFrame:
        """Do what `GlueContext.create_dynamic_frame_from_options` does."""
        return self._glue_context.create_dynamic_frame_from_options(*args, **kwargs)

    def from_catalog(self, *args: Any, **kwargs: Any) -> DynamicFrame:
        """Say that the catalog is not there yet."""
        raise NotSupportedHere("create_dynamic_frame.from_catalog")

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

    With a schema the payload is parsed by Spark, as in Glue; without one it stays in its one column.
    """
    payload, _ = payload_column(settings)
    extras = tuple(arrow_schema(settings).names[1:])
    json_column = payload if settings.infer_schema else None
    frame = new_stream(spark, KafkaSource(settings), json_column, extras)
    if not settings.schema:
        return frame
    match settings.classification:
        case "" | "json":
            parsed = F.from_json(F.col(payload).cast("string"), settings.schema)
        case "csv":
            parsed = F.from_csv(F.col(payload).cast("string"), settings.schema, {"sep": settings.delimiter})
        case other:
            raise NotSupportedHere(f"a Kafka stream with a schema and classification {other!r}", "Use json or csv.")
    return frame.select(parsed.alias(payload), *extras).select(f"{payload}.*", *extras)


def batch_frame(settings: KafkaReadSettings) -> Pipeline:
    """Return the pipeline of a bounded read of JSON records."""
    if settings.classification not in {"", "json"}:
        raise NotSupportedHere(f"a Kafka read with classification {settings.classification!r}", "Use json.")
    source = KafkaSource(settings)
    return Pipeline(RangeInput(source, tuple(source.bounded()), extras=tuple(arrow_schema(settings).names[1:])))
