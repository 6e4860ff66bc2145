"""A transaction over an Iceberg table, and what can be done in it. The calls of Java stay here."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from gluepot.connectors.lake.commits import CannotRemove, Earlier, LakeCommit
from gluepot.connectors.lake.time_travel import spark_options

# The prefix of the options that Spark's writer puts into a snapshot's summary.
PROPERTY = "snapshot-property."

_MAIN = "main"
_OVERTAKEN = "org.apache.iceberg.exceptions.CommitFailedException"
_MISSING_FILES = "org.apache.iceberg.exceptions.ValidationException"
_DELETES = "added-delete-files"


@dataclass(frozen=True, slots=True)
class Target:
    """A branch of a table, and the options with which Spark writes it.

    Args:
        spark: the Java session.
        jvm: the Java packages.
        name: name of the table in SQL.
        table: the Iceberg table object.
        branch: the branch that the options or the session name; None for the main branch.
        options: options of Spark's writer, as text.
    """

    spark: Any
    jvm: Any
    name: str
    table: Any
    branch: str | None
    options: Mapping[str, str]

    @classmethod
    def of(
        cls, session: SparkSession, name: str, options: Mapping[str, Any], commit: LakeCommit | None = None
    ) -> Target:
        """Open a table.

        Args:
            session: the session.
            name: name of the table in SQL.
            options: options of Spark's writer.
            commit: the marks for the snapshot that Spark's writer makes.
        """
        spark, jvm = session._jsparkSession, session._jvm  # noqa: SLF001
        iceberg = jvm.org.apache.iceberg.spark  # type: ignore[union-attr]
        table = iceberg.Spark3Util.loadIcebergTable(spark, name)
        marks = {} if commit is None else {f"{PROPERTY}{key}": value for key, value in commit.properties.items()}
        every = {**options, **marks}
        texts = {key: str(value).lower() if isinstance(value, bool) else str(value) for key, value in every.items()}
        given = jvm.org.apache.spark.sql.util.CaseInsensitiveStringMap(texts)  # type: ignore[union-attr]
        branch = iceberg.SparkTableUtil.determineWriteBranch(spark, table, None, given)
        return cls(spark, jvm, name, table, branch, texts)

    @property
    def place(self) -> str:
        """The one spelling of the branch: two catalogs may give the table different names."""
        location = str(self.table.location())
        return location if self.branch in {None, _MAIN} else f"{location}@{self.branch}"

    def begin(self) -> Attempt:
        """Begin a transaction over the newest state of the table."""
        transaction = self.table.newTransaction()  # reads the newest metadata from the catalog
        return Attempt(self, transaction, transaction.table().operations().current())


@dataclass(frozen=True, slots=True)
class Attempt:
    """A transaction over a table as it was at one moment.

    Args:
        target: the branch to write.
        transaction: the Iceberg transaction, which only this process sees.
        before: the table's metadata at that moment.
    """

    target: Target
    transaction: Any
    before: Any

    @property
    def _table(self) -> Any:
        return self.transaction.table()

    def _ancestors(self) -> Iterator[Any]:
        snapshot = self._head()
        while snapshot is not None:
            yield snapshot
            parent = snapshot.parentId()
            snapshot = None if parent is None else self._table.snapshot(parent)

    def commits(self) -> Iterator[Earlier]:
        """Yield our commits among the newest snapshot and its ancestors, newest first, without a Spark job."""
        for snapshot in self._ancestors():
            if (found := LakeCommit.of(dict(snapshot.summary()))) is not None:
                yield Earlier(found, snapshot.snapshotId())

    def rows_of(self, spark: SparkSession, at: int) -> DataFrame | None:
        """Return the rows that a snapshot has added; None if it or its parent no longer exists."""
        snapshot = self._table.snapshot(at)
        if snapshot is None:
            return None
        parent = snapshot.parentId()
        span: dict[str, Any] = {"start-snapshot-id": parent, "end-snapshot-id": at}
        options = spark_options({"snapshot-id": at}) if parent is None else span
        try:
            return spark.read.format("iceberg").options(**options).load(self.target.name)
        except (PySparkException, Py4JJavaError):  # for example because the parent has expired
            return None

    def before_snapshot(self, at: int) -> str:
        """Return the state before a snapshot, for messages."""
        snapshot = self._table.snapshot(at)
        parent = None if snapshot is None else snapshot.parentId()
        return "its state before the batch" if parent is None else f"snapshot {parent}"

    def remove(self, at: int, commit: LakeCommit | None) -> None:
        """Remove exactly the data files that a snapshot has added, if they and their rows are still in the table.

        Args:
            at: the snapshot.
            commit: the marks of the snapshot that removes them; None if another snapshot of ours follows.

        Raises:
            CannotRemove: the files were rewritten, or some of their rows deleted.
        """
        snapshot = self._table.snapshot(at)
        if snapshot is None:
            raise CannotRemove(f"snapshot {at}, which added them, has expired")
        files = list(snapshot.addedDataFiles(self._table.io()).iterator())
        self._refuse_deleted_rows(at, {str(file.location()) for file in files})
        delete = self.transaction.newDelete()
        for file in files:
            delete.deleteFile(file)
        delete.validateFilesExist()
        self._commit(delete, commit)

    def _refuse_deleted_rows(self, at: int, paths: set[str]) -> None:
        """Refuse to remove files if rows of them may have been deleted or updated since, in files of their own."""
        for snapshot in self._ancestors():
            if snapshot.snapshotId() == at:
                return
            if not dict(snapshot.summary()).get(_DELETES):
                continue
            for file in snapshot.addedDeleteFiles(self._table.io()).iterator():
                referenced = file.referencedDataFile()
                if referenced is None or str(referenced) in paths:
                    raise CannotRemove(f"snapshot {snapshot.snapshotId()} has deleted or updated rows since")

    def mark(self, commit: LakeCommit) -> None:
        """Add a snapshot that changes no rows and has the marks of a commit."""
        self._commit(self.transaction.newDelete(), commit)

    def _commit(self, change: Any, commit: LakeCommit | None) -> None:
        for key, value in ({} if commit is None else commit.properties).items():
            change.set(key, value)
        if self.target.branch is not None:
            change.toBranch(self.target.branch)
        try:
            change.commit()
        except Py4JJavaError as error:
            if error.java_exception.getClass().getName() != _MISSING_FILES:
                raise
            raise CannotRemove("their files were rewritten or removed since") from error

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
        own = list(self._own_snapshots())
        if not own or self._table.schema().schemaId() != self.before.currentSchemaId():
            return []
        files = list(head.addedDataFiles(io).iterator())
        ids = {one.snapshotId() for one in own}
        manifests = {str(file.path()) for one in own for file in one.allManifests(io) if file.snapshotId() in ids}
        leftover = [*(one.manifestListLocation() for one in own), *manifests]
        self.target.jvm.org.apache.iceberg.CatalogUtil.deleteFiles(io, leftover, "overtaken")
        return files

    def _own_snapshots(self) -> Iterator[Any]:
        """Yield the snapshots that only this transaction knows, newest first."""
        for snapshot in self._ancestors():
            if self.before.snapshot(snapshot.snapshotId()) is not None:
                return
            yield snapshot

    def _head(self) -> Any:
        branch = self.target.branch or _MAIN
        return self.target.jvm.org.apache.iceberg.util.SnapshotUtil.latestSnapshot(self._table, branch)
