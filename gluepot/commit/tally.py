"""Counts a query's rows in a table: those of the manifests at its start, and those that it published since.

A counter in a process would be wrong after a crash: a process that dies between publishing a batch and reporting it, or
between the report and Spark's own commit, would count the batch never or twice. Each manifest exists exactly once.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from gluepot.commit.record import CommitRecord
from gluepot.connectors.ports import CommitKey


@dataclass(frozen=True, slots=True)
class Tally:
    """The rows of one query in one table.

    Args:
        batch_id: the batch of the newest write.
        closed_rows: rows of all other batches, none of which is published again.
        open_rows: rows of each write of that batch, which a retry may publish again.
    """

    batch_id: int
    closed_rows: int = 0
    open_rows: Mapping[CommitKey, int] = field(default_factory=dict)

    @classmethod
    def of(cls, records: Iterable[CommitRecord], planned: CommitKey, rolled_up: int = 0) -> Tally:
        """Count what was published before a write.

        Args:
            records: the newest record of each write of the table that is not in a rollup.
            planned: commit key of the write that is about to run.
            rolled_up: number of the query's rows whose manifests are in rollups.
        """
        own = [one for one in records if one.key.query_id == planned.query_id]
        return cls(
            planned.batch_id,
            rolled_up + sum(one.rows_out for one in own if one.key.batch_id != planned.batch_id),
            {one.key: one.rows_out for one in own if one.key.batch_id == planned.batch_id},
        )

    def after(self, written: CommitKey, rows: int) -> Tally:
        """Return the tally after a write was published, by this driver or an earlier one."""
        if written.batch_id == self.batch_id:
            return Tally(self.batch_id, self.closed_rows, {**self.open_rows, written: rows})
        return Tally(written.batch_id, self.total, {written: rows})

    @property
    def total(self) -> int:
        """Rows in the table."""
        return self.closed_rows + sum(self.open_rows.values())
