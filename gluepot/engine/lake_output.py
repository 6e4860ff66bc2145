"""Appends to lake tables: each is announced, made once, and taken back if the last attempt does not make it again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from hashlib import sha256
from itertools import count
from typing import TYPE_CHECKING, Any

from py4j.protocol import Py4JError
from pyspark.errors import AnalysisException, PySparkException
from pyspark.sql import DataFrame, SparkSession

from gluepot import commit
from gluepot.commit.record import input_text
from gluepot.connectors.lake.commits import LakeCommit, Rows
from gluepot.connectors.lake.hudi import HudiTable
from gluepot.connectors.lake.tables import MARKED, MarkedTable, address, at_address
from gluepot.connectors.values import write_label
from gluepot.core.failpoints import reach
from gluepot.core.logging import get_logger

if TYPE_CHECKING:
    from gluepot.connectors.lake.tables import LakeTable
    from gluepot.connectors.values import CommitKey, Manifest

log = get_logger(__name__)


@dataclass(frozen=True, slots=True)
class LakeAppend:
    """An append to a lake table that is about to be made.

    Args:
        frame: the rows.
        table: the table.
        options: options of Spark's writer.
        planned: the manifest without parts.
        ctx: the script's `transformation_ctx`.
        given: text that is equal for equal input of the batch; empty for a run, whose input is not compared.
        writes: the writes of the query or run.
    """

    frame: DataFrame
    table: LakeTable
    options: Mapping[str, Any]
    planned: Manifest
    ctx: str
    given: str
    writes: commit.QueryWrites

    def run(self) -> None:
        """Append the rows, so that the table holds them once however often the batch is tried."""
        if isinstance(self.table, HudiTable):
            self._append(self.planned.key.ctx, {})
        else:
            self._append_once(self.table)

    def _append_once(self, table: MarkedTable) -> None:
        place = _place_of(self.frame.sparkSession, table, self.options)
        compared: dict[int, Rows] = {}
        label = self._label(table, place, compared)
        self.writes.announce(self._write(table, place, label), self.planned.key.batch_id)
        self._append(label, compared)

    def _append(self, label: str, compared: dict[int, Rows]) -> None:
        if self.table.append(self.frame, self._commit(label), self.options, compared):
            reach("lake.appended")
        else:
            log.info("batch_already_in_table", table=self.table.name, write=label)

    def _label(self, table: MarkedTable, place: str, compared: dict[int, Rows]) -> str:
        """Claim the label of the write.

        A retry may make the writes of one ctx in another order, so that they are told apart by their rows: the append
        takes the label under which an earlier attempt has added the same rows, if there is one. Otherwise it takes a
        new one, and what no append has claimed is taken back at the end of the batch. If the function has made one
        write of this ctx in each batch so far, its other rows replace those of the earlier attempt at once.
        """
        known = self.writes.attempted(table.kind, place)
        if known and table.reads_itself(self.frame, self.options):
            # The frame was made without the rows of this batch the first time, so it has to be again.
            self.writes.take_back_from(table.kind, place)
            known = frozenset()
        published: frozenset[str] = frozenset()
        if known:
            commits = [self._commit(one.ctx) for one in sorted(known) if self._is_of_ctx(one.ctx)]
            equal, published = table.published(self.frame, commits, self.options, compared)
            for label in equal:
                if self.writes.claim(self._write(table, place, label)):
                    return label
        first = write_label(self.ctx, 1)
        if published == {first} and self._writes_once(table, place):
            published = frozenset()
        labels = (write_label(self.ctx, nth) for nth in count(1))
        return next(one for one in labels if one not in published and self.writes.claim(self._write(table, place, one)))

    def _writes_once(self, table: MarkedTable, place: str) -> bool:
        is_usual = bool(self.given) and self.planned.key.batch_id > 0
        return is_usual and not self.writes.knows(self._write(table, place, write_label(self.ctx, 2)))

    def _is_of_ctx(self, label: str) -> bool:
        nth = label.rpartition(".")[2]
        return label in {write_label(self.ctx, 1), write_label(self.ctx, int(nth) if nth.isdecimal() else 1)}

    def _write(self, table: MarkedTable, place: str, label: str) -> commit.Write:
        return commit.Write(table.kind, place, label, mode=address(table, self.options))

    def _commit(self, label: str) -> LakeCommit:
        key = replace(self.planned.key, ctx=label)
        return LakeCommit(key, self.given, self.planned.token)


def input_digest(planned: Manifest) -> str:
    """Return text that is equal for equal input of a batch."""
    return sha256(input_text(planned.input_ranges, planned.offsets_digest).encode()).hexdigest()


def _place_of(spark: SparkSession, table: LakeTable, options: Mapping[str, Any]) -> str:
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
