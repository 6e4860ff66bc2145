"""Moves manifests that older versions of Gluepot put into one folder, because such a folder takes long to list."""

from __future__ import annotations

from collections.abc import Collection

from gluepot.commit.reading import records_by_write
from gluepot.commit.rolling import indexes, rolled_up_folders
from gluepot.connectors.files.sink.layout import COMMITS, commit_key, is_of_older_layout
from gluepot.core.logging import get_logger
from gluepot.core.storage import Storage

log = get_logger(__name__)


def move_manifests(storage: Storage, query_ids: Collection[str]) -> None:
    """Move the manifests of queries into a folder for each query. The queries must not publish anything meanwhile.

    Call this before any decision that depends on manifests, because they are looked for only in the query's folder.

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
