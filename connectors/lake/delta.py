"""Appends to a Delta table through Spark, and marks each commit with its batch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from pyspark.sql import DataFrame, SparkSession

from gluepot.connectors.lake.commits import (
    CannotRemove,
    Compared,
    Earlier,
    LakeCommit,
    Rows,
    Step,
    decide,
    find_earlier,
    is_taken_back,
    published,
    refusal,
)
from gluepot.connectors.lake.delta_history import marks
from gluepot.connectors.lake.delta_transaction import Attempt, Target
from gluepot.connectors.lake.same_rows import compare
from gluepot.connectors.lake.self_reads import reads_delta
from gluepot.core.failpoints import reach


@dataclass(frozen=True, slots=True)
class DeltaTable:
    """A table.

    Args:
        name: URL of its folder.
    """

    kind: ClassVar[str] = "delta"

    name: str

    def read(self, spark: SparkSession, options: Mapping[str, Any]) -> DataFrame:
        """Return the rows; options such as `versionAsOf` choose an older version."""
        return spark.read.format("delta").options(**options).load(self.name)

    def place(self, spark: SparkSession, options: Mapping[str, Any]) -> str:
        """Return the one spelling of the folder."""
        return Target.of(spark, self.name, options).place

    def reads_itself(self, frame: DataFrame, options: Mapping[str, Any]) -> bool:
        """Tell whether the rows of a frame depend on this table."""
        return reads_delta(frame, self.place(frame.sparkSession, options))

    def published(
        self, frame: DataFrame, commits: Sequence[LakeCommit], options: Mapping[str, Any], compared: dict[int, Rows]
    ) -> tuple[Sequence[str], frozenset[str]]:
        """Look for the writes of earlier attempts; see `gluepot.connectors.lake.commits.published`."""
        attempt = Target.of(frame.sparkSession, self.name, options).begin()
        if not attempt.exists:
            return [], frozenset()
        return published(
            commits, lambda commit: self._earlier(attempt, commit), lambda at: _compare(frame, attempt, at), compared
        )

    def append(
        self, frame: DataFrame, commit: LakeCommit | None, options: Mapping[str, Any], compared: Compared = None
    ) -> bool:
        """Append rows in one version, so that the table holds them once. The version is marked with the batch.

        If the table has other rows under the key of the commit, they are replaced in the same version.

        Returns:
            False if the table was found to contain these rows already.

        Raises:
            CheckpointError: the table contains the batch with other records, or later batches but not this one.
            LeaseHeld: a later driver has written the batch.
            PermanentError: the table contains other rows of the batch, which cannot be removed.
        """
        target = None if commit is None else Target.of(frame.sparkSession, self.name, options)
        if commit is not None and target is not None and target.holds(commit):
            return self._append_again(frame, commit, target, {} if compared is None else compared)
        reach("lake.appending")
        options = {**(marks(commit) if commit else {}), **options}
        frame.write.format("delta").mode("append").options(**options).save(self.name)
        return True

    def _append_again(self, frame: DataFrame, commit: LakeCommit, target: Target, compared: dict[int, Rows]) -> bool:
        while True:
            attempt = target.begin()
            earlier = self._earlier(attempt, commit)
            rows = Rows.UNKNOWN
            if earlier is not None and (at := earlier.rows_at) is not None:
                if reads_delta(frame, target.place):
                    # The frame was made without the earlier rows the first time, so it has to be again.
                    self.take_back(target.spark, LakeCommit.taking_back(commit.key, commit.token), target.options)
                    continue
                if at not in compared:
                    compared[at] = _compare(frame, attempt, at)
                rows = compared[at]
            step = decide(commit, earlier, rows)
            if step is Step.SKIP:
                return False
            made = commit
            if step is Step.CONFIRM and earlier is not None and earlier.rows_at is not None:
                made = commit.confirming(earlier.rows_at)
                attempt.mark(made)
            else:
                if step is Step.REPLACE and earlier is not None and earlier.rows_at is not None:
                    self._remove(attempt, earlier.rows_at, commit)
                reach("lake.appending")
                attempt.write(frame, commit)
            reach("lake.committing")
            if attempt.takes_place(made):
                return step is not Step.CONFIRM

    def take_back(self, spark: SparkSession, commit: LakeCommit, options: Mapping[str, Any]) -> bool:
        """Remove the rows of a write in one version, which keeps earlier drivers from appending them again.

        Args:
            spark: the session.
            commit: the commit that takes them back.
            options: options of Spark's writer.

        Returns:
            False if the table had no rows of the write.

        Raises:
            LeaseHeld: a later driver has written the batch.
            PermanentError: the rows cannot be removed.
        """
        target = Target.of(spark, self.name, options)
        while True:
            attempt = target.begin()
            if not attempt.exists:
                return False
            earlier = self._earlier(attempt, commit)
            if is_taken_back(commit, earlier):
                return False
            at = None if earlier is None else earlier.rows_at
            if at is not None:
                self._remove(attempt, at, commit)
            attempt.mark(commit)
            reach("lake.taking_back")
            if attempt.takes_place(commit):
                return at is not None

    def _earlier(self, attempt: Attempt, commit: LakeCommit) -> Earlier | None:
        history = attempt.history(commit)
        earlier = find_earlier(commit, (one.earlier for one in history if not one.is_undone), self.name)
        if earlier is None and attempt.holds(commit) and not any(one.is_undone for one in history):
            raise refusal(
                commit, self.name, "its log no longer says which files they are in", "its state before the batch"
            )
        return earlier

    def _remove(self, attempt: Attempt, at: int, commit: LakeCommit) -> None:
        try:
            attempt.remove(at)
        except CannotRemove as cannot:
            before = f"version {at - 1}" if at else "its state before the batch"
            raise refusal(commit, self.name, str(cannot), before) from None


def _compare(frame: DataFrame, attempt: Attempt, at: int) -> Rows:
    earlier = attempt.rows_of(at)
    by_case = frame.sparkSession.conf.get("spark.sql.caseSensitive", "false") == "true"
    return Rows.UNKNOWN if earlier is None else compare(earlier, frame, by_case=by_case)
