"""What was sent and acknowledged: one line per record, on disk before anybody counts on it."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Sent:
    """An acknowledged record.

    Args:
        stream: topic or stream.
        shard: partition or shard, as it was acknowledged, like the position.
        position: in the shard, see `Place`.
        kind: the value a table is partitioned by; empty for a malformed record.
        digest: SHA-256 of `click_text` for a good record, of the payload for a malformed one.
    """

    stream: str
    shard: str
    position: str
    kind: str
    digest: str


def sha256(text: bytes) -> str:
    return hashlib.sha256(text).hexdigest()


def click_text(event_id: int, kind: str, amount: int, text: str) -> bytes:
    """The fields of a good record in one text, made again from the table's columns by the checker."""
    return f"{event_id}|{kind}|{amount}|{text}".encode()


class Journal:
    """A file of `Sent` lines that only grows."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.lines = 0
        self._file = path.open("ab")

    def add(self, sent: Iterable[Sent]) -> None:
        """Append, and return when it is on the disk."""
        for one in sent:
            self._file.write(json.dumps(asdict(one)).encode() + b"\n")
            self.lines += 1
        self._file.flush()
        os.fsync(self._file.fileno())

    def close(self) -> None:
        self._file.close()


def read(path: Path) -> Iterator[Sent]:
    with path.open() as lines:
        for line in lines:
            yield Sent(**json.loads(line))
