"""Runs queries over our own files of rows in DuckDB, where that is installed, instead of in Spark.

A `COUNT(DISTINCT ...)` of a million rows takes Spark ten times as long as DuckDB (decision 0046). Only results that a
script writes come from here; `plan` decides what can be translated.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql.pandas.types import to_arrow_schema

from gluepot.core.duckdb_sql import quoted_text
from gluepot.core.logging import get_logger
from gluepot.core.memory import memory_bytes
from gluepot.engine import on_driver, row_folders
from gluepot.engine.account import Reading
from gluepot.engine.native.copies import copied
from gluepot.engine.native.plan import Query, copy_name, translated
from gluepot.engine.native.settings import to_compare, uncovered
from gluepot.engine.native.sources import reads_ours, relations_of, sources_of
from gluepot.engine.native.types import NothingToWin, NotTranslated, sql_type, translated_kind
from gluepot.engine.pipeline import FrameInput, PackedInput, Pipeline, RangeInput, SplitInput
from gluepot.engine.readings import READINGS
from gluepot.engine.row_files import NoRoom, RowFile
from gluepot.frames.chunk import Chunk
from gluepot.spark.settings import settings_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

SETTING = "spark.gluepot.nativeSql"
"""A setting of Spark. With `false`, Spark runs every query."""

# The share of the machine's memory that DuckDB may use before it writes to disk.
_MEMORY_SHARE = 8
# Other relations than ours may have this size, and no more than ours: Spark hands their rows over to DuckDB.
_MOST_COPIED_BYTES = 64 << 20
_ROWS = 10_000
_UTC = {"UTC", "Etc/UTC", "GMT"}
_ZONE_OF_CAST = re.compile(r'"timeZoneId":"([^"]+)"')

_log = get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Answer:
    """The rows of a DataFrame.

    Args:
        path: of the file. Its columns are numbered: `c0`, `c1`, ...
        partitions: into how many partitions the DataFrame puts them; None if it does not say.
    """

    path: str
    partitions: int | None


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


@contextmanager
def computed(spark: SparkSession, pipeline: Pipeline) -> Iterator[RangeInput | SplitInput | FrameInput | PackedInput]:
    """Give the input of a pipeline, computed by DuckDB if it is a query that DuckDB answers as Spark would.

    What was computed is removed at the end.
    """
    given = pipeline.input
    if not isinstance(given, FrameInput) or given.json_column is not None or not on_driver.is_own_work(pipeline.steps):
        yield given
        return
    with answered(spark, given.frame) as answer:
        if answer is None:
            yield given
        else:
            schema = to_arrow_schema(given.frame.schema)
            yield SplitInput(ResultSource(schema), _parts(answer), schema)


@contextmanager
def answered(spark: SparkSession, frame: DataFrame) -> Iterator[Answer | None]:
    """Give the rows of a DataFrame in a file, if DuckDB answers its query as Spark would; None otherwise.

    The file is removed at the end.
    """
    if not row_folders.known_files() or spark.conf.get(SETTING, "true") == "false":
        yield None
        return
    try:
        import duckdb  # noqa: PLC0415  an extra
    except ImportError:
        yield None
        return
    folder = row_folders.new_folder()
    try:
        yield _answer(duckdb, spark, frame, folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _answer(duckdb: Any, spark: SparkSession, frame: DataFrame, folder: str) -> Answer | None:
    try:
        asked = _translated(frame)
        copies = {number: copied(spark, leaf, folder) for number, leaf in asked.others.items()}
        path = _run(duckdb, asked.query, spark, folder, copies)
    except NothingToWin:
        return None
    except NotTranslated as part:
        _log.info("spark_computes", part=str(part))
        return None
    except NoRoom:
        _log.info("spark_computes", reason="no room for the rows of a cached DataFrame")
        return None
    except duckdb.Error as error:
        # Spark says what is wrong with the query, if anything is.
        _log.info("spark_computes", reason=str(error).splitlines()[0])
        return None
    records = sum(file.rows for file in asked.scanned)
    read = Reading(records, records, size_bytes=sum(file.size_bytes for file in asked.scanned))
    READINGS.in_driver(None)(0, read)
    return Answer(path, asked.query.partitions)


@dataclass(frozen=True, slots=True)
class _Asked:
    """A query for DuckDB.

    Args:
        query: as SQL.
        scanned: our files that it reads.
        others: the leaves of Spark's plan for the relations that it reads beside them.
    """

    query: Query
    scanned: Sequence[RowFile]
    others: Mapping[int, Any]


def _translated(frame: DataFrame) -> _Asked:
    """Return the query of a DataFrame, and what it reads.

    Raises:
        NotTranslated: only Spark can run it.
    """
    execution = frame._jdf.queryExecution()  # noqa: SLF001  Python has no other way to a plan
    if not reads_ours(execution.analyzed()):  # planning again takes longer than this look
        raise NothingToWin("relation")
    _check_settings(frame.sparkSession)
    plan = execution.optimizedPlan()
    nodes = plan.toJSON()
    relations = relations_of(plan)
    ours = [row_folders.known_files()[path] for path in sorted(relations.paths())]
    if relations.others_bytes() > min(_MOST_COPIED_BYTES, sum(file.size_bytes for file in ours)):
        raise NothingToWin("relation")
    sources = sources_of(plan, nodes, relations)
    jvm = frame.sparkSession.sparkContext._jvm  # noqa: SLF001  as above
    assert jvm is not None
    zones = {frame.sparkSession.conf.get("spark.sql.session.timeZone"), jvm.java.util.TimeZone.getDefault().getID()}
    zones.update(_ZONE_OF_CAST.findall(nodes))  # of the session when the cast was written
    if '"timestamp' in nodes and not zones <= _UTC:
        raise NotTranslated("time zone")  # of literals in the plan, and of DuckDB
    try:
        query = translated(json.loads(nodes), sources)
    except (LookupError, TypeError, ValueError) as error:
        raise NotTranslated(f"{type(error).__name__} in the plan") from error  # another form than Spark 4.1 gives it
    if query.kinds != tuple(translated_kind(one["type"]) for one in frame.schema.jsonValue()["fields"]):
        raise NotTranslated("types of the result")
    return _Asked(query, ours, relations.others)


def _check_settings(spark: SparkSession) -> None:
    """Compare the session's settings with those that are covered.

    Raises:
        NotTranslated: one is not.
    """
    settings = {name: value for name, value in settings_of(spark).items() if name.startswith("spark.sql.")}
    defaults = {name: default for name in to_compare(settings) if (default := _default(spark, name)) is not None}
    if name := uncovered(settings, defaults):
        raise NotTranslated(f"setting {name}")


@cache
def _default(spark: SparkSession, name: str) -> str | None:
    """Return Spark's default of a setting; None if it has none."""
    jvm = spark.sparkContext._jvm  # noqa: SLF001  as above
    assert jvm is not None
    default: str | None = jvm.org.apache.spark.sql.internal.SQLConf().getConfString(name, None)
    return default


def _run(duckdb: Any, query: Query, spark: SparkSession, folder: str, copies: Mapping[int, str]) -> str:
    """Write the result of a query to a file, and return its path.

    Raises:
        NotTranslated: the file has other types than Spark's plan.
        duckdb.Error: DuckDB cannot run the query.
    """
    path = f"{folder}/{uuid4().hex}.parquet"
    settings = {
        "threads": str(spark.sparkContext.defaultParallelism),
        "memory_limit": f"{memory_bytes() // _MEMORY_SHARE // 1_000_000}MB",
        "temp_directory": folder,
        "preserve_insertion_order": "false",
        "autoinstall_known_extensions": "false",
        "autoload_known_extensions": "false",
    }
    with duckdb.connect(config=settings) as db:
        db.execute("SET TimeZone = 'UTC'")
        for number, copy in copies.items():
            db.execute(f"CREATE VIEW {copy_name(number)} AS SELECT * FROM read_parquet({quoted_text(copy)})")
        db.execute(f"COPY ({query.sql}) TO {quoted_text(path)} (FORMAT parquet)")
        written = db.read_parquet(path).types
        if written != [db.type(sql_type(one)) for one in query.kinds]:
            raise NotTranslated("types of the answer")
    return path


def _parts(answer: Answer) -> tuple[Result, ...]:
    """Return the parts of an answer that tasks read: its row groups, or all of them together if one task is wanted."""
    with pq.ParquetFile(answer.path) as file:
        groups = range(file.metadata.num_row_groups)
    size_bytes = Path(answer.path).stat().st_size
    if answer.partitions == 1:
        return (Result(answer.path, tuple(groups), size_bytes),)
    return tuple(Result(answer.path, (group,), max(1, size_bytes // len(groups))) for group in groups)
