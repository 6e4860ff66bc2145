"""`awsglue.dynamicframe`, as job scripts import it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import orjson
from pyspark.sql import DataFrame
from pyspark.sql.pandas.types import from_arrow_schema, to_arrow_schema
from pyspark.sql.types import StructType

from awsglue.readers import DynamicFrameReader
from awsglue.schema_tree import tree_text
from awsglue.sinks import DynamicFrameWriter
from awsglue.unsupported import DYNAMIC_FRAME, NotSupportedHere, missing
from batch import execute
from batch.pipeline import FrameInput, Pipeline
from dynamicframe.magic import magic_format
from dynamicframe.transforms import (
    ApplyMapping,
    DropFields,
    FilterRows,
    MapRows,
    RenameField,
    SelectFields,
    Step,
    output_schema,
)
from etlcore.errors import ConfigError
from streaming.batch import current_batch
from streaming.frames import BatchFrame

if TYPE_CHECKING:
    import pyarrow as pa

    from awsglue.context import GlueContext

__all__ = ["DynamicFrame", "DynamicFrameCollection", "DynamicFrameReader", "DynamicFrameWriter", "ResolveOption"]


class DynamicFrame:
    """Self-describing records, lazy: nothing is read before an action, and a chain of steps is one pass.

    Made by `fromDF` and by the readers of `GlueContext`, never by calling the class. `pipeline` is ours, not Glue's.
    """

    def __init__(self, pipeline: Pipeline, glue_ctx: GlueContext, name: str = "") -> None:
        self.pipeline = pipeline
        self._schema_found: pa.Schema | None = None
        self.glue_ctx = glue_ctx
        self.name = name

    @classmethod
    def fromDF(cls, dataframe: DataFrame, glue_ctx: GlueContext, name: str = "") -> DynamicFrame:
        """Make a DynamicFrame of a DataFrame; the JSON column of an `inferSchema` stream becomes its fields.

        The untouched batch of a stream is read where it is decoded, in the tasks of the write.
        """
        if isinstance(dataframe, BatchFrame) and (known := dataframe.pipeline()) is not None:
            return cls(known, glue_ctx, name)
        if not isinstance(dataframe, DataFrame):
            raise TypeError(f"fromDF takes a DataFrame, not {type(dataframe).__name__}")
        magic = [(column, held) for column in dataframe.columns if (held := magic_format(column))]
        if not magic:
            return cls(Pipeline(FrameInput(dataframe)), glue_ctx, name)
        column, held = magic[0]
        if held != "json":
            raise ConfigError(f"The column {column} holds {held}; only json can be inferred: give the stream a schema.")
        batch = current_batch()
        return cls(Pipeline(FrameInput(dataframe, column, batch.schema.known if batch else None)), glue_ctx, name)

    def toDF(self, options: Sequence[object] | None = None) -> DataFrame:
        """Return a DataFrame. A choice becomes a struct with one field per type.

        Where types are only known from the records, all of them are read once to learn the schema.
        """
        if options:
            raise missing("DynamicFrame", "toDF(options)", frozenset({"toDF(options)"}))
        pipeline = self.pipeline.over_rows()
        given = pipeline.input
        if isinstance(given, FrameInput) and given.json_column is None and not pipeline.steps:
            return given.frame
        return execute.to_frame(self.glue_ctx.spark_session, pipeline, self._arrow_schema())

    def _arrow_schema(self) -> pa.Schema:
        if self._schema_found is None:
            self._schema_found = self._static_schema() or execute.schema_of(self.glue_ctx.spark_session, self.pipeline)
        return self._schema_found

    def _static_schema(self) -> pa.Schema | None:
        """Return the schema where it follows from the DataFrame's; None where records decide."""
        given = self.pipeline.over_rows().input
        if not isinstance(given, FrameInput) or given.json_column is not None:
            return None
        if any(isinstance(step, MapRows) for step in self.pipeline.steps):
            return None
        return output_schema(self.pipeline.steps, to_arrow_schema(given.frame.schema))

    def schema(self) -> StructType:
        """Return the schema in Spark's types."""
        return from_arrow_schema(execute.storable(self._arrow_schema()))

    def printSchema(self) -> None:
        """Print the schema as a tree."""
        print(tree_text(self._arrow_schema()))

    def count(self) -> int:
        """Return the number of good records."""
        return execute.count(self.glue_ctx.spark_session, self.pipeline)

    def show(self, num_rows: int = 20) -> None:
        """Print records as JSON lines."""
        for row in execute.take(self.glue_ctx.spark_session, self.pipeline, num_rows):
            print(orjson.dumps(row, default=str).decode())

    def filter(
        self,
        f: Callable[[Any], Any],
        transformation_ctx: str = "",
        info: str = "",
        stageThreshold: int = 0,
        totalThreshold: int = 0,
    ) -> DynamicFrame:
        """Keep the records for which `f(record)` is true."""
        return self._then(FilterRows(f), transformation_ctx)

    def map(
        self,
        f: Callable[[Any], Any],
        preservesPartitioning: bool = False,
        transformation_ctx: str = "",
        info: str = "",
        stageThreshold: int = 0,
        totalThreshold: int = 0,
    ) -> DynamicFrame:
        """Replace each record by `f(record)`."""
        return self._then(MapRows(f), transformation_ctx)

    def select_fields(
        self,
        paths: str | Sequence[str],
        transformation_ctx: str = "",
        info: str = "",
        stageThreshold: int = 0,
        totalThreshold: int = 0,
    ) -> DynamicFrame:
        """Keep these fields."""
        return self._then(SelectFields(_paths(paths)), transformation_ctx)

    def drop_fields(
        self,
        paths: str | Sequence[str],
        transformation_ctx: str = "",
        info: str = "",
        stageThreshold: int = 0,
        totalThreshold: int = 0,
    ) -> DynamicFrame:
        """Remove these fields."""
        return self._then(DropFields(_paths(paths)), transformation_ctx)

    def rename_field(
        self,
        oldName: str,
        newName: str,
        transformation_ctx: str = "",
        info: str = "",
        stageThreshold: int = 0,
        totalThreshold: int = 0,
    ) -> DynamicFrame:
        """Rename a field; dots lead into structs, backquotes protect them."""
        return self._then(RenameField(oldName, newName), transformation_ctx)

    def apply_mapping(
        self,
        mappings: Sequence[tuple[str, ...]],
        case_sensitive: bool = False,
        transformation_ctx: str = "",
        info: str = "",
        stageThreshold: int = 0,
        totalThreshold: int = 0,
    ) -> DynamicFrame:
        """Choose, rename, move and cast fields (glue-api 6.3)."""
        return self._then(ApplyMapping(tuple(mappings), case_sensitive), transformation_ctx)

    def applyMapping(self, *args: Any, **kwargs: Any) -> DynamicFrame:
        """Do what `apply_mapping` does."""
        return self.apply_mapping(*args, **kwargs)

    def write(
        self,
        connection_type: str,
        connection_options: dict[str, Any] | None = None,
        format: str | None = None,
        format_options: dict[str, Any] | None = None,
        accumulator_size: int = 0,
    ) -> DynamicFrame:
        """Write the frame; see `GlueContext.write_dynamic_frame`."""
        return self.glue_ctx.write_dynamic_frame_from_options(
            self,
            connection_type,
            connection_options or {},
            format,
            format_options or {},
        )

    def _then(self, step: Step, transformation_ctx: str) -> DynamicFrame:
        return DynamicFrame(self.pipeline.then(step), self.glue_ctx, transformation_ctx or self.name)

    def __getattr__(self, name: str) -> Any:
        raise missing("DynamicFrame", name, DYNAMIC_FRAME)


def _paths(paths: str | Sequence[str]) -> tuple[str, ...]:
    return (paths,) if isinstance(paths, str) else tuple(paths)


class DynamicFrameCollection:
    """Several frames by name: generated scripts import it for annotations; making one is not supported yet."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        raise NotSupportedHere("awsglue.dynamicframe.DynamicFrameCollection")


class ResolveOption:
    """How `toDF` resolves a choice; not supported yet."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        raise NotSupportedHere("awsglue.dynamicframe.ResolveOption")
