"""Reading what was published: all manifests of a table, or those that make it up at one moment."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor

from batch.commit.record import CommitRecord
from connectors.filesink.layout import COMMITS, write_and_generation
from etlcore.errors import CheckpointError
from etlcore.storage import LocalStorage, Storage

# Of objects, which take a round trip each. 10,000 local files take 0.3 s one by one and 0.4 s with threads.
_PARALLEL_READS = 32


def every(storage: Storage) -> list[CommitRecord]:
    """Return all manifests, superseded ones too, by query, batch, ctx and generation.

    Raises:
        CheckpointError: a manifest cannot be read.
    """
    return sorted((record for _, record in _read(storage, storage.list(COMMITS))), key=_order)


def live(storage: Storage) -> list[CommitRecord]:
    """Return the newest manifest of each write, by query, batch and ctx: what was published at one moment.

    A listing takes time, and a manifest created meanwhile may be in it while one created before that is not. So two
    listings are made and the moment between them is taken (see `settled`).

    Raises:
        CheckpointError: a manifest cannot be read.
    """
    seen = storage.list(COMMITS)
    newest = dict(_read(storage, newest_generations(storage.list(COMMITS))))
    return sorted(settled(newest, {named[0] for key in seen if (named := write_and_generation(key))}), key=_order)


def newest_generations(keys: Iterable[str]) -> list[str]:
    """Return the key of the highest generation of each write; keys of other files are left out."""
    newest: dict[str, tuple[int, str]] = {}
    for key in keys:
        if named := write_and_generation(key):
            write, generation = named
            newest[write] = max(newest.get(write, (0, "")), (generation, key))
    return [key for _, key in newest.values()]


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


def texts(storage: Storage, keys: Sequence[str]) -> Iterator[tuple[str, bytes]]:
    """Yield small files with their keys, in order, read side by side where that helps; one that went is left out."""
    if isinstance(storage, LocalStorage):
        found: Iterable[bytes | None] = [_text(storage, key) for key in keys]
    else:
        with ThreadPoolExecutor(_PARALLEL_READS) as pool:
            found = list(pool.map(lambda key: _text(storage, key), keys))
    for key, text in zip(keys, found, strict=True):
        if text is not None:
            yield key, text


def _read(storage: Storage, keys: Iterable[str]) -> Iterator[tuple[str, CommitRecord]]:
    """Yield each manifest with the digest of its write; one that went after the listing is left out."""
    writes = {key: named[0] for key in keys if (named := write_and_generation(key))}
    for key, text in texts(storage, list(writes)):
        yield writes[key], _record(storage, key, text)


def _text(storage: Storage, key: str) -> bytes | None:
    try:
        return storage.get(key)
    except FileNotFoundError:
        return None


def _record(storage: Storage, key: str, text: bytes) -> CommitRecord:
    try:
        return CommitRecord.from_bytes(text)
    except CheckpointError as error:
        raise CheckpointError(f"{storage.url}/{key}: {error}") from error


def _order(record: CommitRecord) -> tuple[str, int, str, int]:
    key = record.key
    return key.query_id, key.batch_id, key.ctx, record.generation
