"""The base of DynamicFrame: a pipeline that is built when it is needed, with its schema and its errors."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.pandas.types import to_arrow_schema

from awsglue.calls import Call
from awsglue.writing import rejects_of_frame
from gluepot.bookmarks import jobrun
from gluepot.engine import execute, row_frames
from gluepot.engine.execute import ErrorCounts
from gluepot.engine.pipeline import FrameInput, PackedInput, Pipeline, RowsInFiles, SplitInput
from gluepot.frames.transforms import known_schema

if TYPE_CHECKING:
    from awsglue.context import GlueContext

READ = Call()


class LazyFrame:
    """Records that are read when an action needs them.

    Args:
        pipeline: the frame's pipeline, or a function that returns it when it is first needed.
        glue_ctx: the context.
        name: the frame's name, for people and in collections.
        call: the transform that made the frame.
        own_steps: how many steps of the pipeline belong to that transform; None if the frame was made by a read.
    """

    def __init__(
        self,
        pipeline: Pipeline | Callable[[], Pipeline],
        glue_ctx: GlueContext,
        name: str = "",
        call: Call = READ,
        own_steps: int | None = None,
    ) -> None:
        self._make = partial(same, pipeline) if isinstance(pipeline, Pipeline) else pipeline
        self._made: Pipeline | None = None
        self._passed = not call.limits_errors
        self._schema_found: pa.Schema | None = None
        self._is_declared = False
        self._row_frame: RowsInFiles | None = None
        self._call = call
        self._own_steps = own_steps
        self.glue_ctx = glue_ctx
        self.name = name

    @property
    def pipeline(self) -> Pipeline:
        """The frame's pipeline, after a check that errors stay within the thresholds, which takes a pass of its own."""
        if not self._passed:
            self.assertErrorThreshold()
            self._passed = True
        return self._unchecked()

    def _unchecked(self) -> Pipeline:
        if self._made is None:
            self._made = self._make()
        return self._made

    @property
    def _spark(self) -> SparkSession:
        return self.glue_ctx.spark_session

    def _arrow_schema(self) -> pa.Schema:
        if self._schema_found is None:
            schema = self._static_schema()
            if schema is None:
                schema = execute.schema_of(self._spark, self.pipeline.over_known())
                self._remember(schema)
            self._schema_found = schema
        return self._schema_found

    def _remember(self, schema: pa.Schema) -> None:
        """Note the columns of a read with a bookmark, for a later run that finds nothing new."""
        given, run = self.pipeline.input, jobrun.current()
        if self.pipeline.steps or not isinstance(given, SplitInput) or not given.bookmark:
            return
        if run is not None and run.bookmarks is not None:
            run.bookmarks.learned(given.bookmark, schema)

    def _read_rows(self) -> DataFrame | None:
        """Return the rows if reading them is needed to find the schema; the first call reads them, into files.

        Returns:
            None if the schema is known otherwise, or if the rows cannot be read from files.
        """
        pipeline = self.pipeline
        if self._is_declared or not row_frames.is_for(self._spark):
            return None
        if pipeline.kept is not None:
            found = self._row_frame or pipeline.kept.row_frame(pipeline.steps)
        elif isinstance(pipeline.input, SplitInput) and self._static_schema() is None:
            found = self._row_frame or row_frames.read_into_files(self._spark, pipeline, rejects_of_frame())
        else:
            return None
        self._row_frame = found
        if found is None:
            return None
        self._schema_found = found.schema
        self._remember(found.schema)
        return found.to_frame(self._spark)

    def known_schema(self) -> pa.Schema | None:
        """Return the schema if it is known without reading records. Ours, not Glue's."""
        return self._schema_found if self._schema_found is not None else self._static_schema()

    def _static_schema(self) -> pa.Schema | None:
        """Return the schema if it follows from the input and the steps; None if it depends on the records."""
        pipeline = self.pipeline.over_known()
        match pipeline.input:
            case FrameInput(frame, None):
                rows = to_arrow_schema(frame.schema)
            case SplitInput(schema=schema):
                rows = schema
            case PackedInput(schema=schema) if not pipeline.steps:
                return schema
            case _:
                rows = None
        return known_schema(pipeline.steps, rows)

    def errorsCount(self) -> int:
        """Return how many records failed in the transform that made this frame, and in all before it."""
        return self._errors().total

    def stageErrorsCount(self) -> int:
        """Return how many records failed in the transform that made this frame."""
        return self._errors().stage

    def assertErrorThreshold(self) -> None:
        """Count the errors.

        Raises:
            PermanentError: there are more errors than the transform's thresholds allow.
        """
        if self._call.limits_errors:
            self._call.check(self._errors())

    def _errors(self) -> ErrorCounts:
        return execute.count_errors(self._spark, self._unchecked(), self._own_steps)


def same(pipeline: Pipeline) -> Pipeline:
    """Return the pipeline itself, for places that take a function which returns a pipeline."""
    return pipeline
