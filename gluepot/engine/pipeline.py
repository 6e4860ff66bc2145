"""The pipeline behind a DynamicFrame: an input and the steps after it. Pipelines are plain values, cheap to extend."""

from __future__ import annotations

import hashlib
import pickle
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol
from uuid import uuid4

import pyarrow as pa

from gluepot.connectors.contracts import BatchSource, InputSplit, StreamReading
from gluepot.connectors.values import SourceRange
from gluepot.core.on_malformed import OnMalformed
from gluepot.engine.account import SourceName
from gluepot.frames.declared import DeclaredPayload, GrowingPayload
from gluepot.frames.transforms import Step, calls_user_code

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


_UNIQUE = "once:"


@dataclass(frozen=True, slots=True)
class StickySchema:
    """The columns that a running stream has seen in its records. Decoding a batch begins with them, and adds to them.

    Only the records of a stream's own batch are an input with this. A batch function may also read files, tables and
    other streams; the stream must not learn their columns.

    Args:
        known: the columns that earlier batches had; None in the first batch.
    """

    known: pa.Schema | None = None


@dataclass(frozen=True, slots=True)
class RangeInput:
    """Records of a stream. The task that decodes them also reads them.

    Args:
        reading: how tasks read a range.
        ranges: in order; `gluepot.engine.task_ranges` divides them among tasks.
        sticky: what the running stream knows of its columns; None if these are not the records of its batch. Unused if
            `declared` is given.
        extras: columns that the source adds beside the payload, in this order.
        declared: format and columns that the script declares; None for JSON whose columns are inferred.
        on_driver: whether the driver reads the records itself, because they are few; see `gluepot.engine.on_driver`.
        growing: how records tell their columns if they are not JSON; None otherwise.
        name: of the source, in the account of records; None if it is not counted there.
        on_malformed: what happens to records that cannot be read as rows.
        record_columns: those of `extras` whose names no field of a record may have, each with what it holds.
    """

    reading: StreamReading
    ranges: tuple[SourceRange, ...]
    sticky: StickySchema | None = None
    extras: tuple[str, ...] = ()
    declared: DeclaredPayload | None = None
    on_driver: bool = False
    growing: GrowingPayload | None = None
    name: SourceName | None = None
    on_malformed: OnMalformed = OnMalformed.KEEP
    record_columns: tuple[tuple[str, str], ...] = ()

    @property
    def distinct(self) -> tuple[str, ...]:
        """The names of `record_columns`."""
        return tuple(name for name, _ in self.record_columns)


@dataclass(frozen=True, slots=True)
class SplitInput:
    """Records of a bounded source that decodes what it reads, such as files.

    Args:
        source: reads a split in the worker.
        splits: one task reads each split.
        schema: the schema of all records, if the source knows it beforehand; None if it is inferred from the records.
        bookmark: the name of the bookmark that will say that exactly these splits were read; empty for none.
        name: as in `RangeInput`.
        on_malformed: as in `RangeInput`.
    """

    source: BatchSource[Any]
    splits: tuple[InputSplit, ...]
    schema: pa.Schema | None = None
    bookmark: str = ""
    name: SourceName | None = None
    on_malformed: OnMalformed = OnMalformed.KEEP


@dataclass(frozen=True, slots=True)
class FrameInput:
    """Rows of a Spark DataFrame; their partitions are the tasks.

    Args:
        frame: any DataFrame.
        json_column: a column of JSON texts whose fields become columns; None to take the frame as it is.
        sticky: what the running stream knows of the columns of its JSON documents; None if these are not the records
            of its batch.
        name: as in `RangeInput`.
        on_malformed: as in `RangeInput`.
        distinct: columns of the frame whose names no field of a document may have.
    """

    frame: DataFrame
    json_column: str | None = None
    sticky: StickySchema | None = None
    name: SourceName | None = None
    on_malformed: OnMalformed = OnMalformed.KEEP
    distinct: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PackedInput:
    """Chunks in a Spark DataFrame, each with its own schema, choices and errors.

    Args:
        frame: has one binary column with a packed chunk in each row; its partitions are the tasks.
        schema: the merged schema of all chunks, if it is known; None if it must be found from the chunks.
        names: of the sources whose records these are.
    """

    frame: DataFrame
    schema: pa.Schema | None = None
    names: frozenset[SourceName] = frozenset()


def names_of(given: RangeInput | SplitInput | FrameInput | PackedInput) -> frozenset[SourceName]:
    """Return the names of the sources that an input reads."""
    if isinstance(given, PackedInput):
        return given.names
    return frozenset() if given.name is None else frozenset([given.name])


class RowsInFiles(Protocol):
    """Records that were read, with their schema, and whose rows are in files."""

    @property
    def schema(self) -> pa.Schema:
        """The schema of all records, with columns that cannot be stored."""

    @property
    def untyped_values(self) -> Mapping[str, int]:
        """How many values are in no file because they have no type, by column."""

    def to_frame(self, spark: SparkSession) -> DataFrame | None:
        """Return the good records as a DataFrame; None if they must be read again for it."""


class Kept(Protocol):
    """The records of an input, decoded once for everything that uses them as rows."""

    @property
    def is_read(self) -> bool:
        """Whether the records have been read."""

    @property
    def is_used(self) -> bool:
        """Whether `input` has been called."""

    def input(self) -> PackedInput | SplitInput:
        """Return the records as chunks. The first call reads them."""

    def row_frame(self, steps: Sequence[Step]) -> RowsInFiles | None:
        """Return the records after some steps as rows in files; None if they are not kept in files."""

    def count(self) -> int:
        """Return the number of records, including broken ones. Reads them if they have not been read yet."""


@dataclass(frozen=True, slots=True)
class Pipeline:
    """An input and the chunk-to-chunk steps after it. Running it takes one pass over the data.

    Args:
        input: where the records come from.
        steps: in order.
        rows: the same records as a Spark DataFrame, used where a DataFrame is wanted; None if only the input has them.
        kept: the same records as chunks that are decoded once; None if every use reads the input.
    """

    input: RangeInput | SplitInput | FrameInput | PackedInput
    steps: tuple[Step, ...] = ()
    rows: DataFrame | None = None
    kept: Kept | None = None

    def then(self, step: Step) -> Pipeline:
        """Return the pipeline with one more step."""
        return replace(self, steps=(*self.steps, step))

    def over_rows(self) -> Pipeline:
        """Return the pipeline that starts from `kept`, else from `rows`, else this pipeline."""
        if self.kept is not None:
            return Pipeline(self.kept.input(), self.steps)
        return self if self.rows is None else Pipeline(FrameInput(self.rows), self.steps)

    def over_known(self) -> Pipeline:
        """Return what `over_rows` does, unless it would have to read the kept records; then return this pipeline."""
        return self if self.kept is not None and not self.kept.is_read else self.over_rows()


def work_of(pipeline: Pipeline, target: object) -> str:
    """Return text that is equal only for two writes that make the same rows from the same input.

    A retry whose work is equal may leave in place what an earlier attempt has published. If a function of the script
    or Spark makes the rows, we cannot know what it does, so the text then differs from all others.

    Args:
        pipeline: gives the records.
        target: the sink or its settings; equal ones are pickled to equal bytes.
    """
    match pipeline.input:
        case RangeInput(extras=extras, declared=declared, growing=growing) if not any(
            map(calls_user_code, pipeline.steps)
        ):
            how: object = (extras, declared, growing)
        case SplitInput(source=source) if not any(map(calls_user_code, pipeline.steps)):
            how = source
        case _:
            return unique_work()
    if isinstance(pipeline.input, RangeInput) and pipeline.input.record_columns:
        how = (how, pipeline.input.record_columns)
    if pipeline.input.on_malformed is not OnMalformed.KEEP:
        how = (how, pipeline.input.on_malformed)
    return hashlib.sha256(pickle.dumps((how, pipeline.steps, target))).hexdigest()


def unique_work() -> str:
    """Return text that differs from that of every other write, so that no retry takes the write for one of its own."""
    return f"{_UNIQUE}{uuid4().hex}"


def is_unique(work: str) -> bool:
    """Tell whether a text is from `unique_work`: nobody knows whether another write made the same rows."""
    return work.startswith(_UNIQUE)
