"""Where dead letters lie: beside a table, in a checkpoint, or in a folder of their own; and which files count.

If there are manifests, they decide: a file that none of them names is left from a crash, or is being published.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gluepot.commit.history import live
from gluepot.commit.record import CommitRecord
from gluepot.connectors.files.sink.layout import COMMITS, REJECTS
from gluepot.core.errors import ConfigError
from gluepot.core.storage import Storage, open_storage
from gluepot.streaming.quarantine.dead_letters import FOLDER

SUFFIX = ".rejects"
_CHECKPOINT = ("metadata", "offsets/", "commits/", "gluepot/")  # what begins the names of a checkpoint's files


@dataclass(frozen=True, slots=True)
class LetterFile:
    """A file of dead letters.

    Args:
        path: in the storage of the files.
        record: the manifest that names it; None where there are no manifests.
        rows: dead letters in it; 0 where no manifest says it.
    """

    path: str
    record: CommitRecord | None = None
    rows: int = 0

    @property
    def batch_id(self) -> int | None:
        """Number of the batch the records are of, where a manifest says it."""
        return self.record.key.batch_id if self.record else None


@dataclass(frozen=True, slots=True)
class LetterFolder:
    """Dead letters of one place.

    Args:
        home: holds the manifests, if there are any, and the ledgers of replays.
        storage: holds the files.
        files: that count, in the order of query, batch and write.
        has_manifests: whether manifests say which files count.
    """

    home: Storage
    storage: Storage
    files: Sequence[LetterFile]
    has_manifests: bool


def open_folder(path: str, rejects: str | None = None) -> LetterFolder:
    """Look into a place for dead letters; there may be none.

    Args:
        path: a table, a checkpoint, or a folder of rejected records.
        rejects: the job's `rejectsPath`, for a table or checkpoint whose rejected records lie there.

    Raises:
        ConfigError: the files that the manifests name lie elsewhere and `rejects` is not given, or the place is a
            folder of tables.
        CheckpointError: a manifest cannot be read.
    """
    home = open_storage(path)
    if home.list(f"{FOLDER}/{COMMITS}"):
        home = open_storage(f"{path.rstrip('/')}/{FOLDER}")
    storage = home if rejects is None else open_storage(rejects)
    published = live(home)
    if published:
        files = [
            LetterFile(file.path, record, file.rows) for record in published for file in record.files if file.rejects
        ]
        if rejects is None and any(not file.path.startswith(f"{REJECTS}/") for file in files):
            raise ConfigError(
                f"the rejected records of {path} lie in the job's rejectsPath; name that folder with --rejects"
            )
        return LetterFolder(home, storage, files, has_manifests=True)
    found = [key for key in storage.list("") if key.endswith(SUFFIX)]
    if tables := {table for key in found if (table := key.partition(f"/{REJECTS}/")[0]) != key}:
        raise ConfigError(f"{path} holds tables and is none itself; give one of them: {', '.join(sorted(tables)[:5])}.")
    if not found and rejects is None and not any(key.startswith(_CHECKPOINT) for key in storage.list("")):
        raise ConfigError(
            f"{path} is neither a table nor a checkpoint, and has no rejected records; give the folder of one of them."
        )
    return LetterFolder(home, storage, [LetterFile(key) for key in found], has_manifests=False)
