"""Appends to an Iceberg table only if the table has not changed since it was checked for the batch.

Spark's own commit checks nothing: it puts its snapshot on top of the newest one, even if that is another driver's
append of the same batch. So here Spark writes into a transaction. The commit replaces the table's metadata only if it
is still the metadata that was checked (docs/decisions/0019-appends-swap-what-they-looked-at.md).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from py4j.protocol import Py4JJavaError
from pyspark.sql import DataFrame

from gluepot.connectors.lake.commits import LakeCommit, is_published
from gluepot.core.failpoints import reach

# The prefix of the options that Spark's writer puts into a snapshot's summary.
PROPERTY = "snapshot-property."

_MAIN = "main"
_OVERTAKEN = "org.apache.iceberg.exceptions.CommitFailedException"


def append_once(frame: DataFrame, name: str, commit: LakeCommit, options: Mapping[str, Any]) -> bool:
    """Append rows in one snapshot, unless the table contains the batch now or at the moment of the commit.

    If another process commits in between, this checks the table again and adds the files that are already written.

    Args:
        frame: the rows.
        name: name of the table in SQL.
        commit: commit of the batch; its properties are among the options.
        options: options of Spark's writer.

    Returns:
        False if the table already contains the batch.

    Raises:
        CheckpointError: the table contains the batch with other records, or later batches but not this one.
        Exception: any error of the Spark job or the catalog. If the catalog did not answer, the rows may or may not be
            in the table; the next try finds out.
    """
    target = _Target.of(frame, name, options)
    written: list[Any] = []
    while True:
        attempt = target.begin()
        if is_published(commit, attempt.commits(), name):
            return False
        reach("lake.appending")
        if written:
            attempt.add(written)
        else:
            attempt.write(frame)
        reach("lake.committing")
        if attempt.takes_place():
            frame.sparkSession.catalog.refreshTable(name)  # cached rows of the table are out of date
            return True
        written = attempt.withdrawn()


@dataclass(frozen=True, slots=True)
class _Target:
    """A branch of a table, and the options with which Spark writes it.

    Args:
        spark: the Java session.
        jvm: the Java packages.
        table: the Iceberg table object.
        branch: the branch that the options or the session name; None for the main branch.
        options: options of Spark's writer, as text.
    """

    spark: Any
    jvm: Any
    table: Any
    branch: str | None
    options: Mapping[str, str]

    @classmethod
    def of(cls, frame: DataFrame, name: str, options: Mapping[str, Any]) -> _Target:
        session = frame.sparkSession
        spark, jvm = session._jsparkSession, session._jvm  # noqa: SLF001
        iceberg = jvm.org.apache.iceberg.spark  # type: ignore[union-attr]
        table = iceberg.Spark3Util.loadIcebergTable(spark, name)
        texts = {key: str(value).lower() if isinstance(value, bool) else str(value) for key, value in options.items()}
        given = jvm.org.apache.spark.sql.util.CaseInsensitiveStringMap(texts)  # type: ignore[union-attr]
        return cls(spark, jvm, table, iceberg.SparkTableUtil.determineWriteBranch(spark, table, None, given), texts)

    def begin(self) -> _Attempt:
        transaction = self.table.newTransaction()  # reads the newest metadata from the catalog
        return _Attempt(self, transaction, transaction.table().operations().current())


@dataclass(frozen=True, slots=True)
class _Attempt:
    """A transaction over a table as it was at one moment.

    Args:
        target: the branch to write.
        transaction: the Iceberg transaction, which only this process sees.
        before: the table's metadata at that moment.
    """

    target: _Target
    transaction: Any
    before: Any

    @property
    def _table(self) -> Any:
        return self.transaction.table()

    def commits(self) -> Iterator[LakeCommit]:
        """Yield our commits among the newest snapshot and its ancestors, newest first, without a Spark job."""
        snapshot = self._head()
        while snapshot is not None:
            if (found := LakeCommit.of(dict(snapshot.summary()))) is not None:
                yield found
            parent = snapshot.parentId()
            snapshot = None if parent is None else self._table.snapshot(parent)

    def write(self, frame: DataFrame) -> None:
        """Have Spark write the rows and commit them to the transaction."""
        jvm, target = self.target.jvm, self.target
        nothing = jvm.scala.Option.empty()
        # The relation has no catalog. From a catalog, Spark would load the table again and bypass the transaction.
        relation = jvm.org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation.create(
            jvm.org.apache.iceberg.spark.source.SparkTable(self._table),
            nothing,
            nothing,
            jvm.org.apache.spark.sql.util.CaseInsensitiveStringMap(target.options),
            nothing,
        )
        options = jvm.org.apache.spark.api.python.PythonUtils.toScalaMap(target.options)
        plan = jvm.org.apache.spark.sql.catalyst.plans.logical.AppendData.byName(
            relation,
            frame._jdf.logicalPlan(),  # noqa: SLF001
            options,
        )
        jvm.org.apache.spark.sql.classic.Dataset.ofRows(target.spark, plan)  # a command runs when its Dataset is made

    def add(self, written: list[Any]) -> None:
        """Commit files that are already written to the transaction."""
        append = self.transaction.newAppend()
        for file in written:
            append.appendFile(file)
        for key, value in self.target.options.items():
            if key.startswith(PROPERTY):
                append.set(key.removeprefix(PROPERTY), value)
        if self.target.branch is not None:
            append.toBranch(self.target.branch)
        append.commit()

    def takes_place(self) -> bool:
        """Make the transaction's metadata that of the table; if the table has changed, do nothing and return False."""
        try:
            self.target.table.operations().commit(self.before, self._table.operations().current())
        except Py4JJavaError as error:
            if error.java_exception.getClass().getName() != _OVERTAKEN:
                raise
            return False
        return True

    def withdrawn(self) -> list[Any]:
        """Return the data files of an attempt that another commit overtook, and remove everything else it wrote.

        The list is empty if the files cannot be added to another state of the table: because only this transaction
        knows their columns, or because they are staged and not part of a branch.
        """
        head, io = self._head(), self._table.io()
        if head is None or self._table.schema().schemaId() != self.before.currentSchemaId():
            return []
        if self.before.snapshot(head.snapshotId()) is not None:
            return []
        files = list(head.addedDataFiles(io).iterator())
        own = [one.path() for one in head.allManifests(io) if one.snapshotId() == head.snapshotId()]
        leftover = [head.manifestListLocation(), *own]
        self.target.jvm.org.apache.iceberg.CatalogUtil.deleteFiles(io, leftover, "overtaken")
        return files

    def _head(self) -> Any:
        branch = self.target.branch or _MAIN
        return self.target.jvm.org.apache.iceberg.util.SnapshotUtil.latestSnapshot(self._table, branch)
