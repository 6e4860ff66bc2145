"""The column records of the tables that are written to: read from the manifests once, then kept in memory.

A write uses the column records of earlier batches of its query, and those that other queries had when the table was
opened. A batch that is replayed uses the same records, so that it produces the same files.

A table without files has no columns to keep to. So after a purge that leaves it empty, only later manifests count. If
this process has purged the table, its next write reads the manifests again. The purge of another process is noticed
when the table is next opened.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from threading import Lock

from gluepot.commit.compaction import emptied_files
from gluepot.commit.history import Published, live
from gluepot.commit.own_purges import EMPTIED, PurgeCounts
from gluepot.commit.target import Target
from gluepot.connectors.values import CommitKey, ManifestPart

# A table is forgotten if no batch has written to it for this number of batches. `gluepot.commit.QueryWrites` forgets it
# earlier, and opens it again before the next write.
_KEPT_BATCHES = 200


@dataclass(slots=True)
class _Table:
    used: int
    emptied: int
    columns: list[bytes]


class TableColumns:
    """The column records of all tables that one process writes to. Safe to use from several threads.

    Args:
        emptied: counts the purges by which the process empties tables.
    """

    def __init__(self, emptied: PurgeCounts = EMPTIED) -> None:
        self._emptied = emptied
        self._reading = Lock()
        self._tables: dict[tuple[str, str], _Table] = {}
        self._changing = Lock()

    def __len__(self) -> int:
        """Return the number of known tables."""
        return len(self._tables)

    def begin(self, target: Target, key: CommitKey, published: Published) -> None:
        """Load the column records from the manifests of a table, in place of those in memory.

        Args:
            target: the table's target.
            key: commit key of the query's first write to it.
            published: the table's live manifests.
        """
        times = self._emptied.times(target.table.url)
        known = _Table(key.batch_id, times, list(published.recorded_columns(key, emptied_files(target.table))))
        with self._changing:
            oldest = key.batch_id - _KEPT_BATCHES
            self._tables = {at: one for at, one in self._tables.items() if at[1] != key.query_id or one.used >= oldest}
            self._tables[_table(target, key)] = known

    def refresh(self, target: Target, key: CommitKey) -> None:
        """Read the manifests of a table again if this process has emptied it since it was opened."""
        with self._reading:
            with self._changing:
                is_known = self._used(target, key).emptied == self._emptied.times(target.table.url)
            if not is_known:
                self.begin(target, key, live(target.table))

    def before(self, target: Target, key: CommitKey) -> Sequence[bytes]:
        """Return what was recorded before a write, oldest first."""
        with self._changing:
            return tuple(self._used(target, key).columns)

    def learn(self, target: Target, key: CommitKey, parts: Iterable[ManifestPart]) -> None:
        """Add the column records of a write."""
        now = dict.fromkeys(one for part in parts for one in part.columns or ())
        with self._changing:
            columns = self._used(target, key).columns
            columns += [one for one in now if one not in columns]

    def _used(self, target: Target, key: CommitKey) -> _Table:
        table = self._tables[_table(target, key)]
        table.used = max(table.used, key.batch_id)
        return table


def _table(target: Target, key: CommitKey) -> tuple[str, str]:
    return target.table.url, key.query_id
