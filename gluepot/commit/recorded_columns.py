"""What the writes to a table have recorded of its columns: read from the manifests once, then kept in memory.

A write knows what earlier batches of its query recorded, and what other queries had when it first looked; a batch that
is replayed knows the same again, so that its files come out the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from threading import Lock

from gluepot.commit.history import Published
from gluepot.commit.target import Target
from gluepot.connectors.values import CommitKey, ManifestPart

_KEPT_BATCHES = 200
"""A table that no batch wrote to for so long is forgotten; `gluepot.commit.QueryWrites` opens it anew by then."""


@dataclass(slots=True)
class _Table:
    used: int
    columns: list[bytes]


class TableColumns:
    """The records of all tables that one process writes to. Safe to use from several threads."""

    def __init__(self) -> None:
        self._tables: dict[tuple[str, str], _Table] = {}
        self._changing = Lock()

    def __len__(self) -> int:
        """Return how many tables are known."""
        return len(self._tables)

    def begin(self, target: Target, key: CommitKey, published: Published) -> None:
        """Start over with what the manifests of a table say.

        Args:
            target: of the table.
            key: of the query's first write to it.
            published: what is live.
        """
        known = _Table(key.batch_id, list(published.recorded_columns(key)))
        with self._changing:
            oldest = key.batch_id - _KEPT_BATCHES
            self._tables = {at: one for at, one in self._tables.items() if at[1] != key.query_id or one.used >= oldest}
            self._tables[_table(target, key)] = known

    def before(self, target: Target, key: CommitKey) -> Sequence[bytes]:
        """Return what was recorded before a write, oldest first."""
        with self._changing:
            return tuple(self._used(target, key).columns)

    def learn(self, target: Target, key: CommitKey, parts: Iterable[ManifestPart]) -> None:
        """Take in what a write has recorded."""
        now = dict.fromkeys(one for part in parts for one in part.columns or ())
        with self._changing:
            held = self._used(target, key).columns
            held += [one for one in now if one not in held]

    def _used(self, target: Target, key: CommitKey) -> _Table:
        table = self._tables[_table(target, key)]
        table.used = max(table.used, key.batch_id)
        return table


def _table(target: Target, key: CommitKey) -> tuple[str, str]:
    return target.table.url, key.query_id
