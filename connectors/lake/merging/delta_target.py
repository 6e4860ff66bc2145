"""A table of Delta that statements are merged into: which files it has, and how they are replaced.

Delta's own transaction in the JVM lists the files, looks for conflicts and commits, as for Spark's MERGE.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote
from uuid import uuid4

import pyarrow as pa
import pyarrow.parquet as pq
from py4j.protocol import Py4JJavaError

from gluepot.connectors.lake.merging.arrow_schema import alike
from gluepot.connectors.lake.merging.delta_stats import stats
from gluepot.connectors.lake.merging.expressions import COMPARED, OnlySpark, kind_of
from gluepot.connectors.lake.merging.statement import Attribute
from gluepot.connectors.lake.merging.target import (
    NO_VALUE,
    Counts,
    DataFile,
    Layout,
    NewFile,
    Overtaken,
    Partition,
    PartitionField,
    local_path,
)

_INDEX = "org.apache.spark.sql.delta.files.TahoeLogFileIndex"
_OVERTAKEN = ".DeltaConcurrentModificationException"
# Settings of a table and of a session that change nothing of what is in its files.
_TABLE_SETTINGS = {
    "delta.logRetentionDuration",
    "delta.deletedFileRetentionDuration",
    "delta.checkpointInterval",
    "delta.enableExpiredLogCleanup",
}
_SESSION = "spark.databricks.delta."
_SESSION_SETTINGS = {
    f"{_SESSION}retentionDurationCheck.enabled",
    f"{_SESSION}snapshotPartitions",
    f"{_SESSION}lastCommitVersionInSession",
    f"{_SESSION}vacuum.parallelDelete.enabled",
}
_READER, _WRITER = 1, 2
_CODECS = {"snappy": "snappy", "zstd": "zstd", "gzip": "gzip", "lz4": "lz4", "none": "none", "uncompressed": "none"}
_CODEC = "spark.sql.parquet.compression.codec"
_PLAIN: Mapping[str, pa.DataType] = {
    **COMPARED,
    "float": pa.float32(),
    "double": pa.float64(),
    "binary": pa.binary(),
}
_PARTITIONED = {"byte", "short", "integer", "long", "string", "boolean", "date"}
_FILE_BYTES, _GROUP_BYTES = 268_435_456, 134_217_728
# Settings by which Spark counts days and moments in the calendar of before 1582, or refuses old ones.
_CALENDARS = ("RebaseModeInRead", "RebaseModeInWrite")
_MOMENTS = "spark.sql.parquet.outputTimestampType"
# What says to Spark that a file counts in today's calendar: without it, a setting decides when the file is read.
_SPARK_VERSION = "org.apache.spark.version"
# Files of Spark that count days and moments in the calendar of before 1582.
_OLD_CALENDAR = {b"org.apache.spark.legacyDateTime", b"org.apache.spark.legacyINT96"}


@dataclass(frozen=True, slots=True)
class DeltaMergeTarget:
    """A table as it was at one moment.

    Args:
        jvm: the Java packages.
        transaction: Delta's transaction.
        root: the local path of its folder.
        layout: how its files are made.
    """

    jvm: Any
    transaction: Any
    root: str
    layout: Layout

    @classmethod
    def of(cls, jvm: Any, settings: Mapping[str, str], relation: Any, columns: Sequence[Attribute]) -> DeltaMergeTarget:
        """Open the table of a statement.

        Args:
            jvm: the Java packages.
            settings: of the session.
            relation: the table in Spark's plan.
            columns: its columns there.

        Raises:
            OnlySpark: it is not a table of Delta, or only Spark can change it.
        """
        index = relation.relation().location()
        if index.getClass().getName() != _INDEX or index.isTimeTravelQuery():
            raise OnlySpark("a table that is not Delta's, or an older version")
        if any(name.startswith(_SESSION) and name not in _SESSION_SETTINGS for name in settings):
            raise OnlySpark("settings of the session")
        transaction = index.deltaLog().startTransaction(relation.catalogTable(), jvm.scala.Option.empty())
        protocol = json.loads(transaction.protocol().json())["protocol"]
        if protocol["minReaderVersion"] > _READER or protocol["minWriterVersion"] > _WRITER:
            raise OnlySpark("a table of a newer protocol")
        metadata = json.loads(transaction.metadata().json())["metaData"]
        if not all(name in _TABLE_SETTINGS for name in metadata["configuration"]):
            raise OnlySpark("settings of the table")
        if stores_dates_otherwise(settings) and any(
            one in metadata["schemaString"] for one in ('"date"', '"timestamp')
        ):
            raise OnlySpark("settings that change how dates and timestamps are stored")
        root = local_path(index.deltaLog().dataPath().toString())
        version = str(transaction.spark().version())
        layout = _layout(metadata, settings.get(_CODEC, "snappy").lower(), version)
        fields = json.loads(metadata["schemaString"])["fields"]
        if [(one["name"], kind_of(one["type"])) for one in fields] != [(one.name, one.kind) for one in columns]:
            raise OnlySpark("columns that have changed since")
        return cls(jvm, transaction, root, layout)

    @property
    def counts(self) -> bool:
        """See `MergeTarget`."""
        return True

    def files(self, bounds: Mapping[str, tuple[Any, Any]]) -> Sequence[DataFile]:  # noqa: ARG002  as in `MergeTarget`
        """See `MergeTarget`."""
        found = self.transaction.filterFiles()
        return [self._file(found.apply(at)) for at in range(found.size())]

    def _file(self, add: Any) -> DataFile:
        told = json.loads(add.json())["add"]
        if told.get("deletionVector") or told.get("baseRowId") is not None:
            raise OnlySpark("a file with deleted rows")
        path = unquote(told["path"])
        values = tuple(told["partitionValues"].get(one.column) for one in self.layout.partition)
        is_whole = path.startswith(("/", "file:")) or "://" in path
        return DataFile(local_path(path) if is_whole else f"{self.root}/{path}", values, told["size"], add)

    def columns(self, file: pq.ParquetFile) -> Sequence[str | None]:
        """See `MergeTarget`."""
        if _OLD_CALENDAR & (file.schema_arrow.metadata or {}).keys():
            raise OnlySpark("a file with dates of the old calendar")
        named = {one.name: one for one in file.schema_arrow}
        for one in self.layout.schema:
            known = named.get(one.name, one)
            # Spark writes moments in a form of its own, which has no zone in Arrow.
            is_moment = one.type == pa.timestamp("us", "UTC") and known.type == pa.timestamp("us")
            if not (is_moment or alike(known, one, numbered=False)):
                raise OnlySpark(f"a file with {one.name} as {known.type}")
        return [one.name if one.name in named else None for one in self.layout.schema]

    def missing(self, at: int, file: DataFile, rows: int) -> pa.Array:
        """See `MergeTarget`."""
        field = self.layout.schema.field(at)
        for part, value in zip(self.layout.partition, file.partition, strict=True):
            if part.column == field.name:
                return pa.repeat(pa.scalar(value, pa.string()), rows).cast(field.type)
        if not field.nullable:
            raise OnlySpark("a file without a column that it needs")
        return pa.nulls(rows, field.type)

    def new_path(self, partition: Partition) -> str:
        """See `MergeTarget`."""
        if {"", NO_VALUE} & set(partition):
            raise OnlySpark("a partition with an empty name, or with the one that stands for a null")
        pairs = zip(self.layout.partition, partition, strict=True)
        folders = [f"{one.column}={NO_VALUE if value is None else quote(value, safe=' ')}" for one, value in pairs]
        folder = "/".join([self.root, *folders])
        Path(folder).mkdir(parents=True, exist_ok=True)
        return f"{folder}/part-00000-{uuid4()}.c000.{self.layout.compression}.parquet"

    def prepared(
        self,
        removed: Sequence[DataFile],
        added: Sequence[NewFile],
        counts: Counts,
    ) -> Callable[[], None]:
        """See `MergeTarget`."""
        delta = self.jvm.org.apache.spark.sql.delta
        now_ms = self.jvm.java.lang.System.currentTimeMillis()
        actions = [old.own.removeWithTimestamp(now_ms, True) for old in removed]
        actions += [delta.actions.Action.fromJson(json.dumps(self._described(one))) for one in added]
        to_seq = self.jvm.org.apache.spark.api.python.PythonUtils.toSeq
        nothing = to_seq([])
        merge = getattr(getattr(delta, "DeltaOperations$Merge$"), "MODULE$")
        operation = merge.apply(self.jvm.scala.Option.empty(), nothing, nothing, nothing)
        described = to_seq(actions)
        self._tell(removed, added, counts)

        def commit() -> None:
            try:
                self.transaction.commit(described, operation)
            except Py4JJavaError as error:
                if self._is_overtaken(error.java_exception.getClass()):
                    raise Overtaken(str(error.java_exception.getMessage())) from error
                raise

        return commit

    def _tell(self, removed: Sequence[DataFile], added: Sequence[NewFile], counts: Counts) -> None:
        """Tell the transaction the figures that the table's history shows."""
        spark = self.transaction.spark()
        context, metrics = spark.sparkContext(), self.jvm.org.apache.spark.sql.execution.metric.SQLMetrics
        figures = {
            "operationNumSourceRows": counts.source,
            "numTargetRowsInserted": counts.inserted,
            "numTargetRowsUpdated": counts.updated,
            "numTargetRowsDeleted": counts.deleted,
            "numTargetRowsCopied": sum(one.rows for one in added) - counts.inserted - counts.updated,
            "numTargetFilesAdded": len(added),
            "numTargetFilesRemoved": len(removed),
        }
        made = {}
        for name, value in figures.items():
            made[name] = metrics.createMetric(context, name)
            made[name].set(value)
        self.transaction.registerSQLMetrics(spark, self.jvm.org.apache.spark.api.python.PythonUtils.toScalaMap(made))

    def _is_overtaken(self, kind: Any) -> bool:
        while kind is not None:
            if kind.getName().endswith(_OVERTAKEN):
                return True
            kind = kind.getSuperclass()
        return False

    def _described(self, new: NewFile) -> Mapping[str, Any]:
        status = Path(new.path).stat()
        pairs = zip(self.layout.partition, new.partition, strict=True)
        return {
            "add": {
                "path": quote(str(Path(new.path).relative_to(self.root)), safe="/="),
                "partitionValues": {one.column: value for one, value in pairs},
                "size": status.st_size,
                "modificationTime": status.st_mtime_ns // 1_000_000,
                "dataChange": True,
                "stats": json.dumps(stats(new.path)),
            }
        }


def stores_dates_otherwise(settings: Mapping[str, str]) -> bool:
    """Return whether settings of a session change how Spark stores or reads dates and timestamps. Pure."""
    modes = [value.upper() for name, value in settings.items() if name.endswith(_CALENDARS)]
    return any(one != "CORRECTED" for one in modes) or settings.get(_MOMENTS, "").upper() == "TIMESTAMP_MILLIS"


def _layout(metadata: Mapping[str, Any], codec: str, version: str) -> Layout:
    if codec not in _CODECS:
        raise OnlySpark("another compression")
    fields = json.loads(metadata["schemaString"])["fields"]
    columns = pa.schema([_field(one) for one in fields], metadata={_SPARK_VERSION: version})
    kinds = {one["name"]: one["type"] for one in fields}
    parts = metadata["partitionColumns"]
    if any(kinds[name] not in _PARTITIONED for name in parts):
        raise OnlySpark("a partition of another type")
    return Layout(
        columns,
        [name for name in columns.names if name not in parts],
        [PartitionField(name, "CAST({} AS STRING)") for name in parts],
        _CODECS[codec],
        _FILE_BYTES,
        _GROUP_BYTES,
    )


def _field(one: Mapping[str, Any]) -> pa.Field:
    if set(one["metadata"]) - {"comment"} or "." in one["name"]:
        raise OnlySpark("a column with a rule")
    return pa.field(one["name"], _type(one["type"]), nullable=one["nullable"])


def _type(kind: Any) -> pa.DataType:
    if isinstance(kind, str):
        if kind.startswith("decimal("):
            precision, scale = kind.removeprefix("decimal(").rstrip(")").split(",")
            return pa.decimal128(int(precision), int(scale))
        if kind not in _PLAIN:
            raise OnlySpark(f"a column of type {kind}")
        return _PLAIN[kind]
    if not all(kind.get(one, True) for one in ("containsNull", "valueContainsNull")):
        raise OnlySpark("values inside of a column that may not be null")
    match kind["type"]:
        case "struct":
            if not all(one["nullable"] for one in kind["fields"]):
                raise OnlySpark("values inside of a column that may not be null")
            return pa.struct([_field(one) for one in kind["fields"]])
        case "array":
            return pa.list_(pa.field("element", _type(kind["elementType"])))
        case _:
            return pa.map_(
                pa.field("key", _type(kind["keyType"]), nullable=False), pa.field("value", _type(kind["valueType"]))
            )
