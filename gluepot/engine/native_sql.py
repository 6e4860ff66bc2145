"""Runs aggregations over our own files of rows in DuckDB, where that is installed, instead of in Spark.

A `COUNT(DISTINCT ...)` of a million rows takes Spark ten times as long as DuckDB (decision 0044). Only the result of a
query that a script writes through a DynamicFrame comes from here; `native_plan` decides what can be translated.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlparse
from uuid import uuid4

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql.pandas.types import to_arrow_schema

from gluepot.core.logging import get_logger
from gluepot.engine import on_driver, row_folders
from gluepot.engine.native_plan import TYPES, File, NotTranslated, translated
from gluepot.engine.pipeline import FrameInput, PackedInput, Pipeline, RangeInput, SplitInput
from gluepot.engine.read_totals import READ_TOTALS
from gluepot.frames.chunk import Chunk

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

# The share of the machine's memory that DuckDB may use before it writes to disk.
_MEMORY_SHARE = 8
_ROWS = 10_000

_log = get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Result:
    """A part of the result of a query, in a file.

    Args:
        path: of the file.
        groups: the row groups of the part.
        size_bytes: about as much as they take in the file.
    """

    path: str
    groups: tuple[int, ...]
    size_bytes: int


@dataclass(frozen=True, slots=True)
class ResultSource:
    """Reads results.

    Args:
        schema: the columns that Spark promised.
    """

    schema: pa.Schema

    @property
    def guarantee(self) -> str:
        """What a reader may rely on."""
        return "Every row of the result is read once."

    def read(self, split: Result) -> Iterator[Chunk]:
        """Yield the rows of a part."""
        with pq.ParquetFile(split.path) as file:
            for batch in file.iter_batches(_ROWS, split.groups):
                yield Chunk(batch.rename_columns(self.schema.names).cast(self.schema))


def computed(spark: SparkSession, pipeline: Pipeline) -> RangeInput | SplitInput | FrameInput | PackedInput:
    """Return the input of a pipeline, computed by DuckDB if it is an aggregation that DuckDB does as Spark would."""
    given = pipeline.input
    if not isinstance(given, FrameInput) or given.json_column is not None or not row_folders.known_files():
        return given
    if not on_driver.is_own_work(pipeline.steps):
        return given
    try:
        import duckdb  # noqa: PLC0415  an extra
    except ImportError:
        return given
    try:
        plan, leaves = _plan(given.frame)
        schema = to_arrow_schema(given.frame.schema)
        found = _run(duckdb, translated(plan, [[_file(path) for path in paths] for paths in leaves]), spark)
    except NotTranslated as part:
        _log.debug("spark_aggregates", part=str(part))
        return given
    except duckdb.Error as error:
        # Spark says what is wrong with the query, if anything is.
        _log.info("spark_aggregates", reason=str(error).splitlines()[0])
        return given
    scanned = [row_folders.known_files()[path] for paths in leaves for path in paths]
    READ_TOTALS.in_driver()(sum(file.rows for file in scanned), sum(Path(file.path).stat().st_size for file in scanned))
    return SplitInput(ResultSource(schema), found, schema)


def _file(path: str) -> File:
    return File(path, frozenset(row_folders.known_files()[path].schema.names))


def _plan(frame: DataFrame) -> tuple[Sequence[Any], Sequence[Sequence[str]]]:
    """Return Spark's optimised plan, and the files of each relation.

    Raises:
        NotTranslated: the query reads something beside our files.
    """
    execution = frame._jdf.queryExecution()  # noqa: SLF001  Python has no other way to a plan
    _paths(execution.analyzed())  # planning again takes longer than this look
    plan = execution.optimizedPlan()
    leaves = _paths(plan)
    if any(str(one) not in TYPES for one in (field.dataType.typeName() for field in frame.schema)):
        raise NotTranslated("type")
    return json.loads(plan.toJSON()), leaves


def _paths(plan: Any) -> list[list[str]]:
    found, leaves = [], plan.collectLeaves()
    for leaf in (leaves.apply(at) for at in range(leaves.size())):
        if not leaf.getClass().getName().endswith(".LogicalRelation") or not (
            leaf.relation().getClass().getName().endswith(".HadoopFsRelation")
        ):
            raise NotTranslated("relation")
        roots = leaf.relation().location().rootPaths()
        paths = [unquote(urlparse(roots.apply(at).toString()).path) for at in range(roots.size())]
        if not paths or any(path not in row_folders.known_files() for path in paths):
            raise NotTranslated("relation")
        found.append(paths)
    if not found:
        raise NotTranslated("relation")
    return found


def _run(duckdb: Any, sql: str, spark: SparkSession) -> tuple[Result, ...]:
    """Write the result of a query to a file, and return its parts."""
    path = f"{row_folders.new_folder()}/{uuid4().hex}.parquet"
    settings = {
        "threads": str(spark.sparkContext.defaultParallelism),
        "memory_limit": f"{row_folders.memory_bytes() // _MEMORY_SHARE // 1_000_000}MB",
        "temp_directory": row_folders.new_folder(),
        "preserve_insertion_order": "false",
        "autoinstall_known_extensions": "false",
        "autoload_known_extensions": "false",
    }
    with duckdb.connect(config=settings) as db:
        db.execute(f"COPY ({sql}) TO '{path}' (FORMAT parquet)")
    with pq.ParquetFile(path) as file:
        groups = file.metadata.num_row_groups
    size_bytes = Path(path).stat().st_size
    return tuple(Result(path, (group,), max(1, size_bytes // groups)) for group in range(groups))
