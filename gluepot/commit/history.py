"""What was published: all manifests of a table, or those that make it up at one moment."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from heapq import merge
from itertools import chain

import pyarrow as pa

from gluepot.commit.links import missing
from gluepot.commit.reading import newest_generations, records_by_write
from gluepot.commit.record import CommitRecord
from gluepot.commit.rolling import indexes, rolled_records, rolled_up_folders
from gluepot.commit.rollup import Index, Summary, merged, merged_schema, partition_keys, recorded_columns, to_ipc
from gluepot.connectors.filesink.layout import COMMITS, write_and_generation
from gluepot.connectors.values import CommitKey
from gluepot.core.storage import Storage


@dataclass(frozen=True, slots=True)
class Published:
    """What was live at one moment: the newest manifest of each write, by query, batch and ctx.

    Args:
        storage: the table's folder.
        rolled_up: by query, the indexes of what rollups hold. That is read when the records are iterated over, and not
            kept.
        tail: all others, in order.
    """

    storage: Storage
    rolled_up: Mapping[str, Index]
    tail: Sequence[CommitRecord]

    def __iter__(self) -> Iterator[CommitRecord]:
        """Yield all records, in order.

        Raises:
            TransientError: a rollup was replaced since; open the table again.
            CheckpointError: a rollup cannot be read.
        """
        held = chain.from_iterable(rolled_records(self.storage, self.rolled_up[one]) for one in sorted(self.rolled_up))
        return merge(held, self.tail, key=_order)

    def __len__(self) -> int:
        """Return the number of writes."""
        return len(self.tail) + sum(one.summary.writes for one in self.rolled_up.values())

    @property
    def summaries(self) -> Mapping[str, Summary]:
        """What rollups hold, by query."""
        return {query: index.summary for query, index in self.rolled_up.items()}

    def newest_batches(self) -> Mapping[str, int]:
        """Return the last batch of each query."""
        found = {query: max(index.summary.newest.values(), default=-1) for query, index in self.rolled_up.items()}
        for record in self.tail:
            found[record.key.query_id] = max(found.get(record.key.query_id, -1), record.key.batch_id)
        return found

    def missing(self) -> list[tuple[CommitKey, CommitKey]]:
        """Return the keys of manifests that are gone although a later one names them, each with the later one's key."""
        held = self.rolled_up

        def is_rolled_up(query_id: str, batch_id: int) -> bool:
            return query_id in held and held[query_id].holds(batch_id)

        return list(missing(self.tail, is_rolled_up))

    def columns(self) -> tuple[pa.Schema, Sequence[str]]:
        """Return the columns of the data files as readers see them, and the names in their folders, oldest first."""
        schemas: list[bytes] = []
        keys: dict[str, None] = {}
        for summary, records in self._by_query():
            found = to_ipc(merged_schema(records))
            schemas += (one for one in (summary.schema, found) if one is not None)
            keys |= dict.fromkeys([*summary.partition_keys, *partition_keys(records)])
        known = merged(schemas)
        return pa.schema([]) if known is None else known, list(keys)

    def recorded_columns(self, before: CommitKey) -> Sequence[bytes]:
        """Return the distinct records of the table's columns, oldest first, without those of a write's batch and later.

        Args:
            before: the write that wants to know. Its batch and those after it are not rolled up.
        """
        found: dict[bytes, None] = {}
        for summary, records in self._by_query():
            found |= dict.fromkeys(summary.columns)
            for record in records:
                if record.key.query_id != before.query_id or record.key.batch_id < before.batch_id:
                    found |= dict.fromkeys(recorded_columns(record))
        return list(found)

    def _by_query(self) -> Iterator[tuple[Summary, Sequence[CommitRecord]]]:
        tails: dict[str, list[CommitRecord]] = {query: [] for query in self.rolled_up}
        for record in self.tail:
            tails.setdefault(record.key.query_id, []).append(record)
        nothing = Index("")
        for query in sorted(tails):
            yield self.rolled_up.get(query, nothing).summary, tails[query]


def every(storage: Storage) -> list[CommitRecord]:
    """Return all manifests, superseded ones too, by query, batch, ctx and generation.

    Raises:
        CheckpointError: a manifest cannot be read.
    """
    # One of the older layout that was moved into its query's folder may be listed in both places.
    keys = {named: key for key in storage.list(COMMITS) if (named := write_and_generation(key))}
    return sorted((record for _, record in records_by_write(storage, keys.values())), key=_order)


def live(storage: Storage) -> Published:
    """Return the newest manifest of each write: what was published at one moment.

    A listing takes time, and a manifest created meanwhile may be in it while one created before that is not. So two
    listings are made and the moment between them is taken (see `settled`). What rollups hold was published before, and
    is left out of both.

    Raises:
        CheckpointError: a manifest, or an index of rollups, cannot be read.
    """
    rolled_up = indexes(storage)
    skip = rolled_up_folders(rolled_up)
    seen = {named[0] for key in storage.list(COMMITS, skip) if (named := write_and_generation(key))}
    newest = newest_generations(storage.list(COMMITS, skip))
    found = dict(records_by_write(storage, newest))
    return Published(storage, rolled_up, sorted(settled(found, seen), key=_order))


def settled(records: Mapping[str, CommitRecord], seen: Collection[str]) -> list[CommitRecord]:
    """Return the records that existed when a first listing ended.

    A query publishes its batches one after the other. So of the records in a second listing, which lacks none that the
    first one should have had, those up to the query's last batch in the first one are a state the table really had.

    Args:
        records: by write, from the second listing.
        seen: writes in the first listing.
    """
    horizon: dict[str, int] = {}
    for write, record in records.items():
        if write in seen:
            key = record.key
            horizon[key.query_id] = max(horizon.get(key.query_id, key.batch_id), key.batch_id)
    return [
        record
        for write, record in records.items()
        if write in seen or record.key.batch_id <= horizon.get(record.key.query_id, -1)
    ]


def _order(record: CommitRecord) -> tuple[str, int, str, int]:
    key = record.key
    return key.query_id, key.batch_id, key.ctx, record.generation
