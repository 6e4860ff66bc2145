"""Moves a checkpoint's history into a backup folder: the actions of `gluepot checkpoint rewind`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from gluepot.commit import newest_state
from gluepot.connectors.positions import StreamPositions, one_place
from gluepot.connectors.streams.start import START_FILE, write_start
from gluepot.core.clock import Clock
from gluepot.core.errors import ConfigError
from gluepot.core.storage import Storage
from gluepot.streaming.checkpoints.chain import judge
from gluepot.streaming.checkpoints.lease import Lease
from gluepot.streaming.checkpoints.names import FileName, checksum_of
from gluepot.streaming.checkpoints.repair import backup_folder, set_aside
from gluepot.streaming.checkpoints.snapshot import Snapshot
from gluepot.streaming.checkpoints.table_ends import TableEnds, confirm_ends
from gluepot.streaming.checkpoints.unfinished import begun, fence_off, take_back

_HISTORY = frozenset({"metadata", "offsets", "commits", "sources", "state", "checksum", "temporary"})


def begin_anew(
    storage: Storage,
    snapshot: Snapshot,
    start: StreamPositions[Any],
    lease: Lease,
    clock: Clock,
    ends: TableEnds | None = None,
) -> str:
    """Let the next run be a new query; a driver of the old one that was suspended publishes no more files.

    Args:
        storage: the checkpoint's storage.
        snapshot: the checkpoint.
        start: where the new query begins.
        lease: the lease of the checkpoint, which the caller holds.
        clock: gives the time after which the backup folder is named.
        ends: where the tables end, if the query begins there; the batch that is unfinished there is taken back.

    Returns:
        The backup folder's key.

    Raises:
        ConfigError: the batch may have written to something that only its job can take back, or a table has changed
            since `ends` was found. No record is lost or doubled, and the old query can go on.
        LeaseHeld: another driver has taken over.
        CheckpointError, TransientError: the journal or a table cannot be read.
    """
    dropped = None if ends is None else ends.unfinished
    if ends is not None and dropped is not None:
        take_back(storage, dropped, lease.token, ends.records)
    running = begun(snapshot, newest_state(storage).repeats)
    if running is not None and running != dropped:
        fence_off(storage, running, lease.token)
    if ends is not None:
        confirm_ends(ends)  # a driver may have published after the tables were read and before it was kept out
    lease.confirm()
    return start_over(storage, snapshot, start, clock)


def start_over(storage: Storage, snapshot: Snapshot, start: StreamPositions[Any], clock: Clock) -> str:
    """Let the next run be a new query that begins at `start`; the old query's files go into the backup folder.

    A crash in between leaves the old state, or a folder on which no query starts, because the id is moved first.

    Returns:
        The backup folder's key.
    """
    backup = backup_folder(clock)
    if (last := snapshot.contents.get(START_FILE)) is not None:
        # Overwritten and not removed: an object store may carry out a deletion again when the new file is there.
        storage.put(f"{backup}/{START_FILE}", last)
    write_start(storage, start)
    set_aside(storage, sorted(history(snapshot.names), key=lambda key: key != "metadata"), backup)
    return backup


def history(names: Iterable[FileName]) -> list[str]:
    """Return the files that make up a query's history; leases, dead letters and unknown files are not among them."""
    return [one.key for one in names if one.kind in _HISTORY]


def go_back(storage: Storage, snapshot: Snapshot, batch_id: int, clock: Clock) -> str:
    """Move the batches after `batch_id` to the backup, newest first, so that a crash leaves a shorter rewind.

    Returns:
        The backup folder's key.
    """
    backup = backup_folder(clock)
    there = {one.key for one in snapshot.names}
    for log in ("commits", "offsets"):
        for n in reversed([one for one in snapshot.batches(log) if one > batch_id]):
            key = f"{log}/{n}"
            set_aside(storage, [one for one in (key, checksum_of(key)) if one in there], backup)
    return backup


def end_of(snapshot: Snapshot, batch_id: int) -> StreamPositions[Any]:
    """Return the end positions of a batch to which the query is to go back.

    Raises:
        ConfigError: the batch does not exist, is not done, or its entry is not whole.
        CheckpointError: the batch holds records of more than one kind of source.
    """
    chain, done = judge(snapshot.offsets()), set(snapshot.batches("commits"))
    usable = [n for n in sorted(done & chain.sound) if n == 0 or n - 1 in chain.sound]
    entry = chain.whole(batch_id) if batch_id in usable else None
    if entry is None:
        there = f"batches {usable[0]} to {usable[-1]}" if usable else "none"
        raise ConfigError(f"--to-batch is {batch_id}; {snapshot.location} can go back to {there}.")
    return one_place(entry.positions)
