"""Appends to a Delta table through Spark, and marks each commit with its batch."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from gluepot.connectors.lake.commits import LakeCommit, is_published
from gluepot.core.failpoints import reach

_METADATA = "userMetadata"


@dataclass(frozen=True, slots=True)
class DeltaTable:
    """A table.

    Args:
        name: URL of its folder.
    """

    name: str

    def read(self, spark: SparkSession, options: Mapping[str, Any]) -> DataFrame:
        """Return the rows; options such as `versionAsOf` choose an older version."""
        return spark.read.format("delta").options(**options).load(self.name)

    def append(self, frame: DataFrame, commit: LakeCommit | None, options: Mapping[str, Any]) -> bool:
        """Append rows in one version. The version is marked with the batch, and Delta skips a batch that it has.

        Returns:
            False if the table was found to contain the batch already.

        Raises:
            CheckpointError: the table contains the batch with other records, or later batches but not this one.
        """
        if commit and is_published(commit, self._commits(frame.sparkSession, commit), self.name):
            return False
        reach("lake.appending")
        marks = _marks(commit) if commit else {}
        frame.write.format("delta").mode("append").options(**{**marks, **options}).save(self.name)
        return True

    def _commits(self, spark: SparkSession, planned: LakeCommit) -> Iterator[LakeCommit]:
        """Yield the commits of ours, newest first; none where the query has not come to this batch.

        Delta knows the last version of each writer without a look at its history, which only a replay needs.
        """
        logs = spark._jvm.org.apache.spark.sql.delta.DeltaLog  # type: ignore[union-attr]  # noqa: SLF001
        # This process's cached snapshot is enough: if another process has written since, Delta's own check finds it.
        known = logs.forTable(spark._jsparkSession, self.name).unsafeVolatileSnapshot()  # noqa: SLF001
        last = known.transactions().get(_writer(planned))
        if last.isEmpty() or last.get() < planned.key.batch_id:
            return
        history = spark.sql(f"DESCRIBE HISTORY delta.`{self.name}`").select(_METADATA)
        for row in history.toLocalIterator():
            if (found := _commit_of(row[0])) is not None:
                yield found


def _marks(commit: LakeCommit) -> dict[str, str]:
    return {
        "txnAppId": _writer(commit),
        "txnVersion": str(commit.key.batch_id),
        _METADATA: json.dumps(commit.properties, sort_keys=True),
    }


def _writer(commit: LakeCommit) -> str:
    """Return the application id under which Delta numbers commits: one for each write of a query."""
    return f"gluepot/{commit.key.query_id}/{commit.key.ctx}"


def _commit_of(metadata: str | None) -> LakeCommit | None:
    """Read the marks of a commit in the history; return None if the commit is not ours."""
    try:
        properties = json.loads(metadata or "")
    except ValueError:
        return None
    return LakeCommit.of(properties) if isinstance(properties, dict) else None
