"""The history of a run: one JSON object a line, in the order in which things happened."""

from __future__ import annotations

import gzip
import json
import threading
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

Event = dict[str, Any]
ENDING = ".jsonl.gz"


def now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


class History:
    """A file that only grows, from any thread; it is compressed at its end.

    Each line has `at`, the seconds since the beginning, and `kind`:

    - `run`: what runs, and how.
    - `sent`: `ids` of acknowledged good records, how many `malformed` ones, `unanswered` ids.
    - `found`: `ids` of the unanswered records that are in the topic after all.
    - `read`: what one `reader` saw since its last line, see `tests.cluster.readers`.
    - `started`, `ended`: a process of a host, with its exit code and its last message.
    - `nemesis`: a fault that begins or ends.
    - `healed`: the last fault has ended. `settled`: a driver has ended by itself after everything was read.
    - `verdict`: what the tables hold, compared with the producer's journal.
    - `stuck`: what did not happen in time. `trouble`: what somebody met who goes on.
    - `versions`: of what runs.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._began = time.monotonic()
        self._lock = threading.Lock()
        self._plain = path.with_suffix("")
        self._file = self._plain.open("w")

    def note(self, kind: str, **facts: object) -> None:
        with self._lock:
            event = {"at": round(time.monotonic() - self._began, 2), "kind": kind, **facts}
            self._file.write(json.dumps(event, separators=(",", ":")) + "\n")
            self._file.flush()

    def close(self) -> None:
        """Compress what is there."""
        with self._lock:
            self._file.close()
            self.path.write_bytes(gzip.compress(self._plain.read_bytes(), mtime=0))
            self._plain.unlink()


def read(path: Path) -> Iterator[Event]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)
