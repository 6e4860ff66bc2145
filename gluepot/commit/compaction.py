"""Records of compactions and purges: which files of a table others have taken the place of, or nothing at all.

    <n>.json                what the n-th compaction did; created exclusively, so that all of them are one chain
    intents/<n>.<id>.json   what one that wants to be the n-th is about to name

The order of steps, with what the next compaction does after a crash behind it:

1. the rows of some files are staged as one file      -> removed
2. intent: the final name of that file, durable       -> the number is taken by a record that does nothing
3. the file moves to its final name                   -> as above, and the file is removed
4. record: exclusive create; from here on it is done  -> nothing is lost, step 5 is done again
5. replaced files, intent and staging are removed     -> the rest is removed

A purge is a record of replaced files with nothing in their place. It has no steps 1 and 3: a crash before the record
leaves the table as it was, and a crash after it leaves files that no manifest's reader looks for; the next purge or
compaction deletes them.

Two at a time lose nothing: one of them plans on what the other has not replaced yet, creates the record second, and so
finds the number taken. Readers take the records before the manifests: what a record names was published before it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import Any

from gluepot.commit.reading import texts
from gluepot.commit.record import FileEntry
from gluepot.connectors.filesink.layout import (
    COMPACTION_INTENTS,
    COMPACTIONS,
    HOME,
    compaction_intent_key,
    compaction_key,
    is_compaction,
)
from gluepot.connectors.values import CommitKey
from gluepot.core.errors import CheckpointError
from gluepot.core.storage import Storage

_VERSION = 1
_QUERY = "compaction"


@dataclass(frozen=True, slots=True)
class Compaction:
    """One compaction.

    Args:
        number: counted from 1.
        owner: tells who made it from others who wanted its number.
        replaced: paths of data files whose rows are in `files` now, relative to the table's folder.
        files: that hold these rows; none where the rows were purged, and none in a record that only takes a number.
        committed_at_epoch_ms: when. For people: nothing is decided by it.
    """

    number: int
    owner: str
    replaced: Sequence[str] = ()
    files: Sequence[FileEntry] = ()
    committed_at_epoch_ms: int = 0

    @property
    def key(self) -> CommitKey:
        """What its files say of where they come from, in the place of a write."""
        return CommitKey(_QUERY, self.number, _QUERY)

    @property
    def intent_key(self) -> str:
        """Where its intent lies, whose text is that of the record."""
        return compaction_intent_key(self.number, self.owner)

    @property
    def is_purge(self) -> bool:
        """Whether nothing took the place of the files."""
        return bool(self.replaced) and not self.files

    def to_bytes(self) -> bytes:
        """Return the JSON text."""
        plain = {"version": _VERSION, **asdict(self)}
        return json.dumps(plain, indent=1, ensure_ascii=False).encode()

    @classmethod
    def from_bytes(cls, text: bytes) -> Compaction:
        """Read the JSON text back.

        Raises:
            CheckpointError: it is not such a text, or was written by a newer version of Gluepot.
        """
        try:
            plain: dict[str, Any] = json.loads(text)
            if plain.pop("version") != _VERSION:
                raise CheckpointError(f"a compaction's record is none of version {_VERSION}; use a newer Gluepot")
            return cls(**{**plain, "files": [FileEntry(**file) for file in plain["files"]]})
        except (ValueError, KeyError, TypeError) as error:
            start = text[:40]
            raise CheckpointError(
                f"a compaction's record beginning with {start!r} cannot be read; restore it"
            ) from error


def settle(storage: Storage, owner: str) -> None:
    """Finish or undo what compactions and purges that died left behind.

    One that is alive finds its number taken and gives up.

    Args:
        storage: the table's folder.
        owner: a name that no other compaction or purge has.
    """
    for key in storage.list(COMPACTION_INTENTS):
        with suppress(FileNotFoundError):  # ended meanwhile
            intent = Compaction.from_bytes(storage.get(key))
            storage.create(compaction_key(intent.number), Compaction(intent.number, owner).to_bytes())
            record = Compaction.from_bytes(storage.get(compaction_key(intent.number)))
            end(storage, intent, is_done=record.owner == intent.owner)
    storage.delete_folder(f"{HOME}/staging/compaction")


def created(storage: Storage, compaction: Compaction) -> bool:
    """Create the record; return whether it is there now, rather than another one with its number."""
    key = compaction_key(compaction.number)
    if storage.create(key, compaction.to_bytes()):
        return True
    # "It exists" may also be the answer to our own request, sent twice because the first reply was lost.
    return Compaction.from_bytes(storage.get(key)).owner == compaction.owner


def end(storage: Storage, compaction: Compaction, *, is_done: bool) -> None:
    """Remove what is not in the table, then the intent."""
    storage.delete(compaction.replaced if is_done else [file.path for file in compaction.files])
    storage.delete([compaction.intent_key])


def newest_compaction(storage: Storage) -> int:
    """Return the number of a table's newest compaction or purge, 0 for none."""
    return max(_numbers(storage), default=0)


def compactions(storage: Storage, up_to: int | None = None) -> list[Compaction]:
    """Return the compactions and purges of a table, in order.

    Args:
        storage: the table's folder.
        up_to: the number of the last one; None for all there are.

    Raises:
        CheckpointError: a record cannot be read.
    """
    numbers = sorted(_numbers(storage)) if up_to is None else range(1, up_to + 1)
    return [Compaction.from_bytes(text) for _, text in texts(storage, list(map(compaction_key, numbers)))]


def _numbers(storage: Storage) -> Iterator[int]:
    for key in storage.list(COMPACTIONS):
        if is_compaction(key):
            yield int(key.rsplit("/", 1)[1].removesuffix(".json"))
