"""`awsglue.dynamicframe`, as job scripts import it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from random import SystemRandom
from typing import TYPE_CHECKING, Any

import orjson
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql.pandas.types import to_arrow_schema

from awsglue.calls import Call, called
from awsglue.collection import DynamicFrameCollection
from awsglue.glue_schema import arrow_schema, glue_schema
from awsglue.gluetypes import StructType
from awsglue.lazy_frame import LazyFrame, same
from awsglue.readers import DynamicFrameReader, row_pipeline
from awsglue.resolving import ResolveOption
from awsglue.schema_tree import tree_text
from awsglue.session_frames import in_session
from awsglue.sinks import DynamicFrameWriter
from awsglue.spigot import write_sample
from awsglue.unboxing import box_format
from awsglue.visual.methods import VisualTransforms
from awsglue.writing import rejects_of_frame
from gluepot.core.logging import get_logger
from gluepot.engine import execute, shuffled_steps
from gluepot.engine.pipeline import FrameInput, Pipeline
from gluepot.engine.session_zone import session_zone
from gluepot.frames.schema.known_types import has_untyped
from gluepot.frames.time_zone import TimeZone
from gluepot.frames.transforms import (
    ApplyMapping,
    CompareRows,
    DropFields,
    DropNulls,
    ErrorRows,
    FilterRows,
    KnownTypes,
    MapRows,
    RenameField,
    ResolveChoice,
    SelectFields,
    SimplifyDdbJson,
    Stage,
    Step,
    Unbox,
    Unnest,
    UnnestDdbJson,
    casts_to,
    map_partition,
)
from gluepot.streaming.micro_batch.context import current_batch
from gluepot.streaming.micro_batch.frames import BatchFrame

if TYPE_CHECKING:
    from awsglue.context import GlueContext

__all__ = ["DynamicFrame", "DynamicFrameCollection", "DynamicFrameReader", "DynamicFrameWriter", "ResolveOption"]

_log = get_logger(__name__)


class DynamicFrame(VisualTransforms, LazyFrame):
    """A lazy set of self-describing records: only an action reads them, and it runs a chain of steps in one pass.

    Frames are made by `fromDF` and by the readers of `GlueContext`; scripts do not call the class. The attribute
    `pipeline` does not exist in Glue.
    """

    @classmethod
    def fromDF(cls, dataframe: DataFrame, glue_ctx: GlueContext, name: str = "") -> DynamicFrame:
        """Make a DynamicFrame from a DataFrame; the JSON column of an `inferSchema` stream is decoded to its fields.

        If the DataFrame is an unchanged batch of a stream, its records are read and decoded in the tasks of the write.
        Of columns with the same name, the last counts.
        """
        if isinstance(dataframe, BatchFrame) and (known := dataframe.pipeline()) is not None:
            return cls(known, glue_ctx, name)
        if not isinstance(dataframe, DataFrame):
            raise TypeError(f"fromDF takes a DataFrame, not {type(dataframe).__name__}")
        return cls(row_pipeline(dataframe, current_batch()), glue_ctx, name)

    def toDF(self, options: Sequence[ResolveOption] | None = None) -> DataFrame:
        """Return a DataFrame. A choice becomes a struct with one field per type, unless an option says otherwise.

        If the types are known only from the records, this reads all records once to learn the schema. Records of files
        are kept as Parquet meanwhile, so that they are decoded only once.
        """
        if options:
            resolve = self.glue_ctx.convert_resolve_option
            return self.resolveChoice([resolve(one.path, one.action, one.target) for one in options]).toDF()
        rows = self._rows()
        if self._row_frame is not None:
            execute.warn_untyped(self._row_frame.untyped_values)
        return rows

    def _rows(self) -> DataFrame:
        if (rows := self._read_rows()) is not None:
            return in_session(self._spark, rows)
        pipeline = self.pipeline.over_rows()
        if self._is_data_frame and isinstance(pipeline.input, FrameInput):
            return in_session(self._spark, pipeline.input.frame)
        rows = execute.to_frame(self._spark, pipeline, self._arrow_schema(), rejects_of_frame())
        return in_session(self._spark, rows)

    def rows_for(self, types: Callable[[], Mapping[str, pa.DataType]]) -> DataFrame:
        """Return the rows for a table, where an empty list has the type that the table knows. Ours, not Glue's.

        Args:
            types: asks the table for the types of its columns; called only if a value has no type.
        """
        rows = self._rows()
        if self._is_data_frame or not has_untyped(self._arrow_schema()):
            return rows
        return self.with_step(KnownTypes(types())).toDF()

    def schema(self) -> StructType:
        """Return the schema in Glue's types, including choices. Reads all records if the schema depends on them."""
        return glue_schema(self._arrow_schema())

    def with_frame_schema(self, schema: StructType) -> DynamicFrame:
        """Declare the schema, so that no record has to be read to find it, and return the frame."""
        self._schema_found, self._is_declared = arrow_schema(schema), True
        return self

    def printSchema(self) -> None:
        """Print the schema as a tree."""
        print(tree_text(self._arrow_schema()))

    def count(self) -> int:
        """Return the number of good records."""
        return execute.count(self._spark, self.pipeline)

    def show(self, num_rows: int = 20) -> None:
        """Print records as JSON lines."""
        for row in execute.take(self._spark, self.pipeline, num_rows):
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
        return self._then(FilterRows(f, self._zone()), called(transformation_ctx, info, stageThreshold, totalThreshold))

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
        return self._then(MapRows(f, self._zone()), called(transformation_ctx, info, stageThreshold, totalThreshold))

    def mapPartitions(
        self,
        f: Callable[[Iterator[Any]], Iterable[Any]],
        preservesPartitioning: bool = True,
        transformation_ctx: str = "",
        info: str = "",
        stageThreshold: int = 0,
        totalThreshold: int = 0,
    ) -> DynamicFrame:
        """Replace the records of each task by `f(records)`, which takes an iterator and returns an iterable."""
        zone = self._zone()
        change = lambda _, chunks: map_partition(f, chunks, zone)  # noqa: E731
        return self._moved(
            lambda: shuffled_steps.over_partitions(self._spark, self.pipeline, change),
            called(transformation_ctx, info, stageThreshold, totalThreshold),
        )

    def mapPartitionsWithIndex(
        self,
        f: Callable[[int, Iterator[Any]], Iterable[Any]],
        preservesPartitioning: bool = False,
        transformation_ctx: str = "",
        info: str = "",
        stageThreshold: int = 0,
        totalThreshold: int = 0,
    ) -> DynamicFrame:
        """Replace the records of each task by `f(index, records)`."""
        zone = self._zone()
        change = lambda index, chunks: map_partition(partial(f, index), chunks, zone)  # noqa: E731
        return self._moved(
            lambda: shuffled_steps.over_partitions(self._spark, self.pipeline, change),
            called(transformation_ctx, info, stageThreshold, totalThreshold),
        )

    def select_fields(
        self,
        paths: str | Sequence[str],
        transformation_ctx: str = "",
        info: str = "",
        stageThreshold: int = 0,
        totalThreshold: int = 0,
    ) -> DynamicFrame:
        """Keep only the given fields."""
        return self._then(SelectFields(_paths(paths)), called(transformation_ctx, info, stageThreshold, totalThreshold))

    def drop_fields(
        self,
        paths: str | Sequence[str],
        transformation_ctx: str = "",
        info: str = "",
        stageThreshold: int = 0,
        totalThreshold: int = 0,
    ) -> DynamicFrame:
        """Remove the given fields."""
        return self._then(DropFields(_paths(paths)), called(transformation_ctx, info, stageThreshold, totalThreshold))

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
        return self._then(
            RenameField(oldName, newName), called(transformation_ctx, info, stageThreshold, totalThreshold)
        )

    def split_fields(
        self,
        paths: str | Sequence[str],
        name1: str,
        name2: str,
        transformation_ctx: str = "",
        info: str = "",
        stageThreshold: int = 0,
        totalThreshold: int = 0,
    ) -> DynamicFrameCollection:
        """Return one frame with the given fields and one with all others."""
        call = called(transformation_ctx, info, stageThreshold, totalThreshold)
        steps: dict[str, Step] = {name1: SelectFields(_paths(paths)), name2: DropFields(_paths(paths))}
        return self._split(steps, call)

    def split_rows(
        self,
        comparison_dict: Mapping[str, Mapping[str, Any]],
        name1: str,
        name2: str,
        transformation_ctx: str = "",
        info: str = "",
        stageThreshold: int = 0,
        totalThreshold: int = 0,
    ) -> DynamicFrameCollection:
        """Return a frame of the records that fulfil all comparisons, `{path: {operator: value}}`, and the others."""
        call = called(transformation_ctx, info, stageThreshold, totalThreshold)
        zone = self._zone()
        steps = {
            name1: CompareRows(comparison_dict, zone=zone),
            name2: CompareRows(comparison_dict, fulfilled=False, zone=zone),
        }
        return self._split(steps, call)

    def apply_mapping(
        self,
        mappings: Sequence[tuple[str, ...]],
        case_sensitive: bool = False,
        transformation_ctx: str = "",
        info: str = "",
        stageThreshold: int = 0,
        totalThreshold: int = 0,
    ) -> DynamicFrame:
        """Choose, rename, move and cast fields (docs/glue 6.3)."""
        step = ApplyMapping(tuple(mappings), case_sensitive, self._zone())
        if step.repeated_targets:
            hint = "the last mapping to each of them is used; give the others another target"
            _log.warning("target_mapped_twice", targets=step.repeated_targets, hint=hint)
        return self._then(step, called(transformation_ctx, info, stageThreshold, totalThreshold))

    def applyMapping(self, *args: Any, **kwargs: Any) -> DynamicFrame:
        """Do what `apply_mapping` does."""
        return self.apply_mapping(*args, **kwargs)

    def resolveChoice(
        self,
        specs: Sequence[tuple[str, str]] | None = None,
        choice: str = "",
        database: str | None = None,
        table_name: str | None = None,
        transformation_ctx: str = "",
        info: str = "",
        stageThreshold: int = 0,
        totalThreshold: int = 0,
        catalog_id: str | None = None,
    ) -> DynamicFrame:
        """Convert fields with several types to one type, or to one column for each type (docs/glue 6.4).

        Glue takes either `specs` or `choice`. Here both may be given; then `choice` is for all fields without a spec.

        Raises:
            ValueError: neither is given.
        """
        asked = self._asked(specs, choice, database, table_name, catalog_id)
        call = called(transformation_ctx, info, stageThreshold, totalThreshold)

        def resolved() -> Pipeline:
            schema = self._arrow_schema() if asked.needs_schema else None
            return self.pipeline.then(Stage(asked.bound(schema), call.callsite))

        return self._derived(resolved, call)

    def unbox(
        self,
        path: str,
        format: str,
        transformation_ctx: str = "",
        info: str = "",
        stageThreshold: int = 0,
        totalThreshold: int = 0,
        **options: Any,
    ) -> DynamicFrame:
        """Parse the text of a field, and replace it by the document that it contains."""
        return self._then(
            Unbox(path, box_format(format, options)), called(transformation_ctx, info, stageThreshold, totalThreshold)
        )

    def unnest(
        self,
        transformation_ctx: str = "",
        info: str = "",
        stageThreshold: int = 0,
        totalThreshold: int = 0,
    ) -> DynamicFrame:
        """Move the fields of structs to the top level of the record, with dotted names."""
        return self._then(Unnest(), called(transformation_ctx, info, stageThreshold, totalThreshold))

    def unnest_ddb_json(
        self,
        transformation_ctx: str = "",
        info: str = "",
        stageThreshold: int = 0,
        totalThreshold: int = 0,
    ) -> DynamicFrame:
        """Replace DynamoDB's typed values by plain values, and turn the entries of maps into fields."""
        return self._then(UnnestDdbJson(), called(transformation_ctx, info, stageThreshold, totalThreshold))

    def simplify_ddb_json(self) -> DynamicFrame:
        """Replace DynamoDB's typed values by plain values, at any depth."""
        return self._then(SimplifyDdbJson(), called("", "", 0, 0))

    def relationalize(
        self,
        root_table_name: str,
        staging_path: str | None,
        options: Mapping[str, Any] = {},
        transformation_ctx: str = "",
        info: str = "",
        stageThreshold: int = 0,
        totalThreshold: int = 0,
    ) -> DynamicFrameCollection:
        """Return the records as flat tables that can be joined: a root table and one for each array (docs/glue 6.6).

        Reads all records at once. The tables are kept in Spark's storage, not below `staging_path`.
        """
        call = called(transformation_ctx, info, stageThreshold, totalThreshold)
        tables = shuffled_steps.relationalize(self._spark, self.pipeline, root_table_name)
        frames = {name: self._moved(partial(same, table), call, name) for name, table in tables.items()}
        return DynamicFrameCollection(frames, self.glue_ctx)

    def join(
        self,
        paths1: str | Sequence[str],
        paths2: str | Sequence[str],
        frame2: DynamicFrame,
        transformation_ctx: str = "",
        info: str = "",
        stageThreshold: int = 0,
        totalThreshold: int = 0,
    ) -> DynamicFrame:
        """Join on equal keys. A field of the right side whose name is also on the left gets a leading dot: `.id`."""
        sides = partial(self._side, paths1), partial(frame2._side, paths2)
        joined = lambda: shuffled_steps.join(self._spark, *(side() for side in sides))  # noqa: E731
        return self._moved(
            joined, called(transformation_ctx, info, stageThreshold, totalThreshold), f"{self.name}{frame2.name}"
        )

    def union(
        self,
        other_frame: DynamicFrame,
        transformation_ctx: str = "",
        info: str = "",
        stageThreshold: int = 0,
        totalThreshold: int = 0,
    ) -> DynamicFrame:
        """Return the records of both frames."""
        return self._moved(
            lambda: shuffled_steps.union(self._spark, self.pipeline, other_frame.pipeline),
            called(transformation_ctx, info, stageThreshold, totalThreshold),
        )

    def mergeDynamicFrame(
        self,
        stage_dynamic_frame: DynamicFrame,
        primary_keys: str | Sequence[str],
        transformation_ctx: str = "",
        options: Mapping[str, Any] = {},
        info: str = "",
        stageThreshold: int = 0,
        totalThreshold: int = 0,
    ) -> DynamicFrame:
        """Merge a staging frame: its records replace those with equal keys, and the others are added (6.7)."""
        sides = [partial(frame._side, primary_keys) for frame in (self, stage_dynamic_frame)]  # noqa: SLF001
        merged = lambda: shuffled_steps.merge(self._spark, *(side() for side in sides))  # noqa: E731
        return self._moved(merged, called(transformation_ctx, info, stageThreshold, totalThreshold))

    def spigot(
        self,
        path: str,
        options: Mapping[str, Any] = {},
        transformation_ctx: str = "",
        info: str = "",
        stageThreshold: int = 0,
        totalThreshold: int = 0,
    ) -> DynamicFrame:
        """Immediately write a sample of the records as JSON lines below a path, and return the frame."""
        name = f"run-{self.glue_ctx.currentTimeMillis()}-{transformation_ctx or 'spigot'}.json"
        write_sample(self._spark, self.pipeline, path, name, options, SystemRandom())
        return self

    def coalesce(
        self,
        num_partitions: int,
        shuffle: bool = False,
        transformation_ctx: str = "",
        info: str = "",
        stageThreshold: int = 0,
        totalThreshold: int = 0,
    ) -> DynamicFrame:
        """Return the records in at most `num_partitions` tasks."""
        move = shuffled_steps.repartition if shuffle else shuffled_steps.coalesce
        return self._moved(
            lambda: move(self._spark, self.pipeline, num_partitions),
            called(transformation_ctx, info, stageThreshold, totalThreshold),
        )

    def repartition(
        self,
        num_partitions: int,
        transformation_ctx: str = "",
        info: str = "",
        stageThreshold: int = 0,
        totalThreshold: int = 0,
    ) -> DynamicFrame:
        """Return the records spread evenly over `num_partitions` tasks."""
        return self._moved(
            lambda: shuffled_steps.repartition(self._spark, self.pipeline, num_partitions),
            called(transformation_ctx, info, stageThreshold, totalThreshold),
        )

    def drop_null_fields(self, call: Call) -> DynamicFrame:
        """Remove fields whose type is null; in Glue, only the transform DropNullFields does this."""
        return self._then(DropNulls(), call)

    def with_step(self, step: Step) -> DynamicFrame:
        """Return the frame with one more step of another package's, such as `awsglueml`. Ours, not Glue's."""
        return self._then(step, called("", "", 0, 0))

    def getNumPartitions(self) -> int:
        """Return the number of tasks that the records are spread over."""
        return shuffled_steps.partitions_of(self._spark, self.pipeline)

    def errorsAsDynamicFrame(self) -> DynamicFrame:
        """Return the records that failed in a transform, each as a struct `error` (docs/glue 6.5)."""
        return self._derived(lambda: self._unchecked().then(ErrorRows()), called("", "", 0, 0))

    def write(
        self,
        connection_type: str,
        connection_options: Mapping[str, Any] = {},
        format: str | None = None,
        format_options: Mapping[str, Any] = {},
        accumulator_size: int = 0,
    ) -> DynamicFrame:
        """Write the frame; see `GlueContext.write_dynamic_frame`."""
        return self.glue_ctx.write_dynamic_frame_from_options(
            self, connection_type, connection_options, format, format_options
        )

    if not TYPE_CHECKING:  # a type checker would take every name for an attribute

        def __getattr__(self, name: str) -> Any:
            hint = ""
            if not name.startswith("_") and hasattr(DataFrame, name):
                hint = "; a DataFrame has it: call toDF() first"
            raise AttributeError(f"'DynamicFrame' object has no attribute {name!r}{hint}")

    def _then(self, step: Step, call: Call) -> DynamicFrame:
        return self._derived(lambda: self.pipeline.then(Stage(step, call.callsite)), call)

    @property
    def _is_data_frame(self) -> bool:
        """Whether the records are the rows of a DataFrame as they are."""
        pipeline = self.pipeline.over_rows()
        return isinstance(pipeline.input, FrameInput) and pipeline.input.json_column is None and not pipeline.steps

    def _split(self, steps: Mapping[str, Step], call: Call) -> DynamicFrameCollection:
        frames = {name: self._then(step, replace(call, ctx=name)) for name, step in steps.items()}
        return DynamicFrameCollection(frames, self.glue_ctx)

    def _derived(self, make: Callable[[], Pipeline], call: Call) -> DynamicFrame:
        return DynamicFrame(make, self.glue_ctx, call.ctx or self.name, call, own_steps=1)

    def _moved(self, make: Callable[[], Pipeline], call: Call, name: str = "") -> DynamicFrame:
        return DynamicFrame(make, self.glue_ctx, name or call.ctx or self.name, call, own_steps=0)

    def _zone(self) -> TimeZone:
        return session_zone(self._spark)

    def _side(self, keys: str | Sequence[str]) -> shuffled_steps.Side:
        return shuffled_steps.Side(self.pipeline.over_rows(), self._arrow_schema(), _paths(keys), rejects_of_frame())

    def _asked(
        self,
        specs: Sequence[tuple[str, str]] | None,
        choice: str,
        database: str | None,
        table_name: str | None,
        catalog_id: str | None,
    ) -> ResolveChoice:
        if not specs and not choice:
            raise ValueError("Parameter specs and option are both missing, add one.")  # Glue's own words
        if choice.strip().lower() != "match_catalog":
            return ResolveChoice(tuple(specs or ()), choice, self._zone())
        table = self.glue_ctx.get_catalog_schema_as_spark_schema(database, table_name, catalog_id)
        return ResolveChoice((*casts_to(to_arrow_schema(table)), *(specs or ())), zone=self._zone())


def _paths(paths: str | Sequence[str]) -> tuple[str, ...]:
    return (paths,) if isinstance(paths, str) else tuple(paths)
