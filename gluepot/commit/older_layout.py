"""Manifests where older versions of Gluepot put them: all in one folder, which takes long to list."""

from __future__ import annotations

from collections.abc import Collection

from gluepot.commit.reading import records_by_write
from gluepot.commit.rolling import indexes, rolled_up_folders
from gluepot.connectors.files.sink.layout import COMMITS, commit_key, is_of_older_layout
from gluepot.core.logging import get_logger
from gluepot.core.storage import Storage

log = get_logger(__name__)


def move_manifests(storage: Storage, query_ids: Collection[str]) -> None:
    """Move the manifests of queries into their own folders; they publish nothing meanwhile.

    To be called before anything else is decided by manifests: they are looked for in the query's folder only.

    Raises:
        CheckpointError: a manifest cannot be read.
    """
    skip = rolled_up_folders(indexes(storage))
    older = [key for key in storage.list(COMMITS, skip) if is_of_older_layout(key)]
    moved = [record for _, record in records_by_write(storage, older) if record.key.query_id in query_ids]
    for record in moved:
        storage.create(commit_key(record.key, record.generation), record.to_bytes())
    by_name = {commit_key(one.key, one.generation).rsplit("/", 1)[1] for one in moved}
    storage.delete(key for key in older if key.rsplit("/", 1)[1] in by_name)
    if moved:
        log.info("manifests_moved", table=storage.url, manifests=len(moved))
