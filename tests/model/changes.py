"""Turns the changes of a whole storage, as it saw them, into logs for the model: one log for each table."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from tests.model.recording import Entry, Notes, begin

_STAGING = "_gluepot/staging/"


@dataclass(frozen=True, slots=True)
class Change:
    """A change of a storage, or a request that changed nothing.

    Args:
        who: name of the process that asked for it; empty if the storage does not know it.
        what: `put`, `created`, `exists` (so it was not created), `moved`, `copied`, `missed` (there was nothing to move
            or copy), `deleted`.
        path: of the file, without a slash at its beginning.
        data: what the file holds, unless it was moved, copied or deleted.
        source: what was moved or copied.
    """

    who: str
    what: str
    path: str
    data: bytes = b""
    source: str = ""


class Recorder:
    """Notes changes in the order in which the storage carried them out.

    Args:
        root_of: returns the folder of the table or of the checkpoint that a path lies in.
    """

    def __init__(self, root_of: Callable[[str], str]) -> None:
        self._root_of = root_of
        self._logs: dict[str, list[Entry]] = {}
        self._gone: set[str] = set()
        self._unknown: set[str] = set()

    def __call__(self, change: Change) -> None:
        """Note a change."""
        root = self._root_of(change.path)
        key, source = change.path.removeprefix(f"{root}/"), change.source.removeprefix(f"{root}/")
        notes = Notes(self._logs.setdefault(root, []), change.who, root)
        match change.what:
            case "put":
                if change.path in self._gone:
                    self._unknown.add(root)
                notes.put(key, change.data)
            case "created" | "exists":
                notes.created(key, change.data, is_new=change.what == "created")
            case "deleted":
                if key.startswith(_STAGING):
                    self._gone.add(change.path)
                notes.deleted(key)
            case _ if source.startswith(_STAGING):
                notes.moved(source, key, action=f"staged_{change.what}")

    def entries(self, title: str) -> Iterator[Entry]:
        """Yield the logs, one after the other, as the model reads them.

        The model does not know that the upload of a staged file comes late, after the file was removed. So the logs of
        tables in which that happened are left out.
        """
        for root, log in self._logs.items():
            if log and root not in self._unknown:
                yield begin(f"{title}, {root}")
                yield from log
