"""Where dead letters lie: beside a table, in a checkpoint, or in a folder of their own; and which files count.

If there are manifests, they decide: a file that none of them names is left from a crash, or is being published.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from gluepot.commit.history import live
from gluepot.commit.record import CommitRecord
from gluepot.connectors.files.sink.layout import COMMITS, REJECTS
from gluepot.connectors.streams.rejects import FOLDER as REJECTS_ASIDE
from gluepot.connectors.streams.rejects import SUFFIX
from gluepot.core.errors import ConfigError
from gluepot.core.storage import Storage, open_storage
from gluepot.streaming.quarantine.dead_letters import FOLDER
from gluepot.tables.rejects import rejects_elsewhere, rejects_in

_CHECKPOINT = ("metadata", "offsets/", "commits/", "gluepot/")  # what begins the names of a checkpoint's files
_OF_BATCH = re.compile(r"(?:^|/)(?P<query>[^/]+)/(?P<batch>\d{8,})/[^/]+$")  # see `gluepot.engine.rejects`


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
        """Number of the batch that the records are from, where a manifest or the name says it."""
        if self.record:
            return self.record.key.batch_id
        named = self._named()
        return int(named["batch"]) if named else None

    @property
    def query_id(self) -> str:
        """Id of the query or job that the records are from; empty where neither a manifest nor the name says it."""
        if self.record:
            return self.record.key.query_id
        named = self._named()
        return named["query"] if named else ""

    @property
    def is_counted(self) -> bool:
        """Whether a batch counted its records: where that is so, no file is left over from a crash."""
        return self.record is not None or self._named() is not None

    def _named(self) -> re.Match[str] | None:
        return _OF_BATCH.search(self.path)


@dataclass(frozen=True, slots=True)
class LetterFolder:
    """Dead letters of one place.

    Args:
        home: holds the manifests, if there are any, and the ledgers of replays.
        storage: holds the files.
        files: that count, in the order of query, batch and write.
        has_manifests: whether manifests say which files count.
        elsewhere: number of further rejected records of the same batches, by the URL of their folder.
    """

    home: Storage
    storage: Storage
    files: Sequence[LetterFile]
    has_manifests: bool
    elsewhere: Mapping[str, int] = field(default_factory=dict)


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
                f"the rejected records of {path} are in the job's rejectsPath; pass that folder with --rejects"
            )
        elsewhere = rejects_elsewhere(published) or _beside_dead_letters(home)
        return LetterFolder(home, storage, files, has_manifests=True, elsewhere=elsewhere)
    found = [key for key in storage.list("") if key.endswith(SUFFIX)]
    if tables := {table for key in found if (table := key.partition(f"/{REJECTS}/")[0]) != key}:
        raise ConfigError(
            f"{path} contains tables and is not a table; give one of them: {', '.join(sorted(tables)[:5])}."
        )
    if not found and rejects is None and not any(key.startswith(_CHECKPOINT) for key in storage.list("")):
        raise ConfigError(
            f"{path} is neither a table nor a checkpoint, and has no rejected records; give the folder of one of them."
        )
    return LetterFolder(home, storage, [LetterFile(key) for key in found], has_manifests=False)


def _beside_dead_letters(home: Storage) -> Mapping[str, int]:
    """Return the rejected records of a checkpoint that lie beside its dead letters."""
    root, at, _ = home.url.rpartition(FOLDER)
    if not at:
        return {}
    aside = open_storage(f"{root}{REJECTS_ASIDE}")
    found = rejects_in(aside, "")
    return {aside.url: found} if found else {}
