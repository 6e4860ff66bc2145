"""Removing dead letters: the manifests stop naming them, then the files go.

A manifest of a next generation is created, so that one a driver creates at the same moment is not lost: of the two
only one succeeds. What it says of input and counts stays, so the table's history does not change, nor does which
records a batch is run without.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace

from gluepot.commit.history import every
from gluepot.commit.record import CommitRecord
from gluepot.commit.rolling import create_again
from gluepot.connectors.values import CommitKey
from gluepot.core.errors import ConfigError, TransientError
from gluepot.dead_letters.folder import LetterFolder
from gluepot.dead_letters.letters import letters_of


@dataclass(frozen=True, slots=True)
class Purged:
    """What was removed.

    Args:
        files: their number.
        records: dead letters in them.
    """

    files: int
    records: int


def purge(folder: LetterFolder, batch_id: int | None) -> Purged:
    """Remove dead letters for good; what an earlier purge that died left over goes too.

    Args:
        folder: where they lie.
        batch_id: id of the batch whose letters to purge; None for all batches.

    Raises:
        ConfigError: there are no manifests, so other folders' manifests may name the files.
        TransientError: a driver published at this moment.
    """
    files = [file for file in folder.files if batch_id in {None, file.batch_id}]
    if not folder.has_manifests:
        if not all(file.is_counted for file in folder.files):
            raise ConfigError(
                f"{folder.storage.url} has no manifests: those of the table name its files; purge the table with"
                " --rejects instead"
            )
        records = sum(1 for file in files for _ in letters_of(folder, file))
        folder.storage.delete([file.path for file in files])
        return Purged(len(files), records)
    for record in {id(file.record): file.record for file in files if file.record}.values():
        _unname(folder, record)
    folder.storage.delete(_superseded(folder))
    return Purged(len(files), sum(file.rows for file in files))


def _unname(folder: LetterFolder, record: CommitRecord) -> None:
    """Publish the record again without its rejected records, under the token of the driver that published it."""
    kept = [file for file in record.files if not file.rejects]
    following = replace(record, generation=record.generation + 1, files=kept)
    if not create_again(folder.home, following):
        raise TransientError(f"batch {record.key.batch_id} was published at this moment; purge again")


def _superseded(folder: LetterFolder) -> set[str]:
    """Return the files of rejected records that only earlier generations name."""
    by_write: defaultdict[CommitKey, list[CommitRecord]] = defaultdict(list)
    for record in every(folder.home):
        by_write[record.key].append(record)
    doomed: set[str] = set()
    for *earlier, newest in by_write.values():
        named = {file.path for file in newest.files}
        doomed |= {file.path for record in earlier for file in record.files if file.rejects} - named
    return doomed
