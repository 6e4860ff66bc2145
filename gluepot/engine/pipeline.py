"""What a DynamicFrame stands for: an input and the steps on the way out of it. Plain values, cheap to extend."""

from __future__ import annotations

import hashlib
import pickle
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol
from uuid import uuid4

import pyarrow as pa

from gluepot.connectors.ports import BatchSource, InputSplit, SourceRange, StreamSource
from gluepot.frames.declared import DeclaredPayload
from gluepot.frames.transforms import Step, calls_user_code

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


@dataclass(frozen=True, slots=True)
class RangeInput:
    """Records of a stream, read where they are decoded: in the task.

    Args:
        source: reads a range in the worker.
        ranges: in order; how they make tasks is told by `gluepot.engine.task_ranges`.
        sticky: schema of the stream as known so far; None at first, and of no use where one is declared.
        extras: columns the source adds beside the payload, in this order.
        declared: format and columns the script declares; None for JSON whose records tell them.
        on_driver: whether so few records are read where the script runs; see `gluepot.engine.on_driver`.
    """

    source: StreamSource
    ranges: tuple[SourceRange, ...]
    sticky: pa.Schema | None = None
    extras: tuple[str, ...] = ()
    declared: DeclaredPayload | None = None
    on_driver: bool = False


@dataclass(frozen=True, slots=True)
class SplitInput:
    """Records of a bounded source that decodes what it reads, such as files.

    Args:
        source: reads a split in the worker.
        splits: one task each.
        schema: of every record, where the source knows it beforehand; None where the records tell.
    """

    source: BatchSource[Any]
    splits: tuple[InputSplit, ...]
    schema: pa.Schema | None = None


@dataclass(frozen=True, slots=True)
class FrameInput:
    """Rows of a Spark DataFrame; their partitions are the tasks.

    Args:
        frame: any DataFrame.
        json_column: a column of JSON texts to expand into columns of their own; None for a frame taken as it is.
        sticky: schema of the documents as known so far.
    """

    frame: DataFrame
    json_column: str | None = None
    sticky: pa.Schema | None = None


@dataclass(frozen=True, slots=True)
class PackedInput:
    """Chunks on their way through Spark, with their own schemas, choices and errors.

    Args:
        frame: one binary column, a packed chunk a row; its partitions are the tasks.
        schema: of all chunks together, where it is known; None where the chunks tell.
    """

    frame: DataFrame
    schema: pa.Schema | None = None


class Kept(Protocol):
    """The records of an input, decoded once for all who want rows of them."""

    @property
    def is_read(self) -> bool:
        """Whether the records have been read."""

    @property
    def is_used(self) -> bool:
        """Whether somebody has asked for them."""

    def input(self) -> PackedInput:
        """Return them; the first call reads."""

    def count(self) -> int:
        """Return how many there are, broken ones included; reads them if nobody has."""


@dataclass(frozen=True, slots=True)
class Pipeline:
    """An input and the chunk-to-chunk steps after it; one pass over the data when it runs.

    Args:
        input: where the records come from.
        steps: in order.
        rows: the same records as rows of Spark, for who wants a DataFrame of them; None where only the input has them.
        kept: the same records as chunks that are decoded once; None where each who asks reads the input.
    """

    input: RangeInput | SplitInput | FrameInput | PackedInput
    steps: tuple[Step, ...] = ()
    rows: DataFrame | None = None
    kept: Kept | None = None

    def then(self, step: Step) -> Pipeline:
        """Return the pipeline with one more step."""
        return replace(self, steps=(*self.steps, step))

    def over_rows(self) -> Pipeline:
        """Return the pipeline that starts from the rows, or from chunks that are kept for them, if there are any."""
        if self.kept is not None:
            return Pipeline(self.kept.input(), self.steps)
        return self if self.rows is None else Pipeline(FrameInput(self.rows), self.steps)

    def over_known(self) -> Pipeline:
        """Do what `over_rows` does where that reads no record; elsewhere return the pipeline as it is."""
        return self if self.kept is not None and not self.kept.is_read else self.over_rows()


def work_of(pipeline: Pipeline, target: object) -> str:
    """Return text that is equal only for two writes that make the same rows of the same input.

    A retry whose work is equal may leave what an earlier attempt has published where it is. Where a function of the
    script, or Spark, makes the rows, nothing here can tell what it does, so each such text differs from all others.

    Args:
        pipeline: what is written.
        target: the sink or its settings; equal ones are pickled to equal bytes.
    """
    match pipeline.input:
        case RangeInput(extras=extras, declared=declared) if not any(map(calls_user_code, pipeline.steps)):
            how: object = (extras, declared)
        case SplitInput(source=source) if not any(map(calls_user_code, pipeline.steps)):
            how = source
        case _:
            return f"once:{uuid4().hex}"
    return hashlib.sha256(pickle.dumps((how, pipeline.steps, target))).hexdigest()
