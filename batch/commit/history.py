"""Reading what was published."""

from __future__ import annotations

from contextlib import suppress

from batch.commit.record import CommitRecord
from connectors.filesink.layout import HOME
from etlcore.storage import Storage


def live(storage: Storage) -> list[CommitRecord]:
    """Return the newest manifest of each write, by query, batch and ctx.

    Raises:
        CheckpointError: a manifest cannot be read.
    """
    newest: dict[str, tuple[int, str]] = {}
    for key in storage.list(f"{HOME}/commits"):
        write, _, generation = key.rpartition("/")[2].removesuffix(".json").partition(".")
        newest[write] = max(newest.get(write, (0, "")), (int(generation), key))
    records = []
    for _, key in newest.values():
        with suppress(FileNotFoundError):  # a listing may be older than the files
            records.append(CommitRecord.from_bytes(storage.get(key)))
    return sorted(records, key=lambda one: one.key)
