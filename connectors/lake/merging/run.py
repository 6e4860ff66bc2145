"""Merges rows into a table without Spark's join: keys are looked up in Arrow, and only changed files are written.

Spark reads the source and resolves the statement; the table's own library commits. What this cannot do exactly as Spark
is left to Spark, before anything is committed (docs/decisions/0045-merges-look-keys-up-in-arrow.md).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType

from gluepot.connectors.lake.merging.delta_target import DeltaMergeTarget
from gluepot.connectors.lake.merging.expressions import OnlySpark
from gluepot.connectors.lake.merging.iceberg_target import IcebergMergeTarget
from gluepot.connectors.lake.merging.partitions import Origin, moving, spread
from gluepot.connectors.lake.merging.rewriting import Reader, Rewritten, Writer, rewritten
from gluepot.connectors.lake.merging.rows import Pairs, Source, added, keys_of
from gluepot.connectors.lake.merging.source_rows import read_source
from gluepot.connectors.lake.merging.statement import Merge, Resolved, resolved
from gluepot.connectors.lake.merging.target import Counts, DataFile, MergeTarget, NewFile, Overtaken, Partition
from gluepot.core.failpoints import reach
from gluepot.core.logging import get_logger
from gluepot.frames.sizes import memory_bytes
from gluepot.spark.settings import settings_of

_COUNTS = "num_affected_rows long, num_updated_rows long, num_deleted_rows long, num_inserted_rows long"

_T = TypeVar("_T")
_log = get_logger(__name__)


def merged(spark: SparkSession, statement: str) -> DataFrame | None:
    """Run a MERGE statement and return what Spark's would return; None, with nothing changed, where Spark must run it.

    Raises:
        Exception: any error of the table's catalog at the commit. The commit may or may not have happened.
    """
    if not str(spark.sparkContext.master).startswith("local"):
        return None
    jvm, session = spark._jvm, spark._jsparkSession  # noqa: SLF001  Python has no other way to a plan
    assert jvm is not None
    try:
        found = resolved(jvm, session, statement)
        target = _target(jvm, settings_of(spark), spark.sparkContext._jsc.hadoopConfiguration(), found)  # noqa: SLF001
        source, partitions = read_source(spark, found, target)
        work = _Work(found.merge, target, source, partitions, spark.sparkContext.defaultParallelism)
        changes = work.run()
        commit = _prepared(changes, target)
    except (OnlySpark, Overtaken) as reason:
        _log.info("spark_merges", reason=str(reason))
        return None
    except Exception as error:  # noqa: BLE001  nothing is committed: Spark says what is wrong, if anything is
        _log.info("spark_merges", reason=str(error).partition("\n")[0])
        return None
    try:
        commit()
    except Overtaken as reason:
        _log.info("spark_merges", reason=str(reason).partition("\n")[0])
        return None
    cached = session.sharedState().cacheManager()
    if not cached.isEmpty():
        cached.recacheByPlan(session, found.target)
    _log.info("merged", removed_files=len(changes.removed), added_files=len(changes.added), **changes.rows)
    return spark.createDataFrame([tuple(changes.rows.values())], _COUNTS) if target.counts else _nothing(spark)


def _nothing(spark: SparkSession) -> DataFrame:
    return spark.createDataFrame([], StructType([]))


def _target(jvm: Any, settings: Mapping[str, str], configuration: Any, found: Resolved) -> MergeTarget:
    """Open the table of a statement.

    Raises:
        OnlySpark: only Spark can change it.
    """
    if settings.get("spark.sql.caseSensitive", "false") != "false":
        raise OnlySpark("names of which the case counts")
    if not str(jvm.org.apache.hadoop.fs.FileSystem.getDefaultUri(configuration).getScheme()) == "file":
        raise OnlySpark("files that are not on this machine")
    leaf = found.target
    while leaf.getClass().getSimpleName() == "SubqueryAlias":
        leaf = leaf.child()
    if leaf.getClass().getSimpleName() == "LogicalRelation":
        return DeltaMergeTarget.of(jvm, settings, leaf, found.merge.target)
    return IcebergMergeTarget.of(jvm, settings, leaf)


@dataclass(frozen=True, slots=True)
class _Changes:
    """What a merge replaces.

    Args:
        removed: files that go.
        added: files that come.
        counts: of rows.
    """

    removed: Sequence[DataFile]
    added: Sequence[NewFile]
    counts: Counts

    @property
    def rows(self) -> dict[str, int]:
        """The counts that Delta returns, in its order."""
        counts = self.counts
        return {
            "num_affected_rows": counts.updated + counts.deleted + counts.inserted,
            "num_updated_rows": counts.updated,
            "num_deleted_rows": counts.deleted,
            "num_inserted_rows": counts.inserted,
        }

    def remove_added(self) -> None:
        """Remove the files that came; the table must not refer to them."""
        for one in self.added:
            Path(one.path).unlink(missing_ok=True)


def _prepared(changes: _Changes, target: MergeTarget) -> Callable[[], None]:
    """Return what commits changes.

    Raises:
        Exception: the changes cannot be described; their files have been removed.
    """
    if not changes.removed and not changes.added:
        return lambda: None
    try:
        exchange = target.prepared(changes.removed, changes.added, changes.counts)
    except BaseException:
        changes.remove_added()
        raise

    def commit() -> None:
        reach("lake.merging")
        try:
            exchange()
        except Overtaken:
            changes.remove_added()
            raise
        reach("lake.merged")

    return commit


@dataclass(frozen=True, slots=True)
class _Work:
    """One merge.

    Args:
        merge: the statement.
        target: the table.
        source: the rows of the source.
        partitions: the parts of the partition in which each of them belongs.
        threads: how many files are worked on at a time.
    """

    merge: Merge
    target: MergeTarget
    source: Source
    partitions: Sequence[pa.Array]
    threads: int

    def run(self) -> _Changes:
        """Write all files of the merge; nothing is committed.

        Raises:
            OnlySpark: Spark has to do it; files that were written have been removed.
        """
        keys = keys_of(self.merge, self.source)
        reader = Reader(self.target, self.merge)
        bounds = self._bounds(keys.rows)
        files = self.target.files(bounds) if len(keys.rows) else []
        found = self._each(lambda file: reader.matches(file, keys, self.source, bounds), files)
        is_matched = np.zeros(self.source.rows, np.bool_)
        for pairs in found:
            is_matched[pairs.source] = True
        types = {one.number: kind.type for one, kind in zip(self.merge.target, self.target.layout.schema, strict=True)}
        inserts = added(self.merge, np.flatnonzero(~is_matched), self.source, types)
        waiting = spread([(one.rows, one.source) for one in inserts], self.partitions)
        touched = [pair for pair in zip(files, found, strict=True) if len(pair[1].target)] if self.merge.matched else []
        inserted = sum(len(one.source) for one in inserts)
        return self._written(reader, touched, waiting, inserted)

    def _written(
        self,
        reader: Reader,
        touched: Sequence[tuple[DataFile, Pairs]],
        waiting: dict[Partition, list[Sequence[pa.Array]]],
        inserted: int,
    ) -> _Changes:
        further = {file.path: waiting.pop(file.partition) for file in self._recipients(touched, waiting)}
        done: list[NewFile] = []
        origin = Origin(self.merge, self.target.layout.partition)

        def rewrite(pair: tuple[DataFile, Pairs]) -> Rewritten | None:
            file, pairs = pair
            moves = moving(origin, file.partition, self.partitions)
            made = rewritten(reader, file, pairs, self.source, moves, further.get(file.path, ()))
            if made is not None and made.file is not None:
                done.append(made.file)
            return made

        try:
            results = self._each(rewrite, touched)
            moved = [(one.rows, one.source) for made in results if made is not None for one in made.moved]
            for partition, pieces in spread(moved, self.partitions).items():
                waiting.setdefault(partition, []).extend(pieces)
            self._each(lambda one: done.append(self._new_file(*one)), list(waiting.items()))
        except BaseException:
            for new in done:
                with suppress(FileNotFoundError):
                    Path(new.path).unlink()
            raise
        removed = [file for (file, _), made in zip(touched, results, strict=True) if made is not None]
        made = [one for one in results if one is not None]
        updated, deleted = sum(one.updated for one in made), sum(one.deleted for one in made)
        return _Changes(removed, done, Counts(self.source.rows, updated, deleted, inserted))

    def _recipients(
        self, touched: Sequence[tuple[DataFile, Pairs]], waiting: Mapping[Partition, Sequence[Sequence[pa.Array]]]
    ) -> Iterator[DataFile]:
        """Yield the file of each partition to which new rows are added: the smallest, if there is room in it."""
        smallest: dict[Partition, DataFile] = {}
        for file, _ in touched:
            if file.partition not in smallest or file.size_bytes < smallest[file.partition].size_bytes:
                smallest[file.partition] = file
        for partition, file in smallest.items():
            size = sum(memory_bytes(column) for piece in waiting.get(partition, ()) for column in piece)
            if size and file.size_bytes + size <= self.target.layout.file_bytes:
                yield file

    def _new_file(self, partition: Partition, pieces: Sequence[Sequence[pa.Array]]) -> NewFile:
        writer = Writer(self.target.layout, self.target.new_path(partition), partition)
        try:
            for piece in pieces:
                writer.add(piece)
            made = writer.close()
        except BaseException:
            writer.abandon()
            raise
        assert made is not None, "a partition without rows"
        return made

    def _bounds(self, rows: Any) -> dict[str, tuple[Any, Any]]:
        """Return the least and the largest value of each part of the keys that can match."""
        bounds = {}
        at = pa.array(rows)
        for column, value in self.merge.keys:
            if value.column is None or column.kind not in {"integer", "long", "string"}:
                continue
            ends = pc.min_max(self.source.columns[value.column].take(at))
            bounds[column.name] = (ends["min"].as_py(), ends["max"].as_py())
        return bounds

    def _each(self, work: Callable[[Any], _T], items: Sequence[Any]) -> list[_T]:
        """Do work on several items at a time.

        Raises:
            Exception: the first error, after all work has ended.
        """
        with ThreadPoolExecutor(max(1, self.threads), thread_name_prefix="gluepot-merge") as pool:
            return list(pool.map(work, items))
