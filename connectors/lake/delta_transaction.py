"""A transaction over a Delta table, and what can be done in it. The calls of Java stay here."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from py4j.protocol import Py4JError, Py4JJavaError
from pyspark.sql import DataFrame, SparkSession

from gluepot.connectors.lake.commits import CannotRemove, LakeCommit
from gluepot.connectors.lake.delta_history import METADATA, Past, Version, commit_of, marks, past, writer

_FILES = "AddFile"
_OVERTAKEN = ".DeltaConcurrentModificationException"
_APPEND_ONLY = "delta.appendOnly"
_UNSET_ARGUMENTS = 5  # further arguments of Delta's operation for its history


@dataclass(frozen=True, slots=True)
class Target:
    """A table.

    Args:
        spark: the session.
        name: URL of its folder.
        log: Delta's log of the table.
        options: options of Spark's writer, as text.
    """

    spark: SparkSession
    name: str
    log: Any
    options: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, spark: SparkSession, name: str, options: Mapping[str, Any]) -> Target:
        """Open a table, or the folder in which it will be made."""
        texts = {key: str(value).lower() if isinstance(value, bool) else str(value) for key, value in options.items()}
        jvm: Any = spark._jvm  # noqa: SLF001  here and below: Python has no other way to Delta's transactions
        path, settings = (
            jvm.org.apache.hadoop.fs.Path(name),
            jvm.org.apache.spark.api.python.PythonUtils.toScalaMap(texts),
        )
        log = jvm.org.apache.spark.sql.delta.DeltaLog.forTable(spark._jsparkSession, path, settings)  # noqa: SLF001
        return cls(spark, name, log, texts)

    @property
    def place(self) -> str:
        """The one spelling of the folder."""
        return str(self.log.dataPath().toString())

    def holds(self, planned: LakeCommit) -> bool:
        """Tell whether the query has come to this batch, as far as this process knows the table."""
        # This process's cached snapshot is enough: if another process has written since, Delta's own check finds it.
        last = self.log.unsafeVolatileSnapshot().transactions().get(writer(planned))
        return not last.isEmpty() and last.get() >= planned.key.batch_id

    def begin(self) -> Attempt:
        """Begin a transaction over the newest state of the table."""
        nothing = self.spark._jvm.scala.Option.empty()  # type: ignore[union-attr]  # noqa: SLF001
        return Attempt(self, self.log.startTransaction(nothing, nothing))


@dataclass(frozen=True, slots=True)
class Attempt:
    """A transaction over a table as it was at one moment.

    Args:
        target: the table.
        transaction: Delta's transaction.
        actions: what the commit will contain.
    """

    target: Target
    transaction: Any
    actions: list[Any] = field(default_factory=list)

    @property
    def _jvm(self) -> Any:
        return self.target.spark._jvm  # noqa: SLF001

    @property
    def exists(self) -> bool:
        """Whether the table exists."""
        return bool(self.transaction.readVersion() >= 0)

    def history(self, planned: LakeCommit) -> Sequence[Past]:
        """Return our commits, newest first; none if the query has not come to this batch.

        From now on, Delta refuses this transaction if another one commits the same write first.
        """
        if not self.holds(planned):
            return []
        history = self.target.spark.sql(f"DESCRIBE HISTORY delta.`{self.target.name}`").where(
            f"version <= {self.transaction.readVersion()} AND (operation = 'RESTORE' OR {METADATA} LIKE '%gluepot.%')"
        )
        rows = history.selectExpr(
            "version",
            "timestamp",
            METADATA,
            "IF(operation = 'RESTORE', try_cast(operationParameters['version'] AS BIGINT), NULL)",
            "IF(operation = 'RESTORE', try_cast(operationParameters['timestamp'] AS TIMESTAMP), NULL)",
        )
        return past(Version(row[0], row[1], commit_of(row[2]), row[3], row[4]) for row in rows.collect())

    def holds(self, planned: LakeCommit) -> bool:
        """Tell whether the table says that the query has come to this batch."""
        return bool(self.transaction.txnVersion(writer(planned)) >= planned.key.batch_id)

    def rows_of(self, at: int) -> DataFrame | None:
        """Return the rows that a version has added; None if its entry in the log no longer exists."""
        try:
            added = self._added(at)
        except CannotRemove:
            return None
        snapshot, nothing = self.transaction.snapshot(), self._jvm.scala.Option.empty()
        files = self.target.log.createDataFrame(snapshot, self._seq(added), False, nothing)
        return DataFrame(files, self.target.spark)

    def _added(self, at: int) -> list[Any]:
        try:
            entries = self.target.log.getChanges(at, at, self._jvm.scala.Option.empty(), True)
            actions = entries.next()._2()  # noqa: SLF001  a pair of Scala
        except Py4JError as error:
            raise CannotRemove(f"version {at}, which added them, is no longer in the table's log") from error
        every = (actions.apply(number) for number in range(actions.size()))
        return [one for one in every if one.getClass().getSimpleName() == _FILES]

    def remove(self, at: int) -> None:
        """Remove exactly the data files that a version has added, if they and their rows are still in the table.

        Raises:
            CannotRemove: the files were rewritten, some of their rows were deleted, or the table never loses rows.
        """
        added = self._added(at)
        if not added:
            return
        settings = json.loads(self.transaction.metadata().json())["metaData"]["configuration"]
        if settings.get(_APPEND_ONLY, "false").lower() == "true":
            raise CannotRemove(f"the table has {_APPEND_ONLY}")
        files = DataFrame(self.transaction.snapshot().allFiles().toDF(), self.target.spark)
        paths = [str(one.path()) for one in added]
        live = files.where(files["path"].isin(paths)).select("path", "deletionVector").collect()
        if len(live) < len(set(paths)):
            raise CannotRemove("their files were rewritten or removed since")
        if any(row["deletionVector"] is not None for row in live):
            raise CannotRemove("some of them were deleted or updated since")
        now_ms = self._jvm.java.lang.System.currentTimeMillis()
        self.actions.extend(one.removeWithTimestamp(now_ms, True) for one in added)

    def write(self, frame: DataFrame, commit: LakeCommit) -> None:
        """Have Spark write the rows as its writer does, for this transaction."""
        jvm, target = self._jvm, self.target
        delta, session = jvm.org.apache.spark.sql.delta, target.spark._jsparkSession  # noqa: SLF001
        as_map = jvm.org.apache.spark.api.python.PythonUtils.toScalaMap
        nothing = jvm.scala.Option.empty()
        options = delta.DeltaOptions(as_map({**target.options, **marks(commit)}), session.sessionState().conf())
        settings = as_map({key: value for key, value in target.options.items() if key.startswith("delta.")})
        command = delta.commands.WriteIntoDelta(
            target.log,
            jvm.org.apache.spark.sql.SaveMode.Append,
            options,
            self._seq([]),
            settings,
            frame._jdf,  # noqa: SLF001
            nothing,
            nothing,
            False,
        )
        actions = command.write(self.transaction, session, nothing, False)
        self.actions.extend(actions.apply(number) for number in range(actions.size()))

    def mark(self, commit: LakeCommit) -> None:
        """Have the commit say that the query has come to this batch."""
        now_ms = self._jvm.scala.Option.apply(self._jvm.java.lang.System.currentTimeMillis())
        delta = self._jvm.org.apache.spark.sql.delta
        self.actions.append(delta.actions.SetTransaction(writer(commit), commit.key.batch_id, now_ms))

    def takes_place(self, commit: LakeCommit) -> bool:
        """Commit; if another commit is in conflict with this one, do nothing and return False."""
        some, nothing = self._jvm.scala.Option.apply, self._jvm.scala.Option.empty()
        append = self._jvm.org.apache.spark.sql.SaveMode.Append
        described = getattr(self._jvm.org.apache.spark.sql.delta, "DeltaOperations$Write")(
            append, nothing, nothing, some(marks(commit)[METADATA]), *[nothing] * _UNSET_ARGUMENTS
        )
        try:
            self.transaction.commit(self._seq(self.actions), described)
        except Py4JJavaError as error:
            if not _is_overtaken(error.java_exception.getClass()):
                raise
            return False
        return True

    def _seq(self, values: list[Any]) -> Any:
        return self._jvm.org.apache.spark.api.python.PythonUtils.toSeq(values)


def _is_overtaken(kind: Any) -> bool:
    while kind is not None:
        if kind.getName().endswith(_OVERTAKEN):
            return True
        kind = kind.getSuperclass()
    return False
