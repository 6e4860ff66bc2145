"""What the writes to a table have recorded of its columns: read from the manifests once, then kept in memory.

A write knows what earlier batches of its query recorded, and what other queries had when it first looked; a batch that
is replayed knows the same again, so that its files come out the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from threading import Lock

from batch.commit.record import CommitRecord
from batch.commit.target import Target
from connectors.ports import CommitKey, ManifestPart


class TableColumns:
    """The records of all tables that one process writes to. Safe to use from several threads."""

    def __init__(self) -> None:
        self._by_table: dict[tuple[str, str], list[bytes]] = {}
        self._changing = Lock()

    def begin(self, target: Target, key: CommitKey, records: Iterable[CommitRecord]) -> None:
        """Start over with what the manifests of a table say.

        Args:
            target: of the table.
            key: of the query's first write to it.
            records: the newest manifest of each write, in the order of query, batch and write.
        """
        with self._changing:
            self._by_table[_table(target, key)] = list(recorded(records, key))

    def before(self, target: Target, key: CommitKey) -> Sequence[bytes]:
        """Return what was recorded before a write, oldest first."""
        with self._changing:
            return tuple(self._by_table[_table(target, key)])

    def learn(self, target: Target, key: CommitKey, parts: Iterable[ManifestPart]) -> None:
        """Take in what a write has recorded."""
        now = dict.fromkeys(one for part in parts for one in part.columns or ())
        with self._changing:
            held = self._by_table[_table(target, key)]
            held += [one for one in now if one not in held]


def _table(target: Target, key: CommitKey) -> tuple[str, str]:
    return target.table.url, key.query_id


def recorded(records: Iterable[CommitRecord], before: CommitKey) -> Iterable[bytes]:
    """Return the distinct column records of manifests, oldest first, without those of the write's batch and later.

    A manifest of a sink that keeps no account tells its columns by its schema.

    Args:
        records: the newest one of each write, in the order of query, batch and write.
        before: of the write that wants to know.
    """
    earlier = [
        record for record in records if record.key.query_id != before.query_id or record.key.batch_id < before.batch_id
    ]
    found: dict[bytes, None] = {}
    for record in earlier:
        if record.columns is not None:
            found.update(dict.fromkeys(record.columns))
        elif record.schema is not None:
            found[record.schema] = None
    return found
