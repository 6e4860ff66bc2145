"""Finds where the tables of a query end, so that a new query can begin there."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain

from gluepot.commit import live
from gluepot.commit.record import CommitRecord
from gluepot.connectors.kafka.positions import Positions
from gluepot.core.errors import ConfigError
from gluepot.core.storage import Storage, open_storage
from gluepot.streaming.checkpoints.moves import DifferentEnds, common_end
from gluepot.streaming.checkpoints.snapshot import Snapshot
from gluepot.streaming.checkpoints.unfinished import Unfinished, require_choice, unfinished, without

Records = Mapping[str, Sequence[CommitRecord]]


@dataclass(frozen=True, slots=True)
class TableEnds:
    """Where the tables of a query end.

    Args:
        records: the live manifests of each table, by location.
        ctx: the `transformation_ctx` whose writes count; None if all do.
        unfinished: a batch that is to be taken back; None if there is none.
        start: the offsets at which all tables end without that batch.
    """

    records: Records
    ctx: str | None
    unfinished: Unfinished | None
    start: Positions


def table_ends(
    storage: Storage, snapshot: Snapshot, tables: Sequence[str], ctx: str | None, *, drop_unfinished: bool
) -> TableEnds:
    """Return where tables end, without a batch that has begun and not ended if the caller drops such a batch.

    Args:
        storage: the checkpoint's storage.
        snapshot: the checkpoint.
        tables: the locations of the tables.
        ctx: the `transformation_ctx` whose writes count; None if all of them end at the same offsets.
        drop_unfinished: whether a batch that has begun and not ended is to be taken back.

    Raises:
        ConfigError: there is such a batch and it is not to be dropped, or the tables have no common end.
        CheckpointError, TransientError: the journal or a table cannot be read.
    """
    records = _records(tables)
    batch = unfinished(storage, snapshot, chain.from_iterable(records.values()))
    require_choice(batch, drop=drop_unfinished)
    try:
        return TableEnds(records, ctx, batch, common_end(_less(records, batch), ctx))
    except DifferentEnds as different:
        partial = partial_batch(records) if batch is None and ctx is None else None
        if partial is None:
            raise
        if not drop_unfinished:
            raise DifferentEnds(
                f"{str(different).removesuffix('.')}; or, if batch {partial.batch_id} of query {partial.query_id} was"
                " interrupted, add --drop-unfinished: what it has written is then taken back, and its records are read"
                " again."
            ) from different
    return TableEnds(records, ctx, partial, common_end(_less(records, partial), ctx))


def confirm_ends(found: TableEnds) -> None:
    """Make sure that tables still end where they were found to end, after the unfinished batch was taken back.

    Raises:
        ConfigError: they do not, so a driver still writes to them.
        CheckpointError, TransientError: a table cannot be read.
    """
    with suppress(DifferentEnds):
        if common_end(_records(found.records), found.ctx).check == found.start.check:
            return
    raise ConfigError(
        f"{', '.join(found.records)} changed while the command ran, so a job still writes there; stop that job and run"
        " the command again."
    )


def partial_batch(records: Records) -> Unfinished | None:
    """Return the batch that only some of the writes contain; None if there is none, or more than one may be it. Pure.

    A checkpoint that was lost does not say whether a query's newest batch had ended. If all writes would end at the
    same offsets without it, it had probably not.

    Args:
        records: the live manifests of each table, by location.
    """
    newest: dict[str, int] = {}
    for one in chain.from_iterable(records.values()):
        if one.ranges:
            newest[one.key.query_id] = max(one.key.batch_id, newest.get(one.key.query_id, 0))
    found = [batch for one in newest.items() if _explains(batch := Unfinished(*one), records)]
    return found[0] if len(found) == 1 else None


def _explains(batch: Unfinished, records: Records) -> bool:
    left = _less(records, batch)
    try:
        common_end(left, None)
    except ConfigError:
        return False
    return _writes(left) == _writes(records)


def _writes(records: Records) -> set[tuple[str, str]]:
    return {(table, one.key.ctx) for table, held in records.items() for one in held if one.ranges}


def _records(tables: Iterable[str]) -> Records:
    return {table: list(live(open_storage(table))) for table in tables}


def _less(records: Records, batch: Unfinished | None) -> Records:
    return {table: without(held, batch) for table, held in records.items()}
