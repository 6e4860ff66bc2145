"""Clients that read all the time, and note what they see; none of them judges it.

A `read` of the history has what is `added` and `removed` since the last one, by parts that appear as a whole: manifests,
or transactions. A part has `batch`, `ids` of its good records and `rows`, what its own account says there are, the
malformed ones (`rejects`) included. `looks` counts looks since the last line.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import duckdb
import psycopg
from botocore.exceptions import BotoCoreError, ClientError

from tests.cluster.history import History
from tests.crash import manifests
from tests.crash.database import COMMITS
from tests.crash.lanes import Folder
from tests.crash.watcher import Watcher

Part = dict[str, Any]
MOST_LOOKS = 20
Trouble = (BotoCoreError, ClientError, psycopg.Error)
"""What a reader of a server meets that cannot be reached; it looks again."""


class Reader(Watcher):
    """Looks at one table.

    Args:
        name: in the history.
        history: takes what it sees.
    """

    def __init__(self, name: str, history: History) -> None:
        super().__init__()
        self.name = name
        self.seen: dict[str, Part] = {}
        self._history = history
        self._unsaid = 0
        self._trouble = ""

    def look(self) -> None:
        try:
            now = self.parts()
        except Trouble as error:
            if type(error).__name__ != self._trouble:
                self._trouble = type(error).__name__
                self._history.note("read", reader=self.name, trouble=self._trouble)
            return
        if now is None:
            return
        self._trouble = ""
        self.looks += 1
        self._unsaid += 1
        added = {name: part for name, part in now.items() if self.seen.get(name) != part}
        removed = [name for name in self.seen if name not in now]
        if added or removed or self._unsaid >= MOST_LOOKS:
            self._history.note("read", reader=self.name, looks=self._unsaid, added=added, removed=removed)
            self._unsaid = 0
        self.seen = dict(now)

    def parts(self) -> Mapping[str, Part] | None:
        """Return what is there now; None if it changed while it was looked at."""
        raise NotImplementedError


class FileReader(Reader):
    """Opens the files that the manifests name."""

    def __init__(self, history: History, table: Folder) -> None:
        super().__init__("files", history)
        self._table = table
        self._db = duckdb.connect()
        self._db.execute("SET threads = 1")

    def close(self) -> None:
        self._db.close()

    def parts(self) -> Mapping[str, Part] | None:
        names = manifests.newest(manifests.names(self._table))
        found = {name: self.seen[name] for name in names if name in self.seen}
        for name in sorted(names - found.keys()):
            part = self._part(name)
            if part is None:
                return None
            found[name] = part
        return found

    def _part(self, name: str) -> Part | None:
        try:
            manifest = manifests.read(self._table, name)
            files = [str(self._table.fetch(key)) for key in (*manifest.data, *manifest.rejects)]
        except FileNotFoundError as gone:
            if name in manifests.newest(manifests.names(self._table)):
                self._history.note("read", reader=self.name, missing=str(gone), manifest=name)
            return None
        data = files[: len(manifest.data)]
        query = "SELECT event_id FROM read_parquet(?, union_by_name = true)"
        ids = [one for (one,) in self._db.execute(query, [data]).fetchall()] if data else []
        rejects = sum(manifest.rejects.values())
        return {"batch": manifest.batch_id, "ids": sorted(ids), "rejects": rejects, "rows": manifest.records()}


class RowReader(Reader):
    """Reads rows and records of writes in one transaction; rows of one write have one transaction of their own."""

    def __init__(self, history: History, url: str) -> None:
        super().__init__("rows", history)
        self._url = url

    def parts(self) -> Mapping[str, Part] | None:
        with psycopg.connect(self._url, connect_timeout=3, options="-c statement_timeout=5000") as connection:
            connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
            found = connection.execute("SELECT to_regclass('copied'), to_regclass(%s)", [COMMITS]).fetchone()
            if found is None or None in found:
                return {}
            rows = connection.execute("SELECT xmin::text, event_id FROM copied ORDER BY event_id").fetchall()
            writes = connection.execute(
                f"SELECT (xact & 4294967295)::text, batch_id, (record::json->>'rows_out')::int8 FROM {COMMITS}"
                " WHERE target = 'public.copied'".encode()
            ).fetchall()
        parts: dict[str, Part] = {
            xact: {"batch": batch_id, "ids": [], "rejects": 0, "rows": count} for xact, batch_id, count in writes
        }
        for xact, event_id in rows:
            nobody = {"batch": None, "ids": [], "rejects": 0, "rows": 0}
            parts.setdefault(xact, nobody)["ids"].append(event_id)
        return parts
