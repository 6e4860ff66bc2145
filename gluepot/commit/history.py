"""Reads what was published: all manifests of a table, or those that were live at one moment."""

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
from gluepot.commit.rollup import (
    Index,
    Summary,
    columns_since,
    merged,
    merged_schema,
    partition_keys,
    recorded_columns,
    to_ipc,
)
from gluepot.connectors.files.sink.layout import COMMITS, write_and_generation
from gluepot.connectors.values import CommitKey
from gluepot.core.storage import Storage
from gluepot.frames.schema import unmarked


@dataclass(frozen=True, slots=True)
class Published:
    """The manifests that were live at one moment: the newest of each write, in order of query, batch and ctx.

    Args:
        storage: the table's folder.
        rolled_up: the index of each query's rollups. The manifests in them are read whenever the records are iterated
            over, and not kept in memory.
        tail: all other manifests, in order.
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
        records = chain.from_iterable(
            rolled_records(self.storage, self.rolled_up[one]) for one in sorted(self.rolled_up)
        )
        return merge(records, self.tail, key=_order)

    def __len__(self) -> int:
        """Return the number of writes."""
        return len(self.tail) + sum(one.summary.writes for one in self.rolled_up.values())

    @property
    def summaries(self) -> Mapping[str, Summary]:
        """The summary of each query's rollups."""
        return {query: index.summary for query, index in self.rolled_up.items()}

    def newest_batches(self) -> Mapping[str, int]:
        """Return the last batch of each query."""
        rolled_up = [
            (query, batch) for query, index in self.rolled_up.items() for batch in index.summary.newest.values()
        ]
        # In order, so that the last batch of each query is the one that stays.
        return dict(sorted([*rolled_up, *((one.key.query_id, one.key.batch_id) for one in self.tail)]))

    def missing(self) -> list[tuple[CommitKey, CommitKey]]:
        """Return the keys of missing manifests, each with the key of the later manifest that names it."""
        rolled_up = self.rolled_up

        def is_rolled_up(query_id: str, batch_id: int) -> bool:
            return query_id in rolled_up and rolled_up[query_id].holds(batch_id)

        return list(missing(self.tail, is_rolled_up))

    def columns(self) -> tuple[pa.Schema, Sequence[str]]:
        """Return the columns of the data files as readers see them, and the partition keys, oldest first."""
        schemas: list[bytes] = []
        keys: dict[str, None] = {}
        for summary, records in self._by_query():
            found = to_ipc(merged_schema(records))
            schemas += (one for one in (summary.schema, found) if one is not None)
            keys |= dict.fromkeys([*summary.partition_keys, *partition_keys(records)])
        known = merged(schemas)
        return pa.schema([]) if known is None else unmarked(known), list(keys)

    def recorded_columns(self, before: CommitKey, emptied: frozenset[str] = frozenset()) -> Sequence[bytes]:
        """Return the distinct column records that were written before a write's batch, oldest first.

        Args:
            before: the write. Its batch and the batches after it must not be rolled up.
            emptied: the files that the table had when it was emptied; see `emptied_files`. What is rolled up is read
                if there are any.
        """
        if emptied:
            return columns_since((one for one in self if _precedes(one, before)), emptied)
        found: dict[bytes, None] = {}
        for summary, records in self._by_query():
            found |= dict.fromkeys(summary.columns)
            for record in records:
                if _precedes(record, before):
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
    """Return all manifests, including superseded ones, in order of query, batch, ctx and generation.

    Raises:
        CheckpointError: a manifest cannot be read.
    """
    # A manifest of the older layout that was moved into its query's folder may be listed in both places.
    keys = {named: key for key in storage.list(COMMITS) if (named := write_and_generation(key))}
    return sorted((record for _, record in records_by_write(storage, keys.values())), key=_order)


def live(storage: Storage) -> Published:
    """Return the newest manifest of each write, as they were published at one moment.

    A listing takes time: it may contain a manifest that is created meanwhile, and lack an earlier one. So this lists
    twice and returns the state between the two listings (see `settled`). Both leave out the manifests in rollups, which
    were published before.

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

    A query publishes its batches one after the other, and the second listing lacks no record that existed when the
    first one ended. So the second listing's records up to the query's last batch in the first one are a state that the
    table really had.

    Args:
        records: the records of the second listing, by write.
        seen: the writes in the first listing.
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


def _precedes(record: CommitRecord, before: CommitKey) -> bool:
    return record.key.query_id != before.query_id or record.key.batch_id < before.batch_id


def _order(record: CommitRecord) -> tuple[str, int, str, int]:
    key = record.key
    return key.query_id, key.batch_id, key.ctx, record.generation
