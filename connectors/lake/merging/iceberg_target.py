"""A table of Iceberg that statements are merged into: which files it has, and how they are replaced.

Iceberg's own library in the JVM plans the files and commits, in the way in which Spark's writer does it for a MERGE.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import pyarrow as pa
import pyarrow.parquet as pq
from py4j.protocol import Py4JJavaError

from gluepot.connectors.lake.merging.arrow_schema import arrow_schema, column_names
from gluepot.connectors.lake.merging.expressions import OnlySpark
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

_TABLE = "org.apache.iceberg.spark.source.SparkTable"
_OVERTAKEN = {
    "org.apache.iceberg.exceptions.ValidationException",
    "org.apache.iceberg.exceptions.CommitFailedException",
}
# The last version of the format whose rows have no identity that has to be kept.
_LAST_VERSION = 2
_CODECS = {"zstd": "zstd", "snappy": "snappy", "gzip": "gzip", "lz4": "lz4", "uncompressed": "none"}
# Settings of a table with which files are more than rows in columns, and what they must be.
_NEEDED = {
    "write.merge.mode": "copy-on-write",
    "write.format.default": "parquet",
    "write.wap.enabled": "false",
    "write.parquet.variant-inference-buffer-size": "",
}
_REFUSED = ("write.parquet.bloom-filter-", "encryption.", "write.parquet.shred-variants")
# Settings of a session that change what is read or written.
_SESSION = ("spark.wap.", "spark.sql.iceberg.")
_HARMLESS = {"spark.sql.iceberg.handle-timestamp-without-timezone", "spark.sql.iceberg.vectorization.enabled"}
_TRANSFORMS = {
    "identity": "{}",
    "year": "years({})",
    "month": "months({})",
    "day": "days({})",
    "hour": "hours({})",
    "bucket": "bucket({n}, {})",
    "truncate": "truncate({n}, {})",
}
# Types of columns whose partitions Spark and Iceberg write as the same text.
_PARTITIONED = {"int", "long", "string", "boolean", "date", "timestamp", "timestamptz"}
_BOUNDED = {"int", "long", "string"}
_LEAST = {"int": -(2**31), "long": -(2**63)}
_TRUNCATION = re.compile(r"CAST\(.*\.system\.truncate\((\d+), ")
_FILE_BYTES, _GROUP_BYTES = 536_870_912, 134_217_728
_EPOCH = date(1970, 1, 1)


@dataclass(frozen=True, slots=True)
class IcebergMergeTarget:
    """A table as it was at one moment.

    Args:
        jvm: the Java packages.
        table: Iceberg's table.
        snapshot: number of the snapshot; None for a table without one.
        layout: how its files are made.
    """

    jvm: Any
    table: Any
    snapshot: int | None
    layout: Layout

    @property
    def counts(self) -> bool:
        """See `MergeTarget`."""
        return False

    @classmethod
    def of(cls, jvm: Any, settings: Mapping[str, str], relation: Any) -> IcebergMergeTarget:
        """Open the table of a statement.

        Args:
            jvm: the Java packages.
            settings: of the session.
            relation: the table in Spark's plan.

        Raises:
            OnlySpark: it is not a table of Iceberg, or only Spark can change it.
        """
        if relation.getClass().getSimpleName() != "DataSourceV2Relation":
            raise OnlySpark("a table that is not Iceberg's")
        if relation.table().getClass().getName() != _TABLE or relation.table().branch() is not None:
            raise OnlySpark("a table that is not Iceberg's, or a branch")
        if any(name.startswith(_SESSION) and name not in _HARMLESS for name in settings):
            raise OnlySpark("settings of the session")
        table = relation.table().table()
        known = table.schema().schemaId()
        table.refresh()  # the session caches the table, and another process may have changed it
        if table.schema().schemaId() != known:
            raise OnlySpark("columns that have changed since")
        head = table.currentSnapshot()
        schema = json.loads(jvm.org.apache.iceberg.SchemaParser.toJson(table.schema()))
        layout = _layout(jvm, table, schema, str(relation.catalog().get().name()))
        return cls(jvm, table, None if head is None else head.snapshotId(), layout)

    def files(self, bounds: Mapping[str, tuple[Any, Any]]) -> Sequence[DataFile]:
        """See `MergeTarget`."""
        if self.snapshot is None:
            return []
        expressions = self.jvm.org.apache.iceberg.expressions.Expressions
        scan = self.table.newScan().useSnapshot(self.snapshot)
        for name, (least, largest) in bounds.items():
            kind = str(self.table.schema().findField(name).type().toString())
            transforms = [one.sql for one in self.layout.partition if one.column == name]
            if kind in _BOUNDED and not is_beyond_truncation(kind, least, transforms):
                scan = scan.filter(expressions.greaterThanOrEqual(name, least))
                scan = scan.filter(expressions.lessThanOrEqual(name, largest))
        found, tasks = [], scan.planFiles()
        try:
            each = tasks.iterator()
            while each.hasNext():
                found.append(self._file(each.next()))
        finally:
            tasks.close()
        return found

    def _file(self, task: Any) -> DataFile:
        file = task.file()
        if task.deletes().size():
            raise OnlySpark("a file with deleted rows")
        if file.format().toString() != "PARQUET" or file.specId() != self.table.spec().specId():
            raise OnlySpark("a file of another format, or of an older partitioning")
        return DataFile(local_path(file.location()), self._partition(file), file.fileSizeInBytes(), file)

    def _partition(self, file: Any) -> Partition:
        kinds = self.table.spec().partitionType().fields()
        values, anything = file.partition(), self.jvm.java.lang.Class.forName("java.lang.Object")
        return tuple(_text(values.get(at, anything), str(kinds[at].type().toString())) for at in range(len(kinds)))

    def columns(self, file: pq.ParquetFile) -> Sequence[str | None]:
        """See `MergeTarget`."""
        return column_names(self.layout.schema, file.schema_arrow)

    def missing(self, at: int, file: DataFile, rows: int) -> pa.Array:  # noqa: ARG002  as in `MergeTarget`
        """See `MergeTarget`."""
        field = self.layout.schema.field(at)
        if not field.nullable or any(one.column == field.name for one in self.layout.partition):
            raise OnlySpark("a file without a column that it needs")
        return pa.nulls(rows, field.type)

    def new_path(self, partition: Partition) -> str:
        """See `MergeTarget`."""
        if NO_VALUE in partition:
            raise OnlySpark("a partition with the name that stands for a null")
        name = f"00000-0-{uuid4()}-gluepot.parquet"
        places = self.table.locationProvider()
        if self.layout.partition:
            parts = self._described("", partition, 1, 1).build().partition()
            path = local_path(places.newDataLocation(self.table.spec(), parts, name))
        else:
            path = local_path(places.newDataLocation(name))
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        return path

    def _described(self, location: str, partition: Partition, rows: int, size_bytes: int) -> Any:
        files = self.jvm.org.apache.iceberg.DataFiles.builder(self.table.spec())
        files = files.withPath(location).withFormat("parquet").withFileSizeInBytes(size_bytes).withRecordCount(rows)
        return files.withPartitionValues(list(partition)) if partition else files

    def prepared(
        self,
        removed: Sequence[DataFile],
        added: Sequence[NewFile],
        counts: Counts,  # noqa: ARG002  as in `MergeTarget`
    ) -> Callable[[], None]:
        """See `MergeTarget`."""
        iceberg = self.jvm.org.apache.iceberg
        kept = iceberg.MetricsConfig.forTable(self.table)
        location = str(self.table.location())
        prefix = location.removesuffix(local_path(location))  # such as `file:`
        change = self.table.newOverwrite()
        for old in removed:
            change.deleteFile(old.own)
        for one in added:
            size_bytes = Path(one.path).stat().st_size
            metrics = iceberg.parquet.ParquetUtil.fileMetrics(self.table.io().newInputFile(one.path), kept)
            file = self._described(prefix + one.path, one.partition, one.rows, size_bytes).withMetrics(metrics)
            change.addFile(file.build())
        if self.snapshot is not None:
            change.validateFromSnapshot(self.snapshot)
        if self.table.properties().get("write.merge.isolation-level") != "snapshot":
            change.validateNoConflictingData()
        change.validateNoConflictingDeletes()

        def commit() -> None:
            try:
                change.commit()
            except Py4JJavaError as error:
                if error.java_exception.getClass().getName() in _OVERTAKEN:
                    raise Overtaken(str(error.java_exception.getMessage())) from error
                raise

        return commit


def is_beyond_truncation(kind: str, least: Any, transforms: Sequence[str]) -> bool:
    """Return whether the truncation of a number overflows, so that Iceberg looks for it in the wrong partition. Pure.

    Args:
        kind: Iceberg's type of the column.
        least: the least value that is looked for.
        transforms: the partitions of the column, as SQL.
    """
    widths = [int(match[1]) for one in transforms if (match := _TRUNCATION.match(one)) is not None]
    return kind in _LEAST and any(least < _LEAST[kind] + width for width in widths)


def _layout(jvm: Any, table: Any, schema: Mapping[str, Any], catalog: str) -> Layout:
    properties = dict(table.properties())
    if table.operations().current().formatVersion() > _LAST_VERSION:
        raise OnlySpark("a table whose rows have an identity")
    if table.sortOrder().isSorted():
        raise OnlySpark("a table with an order")
    for name, wanted in _NEEDED.items():
        if properties.get(name, wanted).lower() != wanted:
            raise OnlySpark(f"{name}={properties[name]}")
    if any(name.startswith(_REFUSED) for name in properties):
        raise OnlySpark("files with more than rows in columns")
    codec = _CODECS.get(properties.get("write.parquet.compression-codec", "zstd").lower())
    if codec is None:
        raise OnlySpark("another compression")
    local_path(properties.get("write.data.path", table.location()))
    columns = arrow_schema(schema)
    spec = json.loads(jvm.org.apache.iceberg.PartitionSpecParser.toJson(table.spec()))
    return Layout(
        columns,
        columns.names,
        [_partition_field(one, schema, catalog) for one in spec["fields"]],
        codec,
        int(properties.get("write.target-file-size-bytes", _FILE_BYTES)),
        int(properties.get("write.parquet.row-group-size-bytes", _GROUP_BYTES)),
    )


def _partition_field(field: Mapping[str, Any], schema: Mapping[str, Any], catalog: str) -> PartitionField:
    column = next((one for one in schema["fields"] if one["id"] == field["source-id"]), None)
    name, _, number = field["transform"].partition("[")
    sql = _TRANSFORMS.get(name)
    if column is None or sql is None or column["type"] not in _PARTITIONED:
        raise OnlySpark(f"the partition {field['name']}")
    if name == "identity":
        if column["type"].startswith("timestamp"):
            raise OnlySpark("a partition for each moment")
        return PartitionField(column["name"], "CAST({} AS STRING)")
    call = sql.replace("{n}", number.rstrip("]"))
    return PartitionField(column["name"], f"CAST(`{catalog.replace('`', '``')}`.system.{call} AS STRING)")


def _text(value: Any, kind: str) -> str | None:
    """Return the value of a partition as the text from which Iceberg makes it again."""
    if value is None:
        return None
    if kind == "date":
        return (_EPOCH + timedelta(days=int(value))).isoformat()
    return str(value).lower() if isinstance(value, bool) else str(value)
