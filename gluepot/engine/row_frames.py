"""Makes a DataFrame of records whose schema is not known, in one pass: rows go to files that Spark's own reader scans.

A second pass is needed if a chunk has lists that are all empty, and so have no type, where another chunk has the type.

Without the files the records would be read twice, once for the schema and once for each action on the DataFrame, and
all columns of all rows would come to the JVM through a socket. Spark's reader takes the columns that a query needs, and
leaves out row groups that no row of its filters can be in (decision 0044).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql.functions import lit, when

from gluepot.connectors.streams.rejects import RejectsOfFrame
from gluepot.engine import row_folders
from gluepot.engine.account import SourceName
from gluepot.engine.execute import over_tasks, storable, to_frame
from gluepot.engine.native.writes import write_answers
from gluepot.engine.pipeline import Pipeline, SplitInput, names_of
from gluepot.engine.plain_files import PlainFiles, plain_files
from gluepot.engine.row_files import NoRoom, RowFile, RowFiles, RowFolders, can_hold, fits, rewritten, write_rows
from gluepot.engine.spark_types import spark_schema
from gluepot.frames.schema import merge_schemas, unmarked

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SETTING = "spark.gluepot.rowsInFiles"
"""A setting of Spark. With `false`, records become rows through a socket, each time they are used."""

# Spark sorts the files of one read by size. So that rows keep their order, each file is a read of its own, up to this
# many, beyond which plans become too large.
_MOST_READS = 64


@dataclass(frozen=True, slots=True)
class RowFrame:
    """Records that were read to find their schema.

    Args:
        schema: of all records, with columns that cannot be stored.
        records: how many there are, with broken ones.
        folders: where the files are.
        rows: the good records, read from the files; None if a column has a type that is not written to files, or
            neither memory nor disk have room for them.
        frame: the good records as a DataFrame; None if Spark's Parquet reader cannot give them as they are.
        untyped_values: how many values are in no file because they have no type, by column.
    """

    schema: pa.Schema
    records: int
    folders: RowFolders
    rows: SplitInput | None
    frame: DataFrame | None
    untyped_values: Mapping[str, int] = field(default_factory=dict)

    def to_frame(self, spark: SparkSession) -> DataFrame | None:
        """Return the good records as a DataFrame; None if they must be read again for it."""
        if self.frame is not None or self.rows is None:
            return self.frame
        return to_frame(spark, Pipeline(self.rows), self.schema)

    def release(self) -> None:
        """Remove the files as soon as no DataFrame reads them any more."""
        if self.frame is None:
            row_folders.remove(self.folders)
            return
        jvm = self.frame.sparkSession.sparkContext._jvm  # noqa: SLF001  as below
        assert jvm is not None
        row_folders.release(self.folders, _references(self.frame), jvm.System.gc)


def is_for(spark: SparkSession) -> bool:
    """Return whether records can go through files: tasks and Spark must share a file system."""
    return str(spark.sparkContext.master).startswith("local") and spark.conf.get(SETTING, "true") != "false"


def read_into_files(
    spark: SparkSession,
    pipeline: Pipeline,
    rejects: RejectsOfFrame,
    *,
    in_memory: bool = True,
    source: SourceName | None = None,
) -> RowFrame:
    """Read all records once; return their schema, and the rows as a DataFrame.

    The files are removed when this process ends, or when they are released. Files of Parquet that Spark reads as we do
    are not read here: the DataFrame scans links to them.

    Args:
        spark: the session.
        pipeline: gives the records.
        rejects: where error records are kept.
        in_memory: whether files may be in memory.
        source: of the records; None for the pipeline's.

    Raises:
        Exception: the Spark job failed. What its tasks have written has been removed.
    """
    folders = row_folders.new_folders(in_memory=in_memory)
    try:
        if (plain := plain_files(pipeline, folders)) is not None:
            return _of_plain(spark, plain, folders)
        first = folders
        found = over_tasks(
            spark,
            pipeline,
            lambda work: write_rows(work.chunks, first, rejects.of_task(work.place.task)),
            keeps=rejects.root is not None,
            source=source or next(iter(names_of(pipeline.input)), None),
        )
        schema = unmarked(reduce(merge_schemas, (one.schema for one in found), pa.schema([])))
        rows, frame, stored = None, None, storable(schema)
        if not all(one.has_all(schema) for one in found):
            row_folders.remove(folders)
            folders = again = row_folders.new_folders(in_memory=in_memory)
            found = over_tasks(
                spark,
                pipeline,
                lambda work: write_rows(work.chunks, again, rejects.of_task(work.place.task), schema),
                counted=False,
            )
        if all(one.files is not None for one in found) and len(stored):
            with suppress(NoRoom):
                files = _fitting([file for one in found for file in one.files or ()], stored, folders)
                rows = SplitInput(RowFiles(schema), tuple(files), schema)
                frame = _frame(spark, files, stored) if can_hold(stored) else None
        if rows is None:
            row_folders.remove(folders)
    except BaseException:
        row_folders.remove(folders)
        raise
    untyped = sum((Counter(one.untyped_values) for one in found), Counter[str]())
    return RowFrame(schema, sum(one.records for one in found), folders, rows, frame, untyped)


def _of_plain(spark: SparkSession, plain: PlainFiles, folders: RowFolders) -> RowFrame:
    """Return the rows of files that Spark reads as we do; each partition is a read of its own."""
    wanted = spark_schema(plain.schema)
    frames = []
    for partition, files in plain.partitions.items():
        rows = spark.read.schema(wanted).parquet(*(f"file://{file.path}" for file in files))
        # A value that may be null, as in the other partitions; Spark knows better of a mere literal.
        frames.append(rows.withColumns({name: when(lit(True), lit(value)) for name, value in partition}))
    row_folders.add(plain.files)
    write_answers()
    schema = pa.schema([*plain.schema, *(pa.field(name, pa.string()) for name in plain.keys)])
    records = sum(file.rows for file in plain.files)
    return RowFrame(schema, records, folders, None, reduce(DataFrame.union, frames))


def _references(frame: DataFrame) -> list[object]:
    """Return weak references of the JVM to what every plan that reads the files holds, and nothing else does."""
    jvm = frame.sparkSession.sparkContext._jvm  # noqa: SLF001  here and below: Python has no other way to a plan
    assert jvm is not None
    leaves = frame._jdf.queryExecution().analyzed().collectLeaves()  # noqa: SLF001
    return [jvm.java.lang.ref.WeakReference(leaves.apply(at).relation().location()) for at in range(leaves.size())]


def _fitting(files: list[RowFile], schema: pa.Schema, folders: RowFolders) -> list[RowFile]:
    """Return the files in order, those that do not fit the schema written again."""

    def fit(file: RowFile) -> list[RowFile]:
        return [file] if fits(file, schema) else rewritten(file, schema, folders)

    with ThreadPoolExecutor(2, thread_name_prefix="gluepot-rows") as pool:
        return [one for made in pool.map(fit, files) for one in made]


def _frame(spark: SparkSession, files: list[RowFile], schema: pa.Schema) -> DataFrame | None:
    """Return the rows of the files; None if there are none, or if Spark would change the schema."""
    wanted = spark_schema(schema)
    paths = [Path(file.path).as_uri() for file in files]
    groups = [[path] for path in paths] if len(paths) <= _MOST_READS else [paths]
    reads = [spark.read.schema(wanted).parquet(*group) for group in groups]
    if not reads or reads[0].schema != wanted:
        return None
    row_folders.add(files)
    write_answers()
    return reduce(lambda one, other: one.union(other), reads)
