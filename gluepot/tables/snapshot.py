"""Reads the state of a table's files at one moment, including unfinished work."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TypeVar

from gluepot.commit.compaction import Compaction, compactions
from gluepot.commit.history import every
from gluepot.commit.intent import Intent
from gluepot.commit.record import CommitRecord
from gluepot.connectors.files.sink.layout import COMPACTION_INTENTS, INTENTS
from gluepot.core.storage import Storage
from gluepot.tables.findings import uncompacted_files, unfinished_files

IntentT = TypeVar("IntentT", Intent, Compaction)


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What was published, and what is being published.

    Args:
        commits: all generations, those of a write in ascending order; empty if nothing was published.
        compacted: compactions and purges, in order.
        unfinished: paths that a publication, a compaction or a purge in progress will still publish or remove.
    """

    commits: Sequence[CommitRecord]
    compacted: Sequence[Compaction]
    unfinished: frozenset[str]


def snapshot(storage: Storage) -> Snapshot:
    """Read the state of a table's files.

    To compare it with a listing of the folder, make the listing first. Then every file of the listing belongs to an
    intent or a manifest that is read here, and files that are published later are not in the listing.

    Raises:
        CheckpointError: a manifest, an intent or a compaction's record cannot be read.
    """
    intents = list(_intents(storage, INTENTS, Intent))
    begun = list(_intents(storage, COMPACTION_INTENTS, Compaction))
    compacted = compactions(storage)
    commits = every(storage)
    unfinished = unfinished_files(commits, intents) | uncompacted_files(compacted, begun)
    return Snapshot(commits, compacted, frozenset(unfinished))


def _intents(storage: Storage, folder: str, kind: type[IntentT]) -> Iterator[IntentT]:
    for key in storage.list(folder):
        with suppress(FileNotFoundError):  # ended meanwhile
            yield kind.from_bytes(storage.get(key))
