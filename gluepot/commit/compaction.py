"""Records of compactions and purges: which files of a table were replaced by other files, or deleted.

    <n>.json                what the n-th compaction did; created exclusively, so that the records form one chain
    intents/<n>.<id>.json   the file names that a compaction is about to use if it becomes the n-th

The steps in order. On the right is what the next compaction does after a crash in that step:

1. the rows of some files are staged as one file      -> remove the staged file
2. intent: the final name of that file, durable       -> take the number by a record that does nothing
3. the file moves to its final name                   -> as above, and remove the file
4. record: exclusive create; from here on it is done  -> nothing is lost; do step 5 again
5. replaced files, intent and staging are removed     -> remove the rest

A purge is a record of files that were deleted without replacement. It has no steps 1 and 3. A crash before the record
leaves the table as it was. A crash after it leaves files that readers of the manifests ignore; the next purge or
compaction deletes them.

Two compactions at the same time lose nothing: if both plan to replace the same files, the slower one finds its number
taken when it creates its record, and gives up. Readers read the records before the manifests, because the files that a
record names were published before the record.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Reversible, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import Any

from gluepot.commit.reading import texts
from gluepot.commit.record import FileEntry
from gluepot.connectors.files.sink.layout import (
    COMPACTION_INTENTS,
    COMPACTIONS,
    EMPTIED,
    HOME,
    compaction_intent_key,
    compaction_key,
    emptied_key,
    is_compaction,
    staging_of_compaction,
)
from gluepot.connectors.values import CommitKey
from gluepot.core.errors import CheckpointError
from gluepot.core.storage import Storage
from gluepot.core.stored_json import UNFIT, parsed_json

_VERSION = 1
_QUERY = "compaction"


@dataclass(frozen=True, slots=True)
class Compaction:
    """One compaction.

    Args:
        number: number of the compaction, counted from 1.
        owner: id of the process that made it; other processes may have wanted the same number.
        replaced: paths of the data files whose rows are now in `files`, relative to the table's folder.
        files: the files that now contain these rows; none for a purge, and none in a record that only takes a number.
        committed_at_epoch_ms: when it was done. This is for people; no decision depends on it.
    """

    number: int
    owner: str
    replaced: Sequence[str] = ()
    files: Sequence[FileEntry] = ()
    committed_at_epoch_ms: int = 0

    @property
    def key(self) -> CommitKey:
        """The commit key of its files; other files have the key of the write that made them."""
        return CommitKey(_QUERY, self.number, _QUERY)

    @property
    def intent_key(self) -> str:
        """The storage key of its intent, which has the same text as the record."""
        return compaction_intent_key(self.number, self.owner)

    @property
    def is_purge(self) -> bool:
        """Whether it deleted files without replacing them."""
        return bool(self.replaced) and not self.files

    def to_bytes(self) -> bytes:
        """Return the JSON text."""
        plain = {"version": _VERSION, **asdict(self)}
        return json.dumps(plain, indent=1, ensure_ascii=False).encode()

    @classmethod
    def from_bytes(cls, text: bytes) -> Compaction:
        """Read the JSON text back.

        Raises:
            CheckpointError: the text is not a record, or a newer version of Gluepot wrote it.
        """
        try:
            plain: dict[str, Any] = parsed_json(text)
            if plain.pop("version") != _VERSION:
                raise CheckpointError(f"a compaction's record does not have version {_VERSION}; use a newer Gluepot")
            files = [FileEntry(**file) for file in plain["files"]]
            return cls(**{**plain, "replaced": list(map(str, plain["replaced"])), "files": files})
        except UNFIT as error:
            start = text[:40]
            raise CheckpointError(
                f"a compaction's record beginning with {start!r} cannot be read; restore it"
            ) from error


def settle(storage: Storage, owner: str) -> None:
    """Finish or undo the compactions and purges that died.

    One that is still alive finds its number taken and gives up.

    Args:
        storage: the table's folder.
        owner: a name that no other compaction or purge has.
    """
    for key in storage.list(COMPACTION_INTENTS):
        with suppress(FileNotFoundError):  # ended meanwhile
            intent = Compaction.from_bytes(storage.get(key))
            storage.create(compaction_key(intent.number), Compaction(intent.number, owner).to_bytes())
            record = Compaction.from_bytes(storage.get(compaction_key(intent.number)))
            # If it is slow instead of dead, it moves nothing more without its staged file.
            storage.delete_folder(staging_of_compaction(f"{intent.owner}{intent.number}"))
            end(storage, intent, is_done=record.owner == intent.owner)
    storage.delete_folder(f"{HOME}/staging/compaction")


def created(storage: Storage, compaction: Compaction) -> bool:
    """Create the record; return False if another compaction has taken the number."""
    key = compaction_key(compaction.number)
    if storage.create(key, compaction.to_bytes()):
        return True
    # "It exists" may also be the answer to our own request, sent twice because the first reply was lost.
    return Compaction.from_bytes(storage.get(key)).owner == compaction.owner


def end(storage: Storage, compaction: Compaction, *, is_done: bool) -> None:
    """Remove the files that do not belong to the table, then the intent."""
    storage.delete(compaction.replaced if is_done else [file.path for file in compaction.files])
    storage.delete([compaction.intent_key])


def newest_compaction(storage: Storage) -> int:
    """Return the number of a table's newest compaction or purge; 0 if it has none."""
    return max(_numbers(storage), default=0)


def compactions(storage: Storage, up_to: int | None = None) -> list[Compaction]:
    """Return the compactions and purges of a table, in order.

    Args:
        storage: the table's folder.
        up_to: the number of the last one to return; None for all.

    Raises:
        CheckpointError: a record cannot be read.
    """
    numbers = sorted(_numbers(storage)) if up_to is None else range(1, up_to + 1)
    return [Compaction.from_bytes(text) for _, text in texts(storage, list(map(compaction_key, numbers)))]


def purged_files(compacted: Reversible[Compaction]) -> frozenset[str]:
    """Return the files whose rows purges have taken out of a table, also those that were compacted before. Pure."""
    gone: set[str] = set()
    for one in reversed(compacted):
        if one.is_purge or (one.files and gone.issuperset(file.path for file in one.files)):
            gone.update(one.replaced)
    return frozenset(gone)


def note_emptied(storage: Storage, number: int) -> None:
    """Note that a table had no file after the purge of a number."""
    storage.put(emptied_key(number), b"")


def emptied_files(storage: Storage) -> frozenset[str]:
    """Return the files that a table had before a purge last left it without any; none if that never happened.

    A table that was never emptied costs one listing, of an empty folder.

    Raises:
        CheckpointError: a record cannot be read.
    """
    noted = [int(key.rsplit("/", 1)[1]) for key in storage.list(EMPTIED)]
    return purged_files(compactions(storage, max(noted))) if noted else frozenset()


def _numbers(storage: Storage) -> Iterator[int]:
    for key in storage.list(COMPACTIONS):
        if is_compaction(key):
            yield int(key.rsplit("/", 1)[1].removesuffix(".json"))
