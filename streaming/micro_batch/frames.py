"""The two frames of a streaming script: the stream that it opens, and the micro-batch that its function gets.

Both are real DataFrames. Every DataFrame operation returns a plain DataFrame, so the class shows whether the script
passes a stream to `forEachBatch` unchanged. The micro-batches of such a stream know their offset ranges, and become
Spark rows only if the function needs rows.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from threading import Lock
from typing import Any, Self

from pyspark import StorageLevel
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.classic.dataframe import DataFrame as ClassicDataFrame

from gluepot.connectors.contracts import StreamSource
from gluepot.connectors.streams import datasource as adapter
from gluepot.connectors.streams.handover import OPTION, Handover
from gluepot.connectors.streams.python_sources import register, rows_of, stream_of
from gluepot.connectors.values import SourceRange
from gluepot.engine import execute
from gluepot.engine.cached_records import KeptRecords
from gluepot.engine.pipeline import Pipeline, RangeInput
from gluepot.engine.rejects import Rejects
from gluepot.frames.magic import magic_format
from gluepot.streaming.count_ahead.emptiness import is_compared_with_zero
from gluepot.streaming.settings import StreamSettings


class StreamFrame(ClassicDataFrame):
    """A streaming DataFrame read by one of our sources.

    Args:
        frame: the DataFrame of `spark.readStream`.
        source: the source that it reads.
        handover: the folder that its planner watches.
        json_column: the column of JSON texts that fromDF expands; None if the frame has none.

    Attributes:
        is_used: whether a query has begun to read the stream.
    """

    def __new__(cls, *_: Any) -> Self:  # noqa: D102
        return object.__new__(cls)

    def __init__(self, frame: DataFrame, source: StreamSource, handover: Handover, json_column: str | None) -> None:
        super().__init__(frame._jdf, frame.sparkSession)  # noqa: SLF001  the only way into a classic DataFrame
        self.source = source
        self.handover = handover
        self.json_column = json_column
        self.extras = tuple(source.shape.added.names)
        self.is_used = False

    def batch(self, spark: SparkSession, ranges: Sequence[SourceRange], rejects_root: str | None = None) -> DataFrame:
        """Return the rows of some ranges of the stream, in the stream's columns, without reading them yet.

        Args:
            spark: the session.
            ranges: the ranges to read; each becomes one partition.
            rejects_root: where to keep records that a declared schema cannot decode; None if that was done already.
        """
        register(spark, adapter.StreamDataSource)
        options = {
            adapter.SOURCE_OPTION: adapter.to_option(self.source),
            adapter.RANGES_OPTION: adapter.ranges_option(ranges),
        }
        if rejects_root is not None:
            options[adapter.REJECTS_OPTION] = rejects_root
        return rows_of(spark, adapter.StreamDataSource, options)


class BatchFrame(ClassicDataFrame):
    """One micro-batch of a `StreamFrame`, lazy: it becomes Spark rows on the first operation that needs them.

    Args:
        frame: the DataFrame that Spark made for the batch; nothing has been read from it yet.
        batch_input: the ranges of the batch.
        json_column: the stream's `json_column`.
        storage_level: where Spark caches the rows; None to read them again for each action.
        rejects: keeps the records that cannot become rows.
        rows: makes the DataFrame of the ranges if they are only a part of what `frame` reads. Called when an operation
            first needs rows.
        counted: number of records in the ranges, if known.
        count_otherwise: returns the number of records of a pipeline over the ranges; None if it has no better way
            than reading them all.
        answers_emptiness_checks: whether a count that is only compared with 0 reads nothing; otherwise such a count
            reads and caches the records for later operations.
    """

    def __new__(cls, *_: Any, **__: Any) -> Self:  # noqa: D102
        return object.__new__(cls)

    def __init__(
        self,
        frame: DataFrame,
        batch_input: RangeInput,
        json_column: str | None,
        storage_level: StorageLevel | None,
        rejects: Rejects,
        rows: Callable[[], DataFrame] | None = None,
        counted: int | None = None,
        count_otherwise: Callable[[Pipeline], int | None] = lambda _: None,
        *,
        answers_emptiness_checks: bool = False,
    ) -> None:
        self._frame = frame
        self._rows = rows
        self._session = frame.sparkSession
        self._storage_level = storage_level
        self._persisted = False
        self._making = Lock()  # a function may use the batch in several threads
        self._counted = counted if batch_input.declared is None else None
        self._count_otherwise = count_otherwise
        # The function is never called with an empty batch. But a part of a batch may be empty, and records that cannot
        # be decoded into declared columns do not become rows.
        self._is_never_empty = rows is None and batch_input.declared is None
        self._answers_emptiness_checks = answers_emptiness_checks and self._is_never_empty
        self._kept = KeptRecords(frame.sparkSession, batch_input, storage_level, rejects) if storage_level else None
        self.batch_input = batch_input
        self.json_column = json_column
        self.rows_read = False
        # The attributes that ClassicDataFrame.__init__ sets, except for _jdf.
        self._sc = frame.sparkSession.sparkContext
        self._support_repr_html = False
        self.is_cached = False

    @property
    def _jdf(self) -> Any:
        self.rows_read = True
        with self._making:
            if self._rows is not None:
                self._frame, self._rows = self._rows(), None
            if self._storage_level is not None and not self._persisted:
                self._frame.persist(self._storage_level)
                self._persisted = True
            return self._frame._jdf  # noqa: SLF001

    @property
    def schema(self) -> Any:
        """The schema, without reading a record."""
        return self._frame.schema

    def count(self) -> int:
        """Count the rows in the workers; no payload becomes a Spark row.

        Every record is a row, except for records that cannot be decoded into declared columns. If the caller only asks
        whether there is a row, as in `count() > 0`, this may count nothing and return some number above 0.
        """
        caller = getattr(inspect.currentframe(), "f_back", None)
        if self._counted is None and self._answers_emptiness_checks and is_compared_with_zero(caller):
            return 1
        if self._counted is None and self.batch_input.declared is not None:
            self._counted = execute.count(self.sparkSession, Pipeline(self.batch_input))
        if self._counted is None and (batch := self.pipeline()) is not None:
            self._counted = self._count_otherwise(batch)
        if self._counted is None:
            self._counted = execute.count_raw(self.sparkSession, self.batch_input)
        return self._counted

    def isEmpty(self) -> bool:  # noqa: N802
        """Tell whether the batch has no rows."""
        return not (self._is_never_empty or self.count())

    def pipeline(self) -> Pipeline | None:
        """Return the batch as a pipeline over its ranges; None if payloads are not decoded and so have no fields."""
        if self.batch_input.declared is not None:
            return Pipeline(self.batch_input, rows=self)
        return Pipeline(self.batch_input, kept=self._kept) if self.json_column else None

    def release(self) -> None:
        """Drop the cached rows and chunks."""
        if self._kept is not None:
            self._kept.release()
        if self._persisted:
            self._frame.unpersist()
            self._persisted = False


# All opened streams by handover folder. With it we trace a transformed frame back to the streams that it reads.
opened_streams: dict[str, StreamFrame] = {}


def kept_at(settings: StreamSettings) -> StorageLevel | None:
    """Return where Spark caches a batch while its function runs; None if it does not."""
    if not settings.persist:
        return None
    level = getattr(StorageLevel, settings.storage_level)
    assert isinstance(level, StorageLevel)
    return level


def new_stream(spark: SparkSession, source: StreamSource) -> StreamFrame:
    """Make the streaming DataFrame of a source, with the columns Glue would give (docs/glue 3.5).

    With a schema the payload is decoded into its columns; without one it stays in one column.
    """
    shape = source.shape
    json_column = shape.payload.name if shape.declared is None and magic_format(shape.payload.name) else None
    execute.start_workers(spark)
    handover = Handover.create()
    source = source.in_folder(handover.folder)
    register(spark, adapter.StreamDataSource)
    options = {adapter.SOURCE_OPTION: adapter.to_option(source), OPTION: str(handover.folder)}
    stream = StreamFrame(stream_of(spark, adapter.StreamDataSource, options), source, handover, json_column)
    opened_streams[str(handover.folder)] = stream
    return stream
