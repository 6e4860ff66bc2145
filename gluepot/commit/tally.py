"""How many rows a query has in a table: what the manifests said when it came, and what it published since.

Processes count what they did and forget it when they die; one that dies between a publish and its report, or between
the report and Spark's own commit, counts a batch never or twice. Manifests are there once.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from gluepot.commit.record import CommitRecord
from gluepot.connectors.values import CommitKey


@dataclass(frozen=True, slots=True)
class Tally:
    """The rows of one query in one table.

    Args:
        batch_id: the batch of the newest write.
        closed_rows: of the writes of all other batches; none of those is published again.
        open_rows: of the writes of that batch, which a retry may publish anew.
    """

    batch_id: int
    closed_rows: int = 0
    open_rows: Mapping[CommitKey, int] = field(default_factory=dict)

    @classmethod
    def of(cls, records: Iterable[CommitRecord], planned: CommitKey, rolled_up: int = 0) -> Tally:
        """Count what was published before a write.

        Args:
            records: the table's, the newest one of each write that no rollup holds.
            planned: of the write that is about to run.
            rolled_up: rows of the query's other writes.
        """
        own = [one for one in records if one.key.query_id == planned.query_id]
        return cls(
            planned.batch_id,
            rolled_up + sum(one.rows_out for one in own if one.key.batch_id != planned.batch_id),
            {one.key: one.rows_out for one in own if one.key.batch_id == planned.batch_id},
        )

    def after(self, written: CommitKey, rows: int) -> Tally:
        """Return what is counted once a write is published, whoever did it."""
        if written.batch_id == self.batch_id:
            return Tally(self.batch_id, self.closed_rows, {**self.open_rows, written: rows})
        return Tally(written.batch_id, self.total, {written: rows})

    @property
    def total(self) -> int:
        """Rows in the table."""
        return self.closed_rows + sum(self.open_rows.values())
