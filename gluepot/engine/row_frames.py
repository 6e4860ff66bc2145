"""Makes a DataFrame of records whose schema is not known, in one pass: rows go to files that Spark's own reader scans.

Without the files the records would be read twice, once for the schema and once for each action on the DataFrame, and
all columns of all rows would come to the JVM through a socket. Spark's reader takes the columns that a query needs, and
leaves out row groups that no row of its filters can be in (decision 0044).
"""

from __future__ import annotations

import shutil
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
from pyspark.sql.pandas.types import from_arrow_schema

from gluepot.engine import row_folders, task
from gluepot.engine.execute import over_chunks, storable
from gluepot.engine.pipeline import Pipeline, SplitInput
from gluepot.engine.row_files import RowFile, RowFolders, can_hold, fits, rewritten, write_rows
from gluepot.frames.schema import merge_schemas

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

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
        frame: their rows; None if Spark's Parquet reader cannot give them as they are.
    """

    schema: pa.Schema
    frame: DataFrame | None


def is_for(spark: SparkSession, pipeline: Pipeline) -> bool:
    """Return whether the records of a pipeline can go through files: tasks and Spark must share a file system."""
    return (
        isinstance(pipeline.input, SplitInput)
        and str(spark.sparkContext.master).startswith("local")
        and spark.conf.get(SETTING, "true") != "false"
    )


def read_into_files(spark: SparkSession, pipeline: Pipeline) -> RowFrame:
    """Read all records once; return their schema, and the rows as a DataFrame.

    The files are removed when this process ends.

    Raises:
        Exception: the Spark job failed. What its tasks have written has been removed.
    """
    folders = row_folders.new_folders()
    try:
        found = over_chunks(spark, pipeline, lambda chunks: write_rows(task.good_rows(chunks), folders))
        schema = reduce(merge_schemas, (one for one, _ in found), pa.schema([]))
        stored = storable(schema)
        frame = None
        if can_hold(stored):
            files = _fitting([file for _, files in found for file in files], stored, folders)
            frame = _frame(spark, files, stored)
        if frame is None:
            _remove(folders)
    except BaseException:
        _remove(folders)
        raise
    return RowFrame(schema, frame)


def _fitting(files: list[RowFile], schema: pa.Schema, folders: RowFolders) -> list[RowFile]:
    """Return the files in order, those that do not fit the schema written again."""

    def fit(file: RowFile) -> list[RowFile]:
        return [file] if fits(file, schema) else rewritten(file, schema, folders)

    with ThreadPoolExecutor(2, thread_name_prefix="gluepot-rows") as pool:
        return [one for made in pool.map(fit, files) for one in made]


def _frame(spark: SparkSession, files: list[RowFile], schema: pa.Schema) -> DataFrame | None:
    """Return the rows of the files; None if there are none, or if Spark would change the schema."""
    wanted = from_arrow_schema(schema, prefer_timestamp_ntz=True)
    paths = [Path(file.path).as_uri() for file in files]
    groups = [[path] for path in paths] if len(paths) <= _MOST_READS else [paths]
    reads = [spark.read.schema(wanted).parquet(*group) for group in groups]
    if not reads or reads[0].schema != wanted:
        return None
    row_folders.add(files)
    return reduce(lambda one, other: one.union(other), reads)


def _remove(folders: RowFolders) -> None:
    for one in (folders.disk, folders.memory):
        if one is not None:
            shutil.rmtree(one, ignore_errors=True)
