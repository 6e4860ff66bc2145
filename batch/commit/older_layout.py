"""Manifests where older versions of Gluepot put them: all in one folder, which takes long to list."""

from __future__ import annotations

from itertools import chain

from batch.commit.reading import records_by_write
from batch.commit.rolling import indexes
from connectors.filesink.layout import COMMITS, commit_key, is_of_older_layout
from etlcore.logging import get_logger
from etlcore.storage import Storage

log = get_logger(__name__)


def move_manifests(storage: Storage, query_id: str) -> None:
    """Move the manifests of a query into its own folder; it publishes nothing meanwhile.

    To be called before anything else is decided by manifests: they are looked for in the query's folder only.

    Raises:
        CheckpointError: a manifest cannot be read.
    """
    skip = sorted(chain.from_iterable(one.stretches() for one in indexes(storage).values()))
    older = [key for key in storage.list(COMMITS, skip) if is_of_older_layout(key)]
    moved = [record for _, record in records_by_write(storage, older) if record.key.query_id == query_id]
    for record in moved:
        storage.create(commit_key(record.key, record.generation), record.to_bytes())
    by_name = {commit_key(one.key, one.generation).rsplit("/", 1)[1] for one in moved}
    storage.delete(key for key in older if key.rsplit("/", 1)[1] in by_name)
    if moved:
        log.info("manifests_moved", table=storage.url, manifests=len(moved))
