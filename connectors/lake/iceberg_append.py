"""Appends to an Iceberg table only if the table has not changed since it was checked for the batch.

Spark's own commit checks nothing: it puts its snapshot on top of the newest one, even if that is another driver's
append of the same batch. So here Spark writes into a transaction. The commit replaces the table's metadata only if it
is still the metadata that was checked (docs/decisions/0019-appends-swap-what-they-looked-at.md). Rows of an earlier
attempt that the append replaces are removed in the same transaction.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from gluepot.connectors.lake.commits import (
    CannotRemove,
    Compared,
    LakeCommit,
    Rows,
    Step,
    decide,
    find_earlier,
    is_taken_back,
    refusal,
)
from gluepot.connectors.lake.commits import published as find_published
from gluepot.connectors.lake.iceberg_transaction import Attempt, Target
from gluepot.connectors.lake.same_rows import compare
from gluepot.connectors.lake.self_reads import reads_iceberg
from gluepot.core.failpoints import reach


def append_once(
    frame: DataFrame, name: str, commit: LakeCommit, options: Mapping[str, Any], compared: Compared = None
) -> bool:
    """Append rows in one snapshot, so that the table holds them once, now and at the moment of the commit.

    If the table has other rows under the key of the commit, they are replaced. If another process commits in between,
    this checks the table again and adds the files that are already written.

    Args:
        frame: the rows.
        name: name of the table in SQL.
        commit: commit of the batch.
        options: options of Spark's writer.
        compared: what is known about the rows of earlier commits.

    Returns:
        False if the table already contains these rows.

    Raises:
        CheckpointError: the table contains the batch with other records, or later batches but not this one.
        LeaseHeld: a later driver has written the batch.
        PermanentError: the table contains other rows of the batch, which cannot be removed.
        Exception: any error of the Spark job or the catalog. If the catalog did not answer, the rows may or may not be
            in the table; the next try finds out.
    """
    spark = frame.sparkSession
    target = Target.of(spark, name, options, commit)
    compared = {} if compared is None else compared
    written: list[Any] = []
    while True:
        attempt = target.begin()
        earlier = find_earlier(commit, attempt.commits(), name)
        rows = Rows.UNKNOWN
        if earlier is not None and (at := earlier.rows_at) is not None:
            if reads_iceberg(frame, target.table):
                # The frame was made without the earlier rows the first time, so it has to be again.
                take_back(spark, name, LakeCommit.taking_back(commit.key, commit.token), options)
                continue
            if at not in compared:
                compared[at] = _compare(frame, attempt, at)
            rows = compared[at]
        step = decide(commit, earlier, rows)
        if step is Step.SKIP:
            return False
        if step is Step.CONFIRM:
            assert earlier is not None  # as `decide` says
            assert earlier.rows_at is not None
            attempt.mark(commit.confirming(earlier.rows_at))
            if attempt.takes_place():
                return False
            continue
        if step is Step.REPLACE:
            assert earlier is not None  # as `decide` says
            assert earlier.rows_at is not None
            _remove(attempt, earlier.rows_at, commit, name)
        reach("lake.appending")
        if written:
            attempt.add(written)
        else:
            attempt.write(frame)
        reach("lake.committing")
        if attempt.takes_place():
            spark.catalog.refreshTable(name)  # cached rows of the table are out of date
            return True
        written = attempt.withdrawn()


def published(
    frame: DataFrame, name: str, commits: Sequence[LakeCommit], options: Mapping[str, Any], compared: dict[int, Rows]
) -> tuple[Sequence[str], frozenset[str]]:
    """Look for the writes of earlier attempts; see `gluepot.connectors.lake.commits.published`.

    Raises:
        CheckpointError, LeaseHeld: see `find_earlier`.
    """
    attempt = Target.of(frame.sparkSession, name, options).begin()
    return find_published(
        commits,
        lambda commit: find_earlier(commit, attempt.commits(), name),
        lambda at: _compare(frame, attempt, at),
        compared,
    )


def take_back(spark: SparkSession, name: str, commit: LakeCommit, options: Mapping[str, Any]) -> bool:
    """Remove the rows of a write in one snapshot, which keeps earlier drivers from appending them again.

    Args:
        spark: the session.
        name: name of the table in SQL.
        commit: the commit that takes them back.
        options: options of Spark's writer, such as a branch.

    Returns:
        False if the table had no rows of the write.

    Raises:
        LeaseHeld: a later driver has written the batch.
        PermanentError: the rows cannot be removed.
    """
    target = Target.of(spark, name, options, commit)
    while True:
        attempt = target.begin()
        earlier = find_earlier(commit, attempt.commits(), name)
        if is_taken_back(commit, earlier):
            return False
        at = None if earlier is None else earlier.rows_at
        if at is None:
            attempt.mark(commit)
        else:
            _remove(attempt, at, commit, name, marked=True)
        reach("lake.taking_back")
        if attempt.takes_place():
            spark.catalog.refreshTable(name)
            return at is not None
        attempt.withdrawn()


def _compare(frame: DataFrame, attempt: Attempt, at: int) -> Rows:
    spark = frame.sparkSession
    earlier = attempt.rows_of(spark, at)
    by_case = spark.conf.get("spark.sql.caseSensitive", "false") == "true"
    return Rows.UNKNOWN if earlier is None else compare(earlier, frame, by_case=by_case)


def _remove(attempt: Attempt, at: int, commit: LakeCommit, name: str, *, marked: bool = False) -> None:
    try:
        attempt.remove(at, commit if marked else None)
    except CannotRemove as cannot:
        raise refusal(commit, name, str(cannot), attempt.before_snapshot(at)) from None
