"""Appends to lake tables: each is announced, made once, and taken back if the last attempt does not make it again."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from py4j.protocol import Py4JError
from pyspark.errors import AnalysisException, PySparkException
from pyspark.sql import DataFrame, SparkSession

from gluepot import commit
from gluepot.commit.record import input_text
from gluepot.connectors.lake.commits import LakeCommit
from gluepot.connectors.lake.hudi import HudiTable
from gluepot.connectors.lake.tables import MARKED, address, at_address
from gluepot.core.failpoints import reach
from gluepot.core.logging import get_logger

if TYPE_CHECKING:
    from gluepot.connectors.lake.tables import LakeTable
    from gluepot.connectors.values import CommitKey, Manifest

log = get_logger(__name__)


def append_rows(
    frame: DataFrame,
    table: LakeTable,
    options: Mapping[str, Any],
    planned: Manifest,
    given: str,
    writes: commit.QueryWrites,
) -> None:
    """Append rows to a lake table, so that it holds them once however often the batch is tried.

    Args:
        frame: the rows.
        table: the table.
        options: options of Spark's writer.
        planned: the manifest without parts.
        given: text that is equal for equal input of the batch; empty if it is not compared.
        writes: the writes of the query.
    """
    if not isinstance(table, HudiTable):
        place = place_of_table(frame.sparkSession, table, options)
        write = commit.Write(table.kind, place, planned.key.ctx, mode=address(table, options))
        writes.announce(write, planned.key.batch_id)
    if table.append(frame, LakeCommit(planned.key, given, planned.token), options):
        reach("lake.appended")
    else:
        log.info("batch_already_in_table", table=table.name, write=planned.key.ctx)


def input_digest(planned: Manifest) -> str:
    """Return text that is equal for equal input of a batch."""
    return sha256(input_text(planned.input_ranges, planned.offsets_digest).encode()).hexdigest()


def place_of_table(spark: SparkSession, table: LakeTable, options: Mapping[str, Any]) -> str:
    """Return the one spelling of a table, or its name if the session cannot open it, as the append then says."""
    try:
        return table.place(spark, options)
    except (TypeError, Py4JError, PySparkException):
        return table.name


def takes_back(writes: commit.QueryWrites, token: int) -> None:
    """Let the writes of a query take back appends to lake tables, those of an earlier driver included."""
    for kind in MARKED:
        writes.takes_back(kind, partial(_take_back, token))


def _take_back(token: int, write: commit.Write, key: CommitKey) -> bool:
    spark = SparkSession.active()
    table, options = at_address(write.kind, write.mode)
    try:
        is_there = table.place(spark, options) == write.place
    except AnalysisException:  # it was dropped since, or the attempt failed because it does not exist
        is_there = False
    if not is_there:
        log.warning("lake_table_is_gone", table=table.name, write=write.ctx, batch=key.batch_id)
        return True
    if table.take_back(spark, LakeCommit.taking_back(key, token), options):
        log.info("write_taken_back", table=table.name, write=write.ctx)
    return True
