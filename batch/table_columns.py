"""What the writes to a table have recorded of its columns: read from the manifests once, then kept in memory.

A write knows what earlier batches of its query recorded, and what other queries had when it first looked; a batch that
is replayed knows the same again, so that its files come out the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from threading import Lock

from batch.commit.history import live
from batch.commit.record import CommitRecord
from batch.commit.target import Target
from connectors.ports import CommitKey, ManifestPart


class TableColumns:
    """The records of all tables that one process writes to. Safe to use from several threads."""

    def __init__(self) -> None:
        self._by_table: dict[tuple[str, str], list[bytes]] = {}
        self._reading = Lock()

    def before(self, target: Target, key: CommitKey) -> Sequence[bytes]:
        """Return what was recorded before a write, oldest first."""
        with self._reading:
            table = target.table.url, key.query_id
            if table not in self._by_table:
                self._by_table[table] = list(recorded(live(target.table), key))
            return tuple(self._by_table[table])

    def learn(self, target: Target, key: CommitKey, parts: Iterable[ManifestPart]) -> None:
        """Take in what a write has recorded."""
        with self._reading:
            held = self._by_table.get((target.table.url, key.query_id))
            if held is not None:
                recorded_now = dict.fromkeys(one for part in parts for one in part.columns or ())
                held += [one for one in recorded_now if one not in held]


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
