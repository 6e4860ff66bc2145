"""The writes of a rehearsal: they run, but nothing that they write becomes visible."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pyspark.sql import DataFrame, SparkSession

from gluepot.commit import OpenTable, Target
from gluepot.connectors.contracts import RecordSink
from gluepot.connectors.documents.sink import DocumentSink, UnrecordedSink
from gluepot.connectors.jdbc.target import JdbcWriteSettings
from gluepot.connectors.values import CommitKey, Manifest
from gluepot.engine import execute
from gluepot.engine.jdbc_output import rehearse_table
from gluepot.engine.pipeline import Pipeline
from gluepot.engine.write_totals import RecordSchema, WriteTotals
from gluepot.engine.writer import FileWrite, Given, TableWriter

if TYPE_CHECKING:
    from gluepot.connectors.jdbc.publishing import TableName
    from gluepot.connectors.lake.tables import LakeTable

# The file writes that the batch function has come to, by place and commit key.
Reached = dict[tuple[str, CommitKey], Target]


class RehearsingWriter(TableWriter):
    """Stages each write, removes what was staged instead of publishing it, and records the write.

    It does not share the columns that it learns with the writer of the batch, and it does not check what the target
    should hold already.

    Args:
        of: the writer of the batch.
        given: the part of the batch on which the function is tried.
        reached: receives the file writes.
    """

    is_rehearsal = True

    def __init__(self, of: TableWriter, given: Given, reached: Reached) -> None:
        super().__init__(
            replace(of.by, origin=None),
            of.targets,
            given=given,
            totals=WriteTotals(RecordSchema(of.totals.schema.known)),
            rejects_path=of.rejects_path,
            documents_path=of.documents_path,
            rejects=of.rejects,
            during=of.during,
        )
        self._reached = reached

    def finish(self, *, is_strict: bool = False) -> None:
        """Do nothing: what has to be done at the end of the batch is not rehearsed."""

    def _publish_files(self, spark: SparkSession, write: FileWrite) -> None:
        self._reached[write.place, write.planned.key] = write.target
        execute.rehearse(spark, write.pipeline, write.sink, write.target, write.planned)

    def _send_records(self, spark: SparkSession, pipeline: Pipeline, sink: RecordSink) -> None:  # noqa: ARG002
        execute.count(spark, pipeline)

    def _publish_documents(
        self,
        spark: SparkSession,
        pipeline: Pipeline,
        sink: DocumentSink,  # noqa: ARG002
        table: OpenTable,  # noqa: ARG002
        planned: Manifest,  # noqa: ARG002
    ) -> None:
        execute.count(spark, pipeline)

    def _put_documents(self, spark: SparkSession, pipeline: Pipeline, sink: UnrecordedSink) -> None:  # noqa: ARG002
        execute.count(spark, pipeline)

    def _publish_table(
        self,
        spark: SparkSession,
        pipeline: Pipeline,
        settings: JdbcWriteSettings,
        name: TableName,
        planned: Manifest,
    ) -> None:
        rehearse_table(spark, pipeline, settings, name, planned)

    def _append_rows(
        self,
        frame: DataFrame,
        table: LakeTable,  # noqa: ARG002
        options: Mapping[str, Any],  # noqa: ARG002
        planned: Manifest,  # noqa: ARG002
        ctx: str,  # noqa: ARG002
    ) -> None:
        frame.write.format("noop").mode("overwrite").save()
