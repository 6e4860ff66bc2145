"""Keeps the records of a batch in files or in Spark's storage, so that they are read and decoded only once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import reduce
from threading import Lock
from typing import TYPE_CHECKING

import pyarrow as pa

from gluepot.engine import row_folders, row_frames
from gluepot.engine.execute import through_spark
from gluepot.engine.pipeline import FrameInput, PackedInput, Pipeline, RangeInput, SplitInput, names_of
from gluepot.engine.rejects import Rejects
from gluepot.engine.row_frames import RowFrame
from gluepot.frames.chunk import Chunk
from gluepot.frames.packing import pack
from gluepot.frames.schema import merge_schemas, observed, unmarked
from gluepot.frames.transforms import Step

if TYPE_CHECKING:
    from pyspark import StorageLevel
    from pyspark.sql import DataFrame, Row, SparkSession

_TOLD_AND_CHUNKS = "schema binary, records bigint, chunk binary"


class KeptRecords:
    """Records as rows in files (`row_frames`), or where that is not possible as chunks; read at the first use.

    If an executor is lost, Spark reads the records of its chunks again.

    The types of inferred fields are known only after all records have been decoded, and each action on a DataFrame
    would decode them again; a MERGE, for example, reads its source twice. Chunks need no common schema, so one pass
    both finds the schema and keeps the chunks. Spark then knows their size, by which it chooses joins.

    Args:
        spark: the session.
        given: where the records come from.
        level: where Spark keeps the chunks.
        rejects: keeps the error records of rows in files; chunks hold their own.
    """

    def __init__(
        self, spark: SparkSession, given: RangeInput | FrameInput, level: StorageLevel, rejects: Rejects
    ) -> None:
        self._spark, self._given, self._rejects = spark, given, rejects
        self._level: StorageLevel | None = level
        self._reading = Lock()  # a function may write its tables from threads
        self._kept: DataFrame | None = None
        self._input: PackedInput | SplitInput | None = None
        self._row_frame: RowFrame | None = None
        self._made_of_them: list[RowFrame] = []
        self._records = 0
        self._is_used = False

    @property
    def is_read(self) -> bool:
        """Whether the records have been read."""
        return self._input is not None

    @property
    def is_used(self) -> bool:
        """Whether `input` has been called."""
        return self._is_used

    def input(self) -> PackedInput | SplitInput:
        """Return the records with their merged schema. The first call reads them.

        Raises:
            Exception: the Spark job failed.
        """
        self._is_used = True
        return self._read()

    def row_frame(self, steps: Sequence[Step]) -> RowFrame | None:
        """Return the records after some steps as rows in files; None if they are not kept in files.

        The files go when `release` was called and no DataFrame reads them any more.

        Raises:
            Exception: the Spark job failed.
        """
        given = self.input()
        if self._row_frame is None or not steps:
            return self._row_frame
        made = row_frames.read_into_files(
            self._spark,
            Pipeline(given, tuple(steps)),
            self._rejects.of_frame(),
            in_memory=self._in_memory,
            source=next(iter(names_of(self._given)), None),
        )
        self._made_of_them.append(made)
        return made

    def count(self) -> int:
        """Return the number of records, including broken ones. Reads them if they have not been read yet.

        Raises:
            Exception: the Spark job failed.
        """
        self._read()
        return self._records

    @property
    def _in_memory(self) -> bool:
        return self._level is not None and self._level.useMemory

    def _read(self) -> PackedInput | SplitInput:
        with self._reading:
            if self._input is None and self._level is not None and row_frames.is_for(self._spark):
                found = row_frames.read_into_files(
                    self._spark, Pipeline(self._given), self._rejects.of_frame(), in_memory=self._in_memory
                )
                # Files lack values without a type, to which the table that is written may give one; chunks have them.
                if found.rows is not None and not found.untyped_values:
                    self._row_frame, self._input, self._records = found, found.rows, found.records
                elif found.rows is not None:
                    found.release()
            if self._input is None:
                kept = through_spark(self._spark, Pipeline(self._given), _told_and_packed, _TOLD_AND_CHUNKS)
                if self._level is not None:
                    kept.persist(self._level)
                self._kept = kept
                told = _collected(kept)
                schemas = (pa.ipc.read_schema(pa.py_buffer(row.schema)) for row in told if row.schema is not None)
                self._records = sum(row.records for row in told)
                schema = unmarked(reduce(merge_schemas, schemas, pa.schema([])))
                self._input = PackedInput(kept.select("chunk"), schema, names_of(self._given))
            return self._input

    def release(self) -> None:
        """Let go of the records. A DataFrame that is used after that keeps its files, or reads the records again."""
        with self._reading:
            if self._kept is not None:
                self._kept.unpersist()
            self._level = None
            made, self._made_of_them = self._made_of_them, []
            if self._row_frame is not None:
                made.append(self._row_frame)
                self._row_frame = self._input = None
        while made:
            made.pop().release()
        row_folders.sweep()


def _collected(kept: DataFrame) -> list[Row]:
    """Return schemas and record counts. If reading fails, drop the chunks that Spark has kept so far."""
    try:
        return kept.select("schema", "records").collect()
    except BaseException:
        kept.unpersist()
        raise


def _told_and_packed(chunks: Iterator[Chunk]) -> Iterator[pa.RecordBatch]:
    """Yield each chunk, packed, with its number of records, and with its schema if the chunk before had another one."""
    told: pa.Schema | None = None
    for chunk in chunks:
        schema = observed(chunk.batch)
        is_new = told is None or not schema.equals(told, check_metadata=True)
        told = schema
        columns = {
            "schema": pa.array([schema.serialize().to_pybytes() if is_new else None], pa.binary()),
            "records": pa.array([chunk.batch.num_rows + len(chunk.errors)], pa.int64()),
            "chunk": pa.array([pack(chunk)], pa.binary()),
        }
        yield pa.RecordBatch.from_pydict(columns)
