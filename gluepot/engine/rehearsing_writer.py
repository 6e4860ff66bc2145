"""The writes of a batch function that is only tried: they run, and nothing of them becomes visible."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pyspark.sql import DataFrame, SparkSession

from gluepot.commit import Target
from gluepot.connectors.jdbc.target import JdbcWriteSettings
from gluepot.connectors.ports import CommitKey, Manifest, RecordSink
from gluepot.engine import execute
from gluepot.engine.pipeline import Pipeline
from gluepot.engine.write_totals import RecordSchema, WriteTotals
from gluepot.engine.writer import FileWrite, Given, TableWriter

if TYPE_CHECKING:
    from gluepot.connectors.jdbc.postgresql.publish import TableName
    from gluepot.connectors.lake.delta import DeltaTable
    from gluepot.connectors.lake.iceberg import IcebergTable

Reached = dict[tuple[str, CommitKey], Target]
"""Writes of files that were reached, by their place and key."""


class RehearsingWriter(TableWriter):
    """Runs each write up to where it would be published, takes back what was staged, and records the write.

    It learns columns of the records for itself alone, and does not ask what the target should hold already.

    Args:
        of: the writer of the batch.
        given: the part of the batch that the function is tried on.
        reached: where the writes are recorded.
    """

    def __init__(self, of: TableWriter, given: Given, reached: Reached) -> None:
        super().__init__(
            replace(of.by, origin=None),
            of.targets,
            given=given,
            totals=WriteTotals(RecordSchema(of.totals.schema.known)),
            rejects_path=of.rejects_path,
            during=of.during,
        )
        self._reached = reached

    def _publish_files(self, spark: SparkSession, write: FileWrite) -> None:
        self._reached[write.place, write.planned.key] = write.target
        execute.rehearse(spark, write.pipeline, write.sink, write.target, write.planned)

    def _send_records(self, spark: SparkSession, pipeline: Pipeline, sink: RecordSink) -> None:  # noqa: ARG002
        execute.count(spark, pipeline)

    def _publish_table(
        self,
        spark: SparkSession,
        pipeline: Pipeline,
        settings: JdbcWriteSettings,
        name: TableName,
        planned: Manifest,
    ) -> None:
        from gluepot.engine.jdbc_output import rehearse_table  # noqa: PLC0415  the driver takes its time to load

        rehearse_table(spark, pipeline, settings, name, planned)

    def _append_rows(
        self,
        frame: DataFrame,
        table: DeltaTable | IcebergTable,  # noqa: ARG002
        options: Mapping[str, Any],  # noqa: ARG002
        planned: Manifest,  # noqa: ARG002
    ) -> None:
        frame.write.format("noop").mode("overwrite").save()
