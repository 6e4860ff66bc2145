"""The batch that a query has begun and not ended. Its tables may hold a part of it, or parts of two attempts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from gluepot.commit import FILES, Journal, QueryWrites, Target, Write, newest_state, place_digest, published
from gluepot.commit.record import CommitRecord, input_text
from gluepot.connectors.values import CommitKey, coalesced
from gluepot.core.errors import ConfigError
from gluepot.core.storage import Storage, open_storage, place_of
from gluepot.streaming.checkpoints.contents import OffsetFile, QueryId
from gluepot.streaming.checkpoints.late_commit import late_commit
from gluepot.streaming.checkpoints.snapshot import Snapshot


@dataclass(frozen=True, slots=True)
class Unfinished:
    """A batch that is planned and not committed.

    Args:
        query_id: id of its query.
        batch_id: its number.
    """

    query_id: str
    batch_id: int


def unfinished(storage: Storage, snapshot: Snapshot, records: Iterable[CommitRecord]) -> Unfinished | None:
    """Return the batch that the checkpoint's query has begun and not ended, if tables hold something of it.

    Args:
        storage: the checkpoint's storage.
        snapshot: the checkpoint, which may be an older copy.
        records: live manifests of tables of the query. The tables that the checkpoint's journal names are read as well.

    Raises:
        CheckpointError, TransientError: the journal or one of its tables cannot be read.
    """
    state = newest_state(storage)
    batch = begun(snapshot, state.repeats)
    if batch is None:
        return None
    return batch if is_held(snapshot, batch, [*records, *_published(batch, state.writes)]) else None


def begun(snapshot: Snapshot, repeats: tuple[str, int] | None) -> Unfinished | None:
    """Return the batch that is planned and not committed, or that runs again; None if there is none. Pure.

    Args:
        snapshot: the checkpoint.
        repeats: what the journal says of a batch that runs again.
    """
    query = snapshot.query_id()
    if not isinstance(query, QueryId):
        return None
    batch_id = snapshot.batches("commits")[-1] if late_commit(snapshot, repeats) else snapshot.begun()
    return None if batch_id is None else Unfinished(query.text, batch_id)


def is_held(snapshot: Snapshot, batch: Unfinished, records: Iterable[CommitRecord]) -> bool:
    """Tell whether manifests hold something of an unfinished batch, from the records that the checkpoint says. Pure.

    A manifest of no file counts as well, because the table then takes these records for written. If they hold a later
    batch, it has ended, because Spark begins a batch only after the one before it.
    """
    own = [one for one in records if one.key.query_id == batch.query_id and one.key.batch_id >= batch.batch_id]
    entry = snapshot.offsets().get(batch.batch_id)
    if not isinstance(entry, OffsetFile) or any(one.key.batch_id > batch.batch_id for one in own):
        return False
    planned_input = input_text(coalesced(part for one in entry.positions for part in one.ranges()), "")
    return any(one.input == planned_input for one in own)


def _published(batch: Unfinished, writes: Iterable[Write]) -> Iterator[CommitRecord]:
    for write in writes:
        if write.kind == FILES:
            key = CommitKey(batch.query_id, batch.batch_id, write.ctx, place_digest(write.place))
            table = open_storage(write.place)
            if (record := published(Target(table, table), key)) is not None:
                yield record


def without(records: Iterable[CommitRecord], batch: Unfinished | None) -> list[CommitRecord]:
    """Return the manifests that a table has if a batch is taken back. Pure."""
    return [
        one
        for one in records
        if batch is None or (one.key.query_id, one.key.batch_id) != (batch.query_id, batch.batch_id)
    ]


def require_choice(batch: Unfinished | None, *, drop: bool) -> None:
    """Make sure that a person has decided what becomes of an unfinished batch.

    Raises:
        ConfigError: there is such a batch, and it is not to be dropped.
    """
    if batch is not None and not drop:
        raise ConfigError(
            f"Batch {batch.batch_id} has begun and not ended, so the tables may hold only a part of it. Start the job"
            " again so that it ends, or add --drop-unfinished: what the batch has written is then taken back, and"
            " its records are read again."
        )


def take_back(storage: Storage, batch: Unfinished, token: int, tables: Mapping[str, Iterable[CommitRecord]]) -> None:
    """Take back what attempts of an unfinished batch have written; a driver that still runs it publishes no more.

    Args:
        storage: the checkpoint's storage.
        batch: the batch.
        token: token of the caller's lease.
        tables: the live manifests of tables, by location. The checkpoint's journal names the writes of the batch, but
            an older Gluepot kept none.

    Raises:
        ConfigError: the batch may have written to something that only its job can take back; nothing was changed.
        LeaseHeld: a later driver has taken over.
    """
    journal = Journal(storage, token)
    if elsewhere := sorted({one.place for one in journal.found if one.kind != FILES}):
        raise ConfigError(
            f"Batch {batch.batch_id} has begun and not ended, and it may have written to {elsewhere[0]}, where only the"
            " job itself can take it back; start the job again so that the batch ends, and rewind then."
        )
    writes = QueryWrites(batch.query_id, token, journal)
    for location, records in tables.items():
        for one in records:
            if (one.key.query_id, one.key.batch_id) == (batch.query_id, batch.batch_id) and one.input:
                writes.announce(Write(FILES, place_of(location), one.key.ctx), batch.batch_id)
    writes.begin_attempt(batch.batch_id)  # an attempt that writes nothing
    writes.settle()


def fence_off(storage: Storage, batch: Unfinished, token: int) -> None:
    """Keep the driver that has begun a batch from publishing it to files, for example after it was suspended.

    What the batch has published stays. Writes to databases and lake tables are not kept out.

    Args:
        storage: the checkpoint's storage.
        batch: the batch.
        token: token of the caller's lease.

    Raises:
        LeaseHeld: a later driver has taken over.
        CheckpointError, TransientError: the journal or one of its tables cannot be read.
    """
    QueryWrites(batch.query_id, token, Journal(storage, token)).fence(batch.batch_id)
