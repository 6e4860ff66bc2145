"""Appends to an Iceberg table through Spark, and marks each commit with its batch."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from pyspark.sql import DataFrame, SparkSession

from gluepot.connectors.lake.commits import Compared, LakeCommit, Rows
from gluepot.connectors.lake.iceberg_append import append_once, published, take_back
from gluepot.connectors.lake.iceberg_transaction import Target
from gluepot.connectors.lake.self_reads import reads_iceberg
from gluepot.connectors.lake.time_travel import spark_options


@dataclass(frozen=True, slots=True)
class IcebergTable:
    """A table.

    Args:
        name: name of the table in SQL: `catalog.database.table`.
    """

    kind: ClassVar[str] = "iceberg"

    name: str

    def place(self, spark: SparkSession, options: Mapping[str, Any]) -> str:
        """Return the one spelling of the branch to write."""
        return Target.of(spark, self.name, options).place

    def ancestors(self, spark: SparkSession) -> Iterator[Any]:
        """Yield the current snapshot and its ancestors, newest first, as Iceberg's own objects."""
        jvm = spark._jvm.org.apache.iceberg  # type: ignore[union-attr]  # noqa: SLF001  snapshots without a Spark job
        yield from jvm.util.SnapshotUtil.currentAncestors(self._loaded(spark)).iterator()

    def own_retention_ms(self, spark: SparkSession) -> int | None:
        """Return how long snapshots are kept by a setting of the table's main branch; None if it has none."""
        main = self._loaded(spark).refs().get("main")
        own_ms: int | None = None if main is None else main.maxSnapshotAgeMs()
        return own_ms

    def _loaded(self, spark: SparkSession) -> Any:
        jvm = spark._jvm.org.apache.iceberg  # type: ignore[union-attr]  # noqa: SLF001  as above
        table = jvm.spark.Spark3Util.loadIcebergTable(spark._jsparkSession, self.name)  # noqa: SLF001
        table.refresh()  # the session caches the table, and another session may have made the last append
        return table

    def read(self, spark: SparkSession, options: Mapping[str, Any]) -> DataFrame:
        """Return the rows; options such as `snapshot-id` choose an older snapshot.

        Raises:
            ConfigError: options contradict each other.
        """
        return spark.read.format("iceberg").options(**spark_options(options)).load(self.name)

    def reads_itself(self, frame: DataFrame, options: Mapping[str, Any]) -> bool:
        """Tell whether the rows of a frame depend on this table."""
        return reads_iceberg(frame, Target.of(frame.sparkSession, self.name, options).table)

    def published(
        self, frame: DataFrame, commits: Sequence[LakeCommit], options: Mapping[str, Any], compared: dict[int, Rows]
    ) -> tuple[Sequence[str], frozenset[str]]:
        """Look for the writes of earlier attempts; see `gluepot.connectors.lake.iceberg_append.published`."""
        return published(frame, self.name, commits, options, compared)

    def append(
        self, frame: DataFrame, commit: LakeCommit | None, options: Mapping[str, Any], compared: Compared = None
    ) -> bool:
        """Append rows in one snapshot, which is marked with the batch if there is one.

        If the table has other rows under the key of the commit, they are replaced.

        Returns:
            False if the table already contains these rows.

        Raises:
            CheckpointError: the table contains the batch with other records, or later batches but not this one.
            LeaseHeld: a later driver has written the batch.
            PermanentError: the table contains other rows of the batch, which cannot be removed.
        """
        if commit is None:
            frame.writeTo(self.name).options(**options).append()
            return True
        return append_once(frame, self.name, commit, options, compared)

    def take_back(self, spark: SparkSession, commit: LakeCommit, options: Mapping[str, Any]) -> bool:
        """Remove the rows of a write; see `gluepot.connectors.lake.iceberg_append.take_back`."""
        return take_back(spark, self.name, commit, options)
