"""Keeps the records of a batch as chunks in Spark's storage, so that they are read and decoded only once."""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce
from threading import Lock
from typing import TYPE_CHECKING

import pyarrow as pa

from gluepot.engine.execute import through_spark
from gluepot.engine.pipeline import FrameInput, PackedInput, Pipeline, RangeInput
from gluepot.frames.chunk import Chunk
from gluepot.frames.packing import pack
from gluepot.frames.schema import merge_schemas

if TYPE_CHECKING:
    from pyspark import StorageLevel
    from pyspark.sql import DataFrame, Row, SparkSession

_TOLD_AND_CHUNKS = "schema binary, records bigint, chunk binary"


class KeptRecords:
    """Records as chunks, read at the first use. If an executor is lost, Spark reads its records again.

    The types of inferred fields are known only after all records have been decoded, and each action on a DataFrame
    would decode them again; a MERGE, for example, reads its source twice. Chunks need no common schema, so one pass
    both finds the schema and keeps the chunks. Spark then knows their size, by which it chooses joins.

    Args:
        spark: the session.
        given: where the records come from.
        level: where Spark keeps the chunks.
    """

    def __init__(self, spark: SparkSession, given: RangeInput | FrameInput, level: StorageLevel) -> None:
        self._spark, self._given = spark, given
        self._level: StorageLevel | None = level
        self._reading = Lock()  # a function may write its tables from threads
        self._kept: DataFrame | None = None
        self._input: PackedInput | None = None
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

    def input(self) -> PackedInput:
        """Return the chunks with their merged schema. The first call reads the records.

        Raises:
            Exception: the Spark job failed.
        """
        self._is_used = True
        return self._read()

    def count(self) -> int:
        """Return the number of records, including broken ones. Reads them if they have not been read yet.

        Raises:
            Exception: the Spark job failed.
        """
        self._read()
        return self._records

    def _read(self) -> PackedInput:
        with self._reading:
            if self._input is None:
                kept = through_spark(self._spark, Pipeline(self._given), _told_and_packed, _TOLD_AND_CHUNKS)
                if self._level is not None:
                    kept.persist(self._level)
                self._kept = kept
                told = _collected(kept)
                schemas = (pa.ipc.read_schema(pa.py_buffer(row.schema)) for row in told if row.schema is not None)
                self._records = sum(row.records for row in told)
                self._input = PackedInput(kept.select("chunk"), reduce(merge_schemas, schemas, pa.schema([])))
            return self._input

    def release(self) -> None:
        """Let Spark drop the chunks. A DataFrame that is used after that reads the records again."""
        with self._reading:
            if self._kept is not None:
                self._kept.unpersist()
            self._level = None


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
        schema = chunk.batch.schema
        is_new = told is None or not schema.equals(told, check_metadata=True)
        told = schema
        columns = {
            "schema": pa.array([schema.serialize().to_pybytes() if is_new else None], pa.binary()),
            "records": pa.array([chunk.batch.num_rows + len(chunk.errors)], pa.int64()),
            "chunk": pa.array([pack(chunk)], pa.binary()),
        }
        yield pa.RecordBatch.from_pydict(columns)
