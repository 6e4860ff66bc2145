"""A reader that looks all the time: no record twice, no batch in part, at any instant."""

from __future__ import annotations

import threading
from collections import Counter
from types import TracebackType
from typing import Self

import duckdb

from tests.crash import manifests
from tests.crash.database import Database
from tests.crash.lanes import Folder
from tests.crash.manifests import Manifest

LOOK_SECS = 0.5


class Watcher:
    """Looks at one table from a thread, which may not exist yet."""

    def __init__(self) -> None:
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self.looks = 0
        self.faults: list[str] = []

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._done.set()
        self._thread.join()
        if kind is None:
            self.look()
        self.close()

    def _run(self) -> None:
        while not self._done.wait(LOOK_SECS):
            try:
                self.look()
            except Exception as error:  # noqa: BLE001  a reader that cannot read has found something
                self.faults.append(f"{type(error).__name__}: {error}")
                return

    def look(self) -> None:
        """Look once."""
        raise NotImplementedError

    def close(self) -> None:
        """Let go of what looking needs."""


class TableWatcher(Watcher):
    """Follows a table of a database.

    Args:
        database: where it is.
        table: its name.
    """

    def __init__(self, database: Database, table: str) -> None:
        super().__init__()
        self._database = database
        self._table = table

    def look(self) -> None:
        if doubled := self._database.doubled(self._table):
            self.faults.append(f"{doubled} records twice in {self._table}")
        self.looks += 1


class FolderWatcher(Watcher):
    """Follows a table of files by its manifests; files are opened with DuckDB when their manifest is first seen.

    Args:
        table: its folder.
        whole: whether the write drops no record, so that files and ranges must add up.
    """

    def __init__(self, table: Folder, *, whole: bool) -> None:
        super().__init__()
        self._table = table
        self._whole = whole
        self._live: dict[str, Manifest] = {}
        self._ids: dict[str, list[int]] = {}
        self._copies: Counter[int] = Counter()
        self._db = duckdb.connect()
        self._db.execute("SET threads = 1")

    def close(self) -> None:
        self._db.close()

    def look(self) -> None:
        """Take in what is new since the last look, as a reader would see it that came now."""
        now = manifests.newest(manifests.names(self._table))
        for name in sorted(now - self._live.keys()):
            if not self._take(name):
                return  # superseded between listing and opening: the next look meets its successor
        for name in self._live.keys() - now:
            for one in self._ids.pop(name):
                self._copies[one] -= 1
            del self._live[name]
        doubled = sum(1 for copies in self._copies.values() if copies > 1)
        if doubled:
            self.faults.append(f"{doubled} records twice, after manifest {max(self._live)}")
        self.looks += 1

    def _take(self, name: str) -> bool:
        manifest = manifests.read(self._table, name)
        try:
            found = self._read(list(manifest.data))
            for path in manifest.rejects:
                self._table.fetch(path)
        except (FileNotFoundError, duckdb.IOException) as error:
            if name in manifests.newest(manifests.names(self._table)):
                self.faults.append(
                    f"manifest {name} of batch {manifest.batch_id} names a file that is not there: {error}"
                )
            return False
        if {path: len(ids) for path, ids in found.items()} != manifest.data:
            self.faults.append(f"the files of manifest {name} do not hold the rows it says")
        if self._whole and manifest.missing():
            self.faults.append(f"manifest {name} has {manifest.missing()} records less than its ranges")
        self._live[name] = manifest
        self._ids[name] = [one for ids in found.values() for one in ids]
        self._copies.update(self._ids[name])
        return True

    def _read(self, keys: list[str]) -> dict[str, list[int]]:
        """The records of files, by key."""
        key_of = {str(self._table.fetch(key)): key for key in keys}
        found: dict[str, list[int]] = {key: [] for key in keys}
        if keys:
            query = "SELECT filename, event_id FROM read_parquet(?, filename = true, union_by_name = true)"
            for file, event_id in self._db.execute(query, [list(key_of)]).fetchall():
                found[key_of[file]].append(event_id)
        return found
