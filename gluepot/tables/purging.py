"""Deletes files of tables, and records that, so that readers of the manifests do not look for them.

See `gluepot.commit.compaction` for the records, their order, and recovery after a crash.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

from gluepot.commit.compaction import Compaction, created, end, note_emptied, settle
from gluepot.commit.own_purges import EMPTIED, PURGED
from gluepot.connectors.files.sink.layout import COMMITS
from gluepot.core.clock import Clock
from gluepot.core.errors import ConfigError, TransientError
from gluepot.core.failpoints import reach
from gluepot.core.logging import get_logger
from gluepot.core.storage import Storage, open_storage
from gluepot.tables.files import table_files
from gluepot.tables.findings import newest
from gluepot.tables.snapshot import Snapshot, snapshot

# A running job's compaction sometimes takes the number first. To lose to it this often in a row is not expected.
_MOST_TRIES = 10

log = get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Sorted:
    """Files to purge, sorted by their role in the table.

    Args:
        named: files that belong to the table; before they are deleted, a record must say so.
        unnamed: files that no live manifest names; they can simply be deleted.
        unfinished: files of a publication, compaction or purge in progress, which itself publishes or deletes them.
        is_emptied: whether the table has no file without these, and nothing is being published to it.
    """

    named: Sequence[str]
    unnamed: Sequence[str]
    unfinished: Sequence[str]
    is_emptied: bool


def sort_files(paths: Iterable[str], seen: Snapshot) -> Sorted:
    """Sort files by their role in the table.

    Args:
        paths: paths relative to the table's folder, from a listing that is older than the snapshot.
        seen: snapshot of the table.
    """
    in_table = {file.path for file in table_files(newest(seen.commits), seen.compacted)}
    named: list[str] = []
    unnamed: list[str] = []
    unfinished: list[str] = []
    for path in paths:
        if path in seen.unfinished:
            unfinished.append(path)
        elif path in in_table:
            named.append(path)
        else:
            unnamed.append(path)
    return Sorted(named, unnamed, unfinished, not seen.unfinished and in_table.issubset(named))


def purge_files(
    storage: Storage, paths: Collection[str], clock: Clock, owner: str, delete: Callable[[Sequence[str]], bool]
) -> Sequence[str]:
    """Finish or undo purges and compactions that died, then take files out of the table and delete them.

    Args:
        storage: the table's folder.
        paths: paths relative to the table's folder, from a listing that is older than this call.
        clock: gives the time in the record.
        owner: a name that no other purge or compaction has, of letters and digits.
        delete: deletes files; returns False if some could not be deleted. They are out of the table all the same, and
            the next purge or compaction deletes them.

    Returns:
        The files that stay, because a publication in progress will publish or remove them.

    Raises:
        CheckpointError: a manifest, an intent or a record cannot be read; nothing is deleted.
        TransientError: the storage was away, or compactions came first each time; nothing is deleted.
    """
    PURGED.note(storage.url)
    settle(storage, owner)
    for _ in range(_MOST_TRIES):
        seen = snapshot(storage)
        found = sort_files(paths, seen)
        number = len(seen.compacted) + 1
        purge = Compaction(number, owner, found.named, committed_at_epoch_ms=int(clock.epoch() * 1000))
        if not found.named or _recorded(storage, purge):
            break
    else:
        raise TransientError(
            f"other compactions of {storage.url} came first {_MOST_TRIES} times; nothing was deleted, purge again"
        )
    if found.is_emptied and (last := number if found.named else number - 1):
        note_emptied(storage, last)
        EMPTIED.note(storage.url)
    is_deleted = delete([*found.named, *found.unnamed])
    reach("purge.deleted")
    if found.named and is_deleted:
        storage.delete([purge.intent_key])
    return found.unfinished


def _recorded(storage: Storage, purge: Compaction) -> bool:
    """Record that files leave the table; return False, without any change, if another record came first."""
    storage.put(purge.intent_key, purge.to_bytes())
    reach("purge.intent")
    if not created(storage, purge):
        end(storage, purge, is_done=False)
        return False
    reach("purge.created")
    return True


def table_folders(folders: Iterable[str]) -> set[str]:
    """Return our tables that contain one of the folders, or that one of the folders contains.

    Args:
        folders: canonical URLs.

    Raises:
        ConfigError: a folder cannot be listed.
        TransientError: the storage was away.
    """
    tables: set[str] = set()
    known: dict[str, bool] = {}
    for folder in folders:
        for key in open_storage(folder).list(""):
            inside, home, _ = f"/{key}".partition(f"/{COMMITS}/")
            if home:
                tables.add(f"{folder}{inside}")
        for above in _above(folder):
            if above not in known:
                known[above] = _has_manifests(above)
            if known[above]:
                tables.add(above)
    return tables


def innermost(url: str, folders: Collection[str]) -> str | None:
    """Return the innermost of the given folders that contains a file; None if none does."""
    return next((above for above in _above(url) if above in folders), None)


def _above(url: str) -> Iterator[str]:
    """Yield the folders that contain a URL, innermost first, up to the bucket or a folder of the local root."""
    start = len("s3://") if url.startswith("s3://") else 1
    while (at := url.rfind("/", start)) > 0:
        url = url[:at]
        yield url


def _has_manifests(folder: str) -> bool:
    try:
        return bool(open_storage(folder).list(COMMITS))
    except ConfigError as error:  # a job without permission to list the folder cannot have a table there
        log.info("folder_not_listed", folder=folder, reason=str(error))
        return False
