"""Records which dead letters were sent again: a ledger file for each file of dead letters and each topic."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from itertools import groupby

from gluepot.connectors.files.sink.layout import HOME
from gluepot.core.errors import CheckpointError
from gluepot.core.storage import Storage

_VERSION = 1


class Ledger:
    """Rows of dead letters that one topic has acknowledged.

    Args:
        storage: where the ledger lies.
        cluster: id of the Kafka cluster: two clusters may have a topic of one name.
        topic: where the letters go.
    """

    def __init__(self, storage: Storage, cluster: str, topic: str) -> None:
        self._storage = storage
        self._cluster = cluster
        self._topic = topic

    def sent(self, file: str) -> set[int]:
        """Return the rows of a file that were acknowledged.

        Raises:
            CheckpointError: the ledger cannot be read.
        """
        path = self._path(file)
        try:
            plain = json.loads(self._storage.get(path))
            assert plain["version"] == _VERSION
            return {row for first, end in plain["sent"] for row in range(first, end)}
        except FileNotFoundError:
            return set()
        except (AssertionError, KeyError, TypeError, ValueError) as odd:
            raise CheckpointError(
                f"the ledger {self._storage.url}/{path} cannot be read; remove it to send {file} again from the start"
            ) from odd

    def note(self, file: str, rows: Iterable[int]) -> None:
        """Record all rows of a file that were acknowledged so far. This is durable when it returns."""
        plain = {
            "version": _VERSION,
            "cluster": self._cluster,
            "topic": self._topic,
            "file": file,
            "sent": spans(rows),
        }
        self._storage.put(self._path(file), json.dumps(plain, indent=1).encode())

    def _path(self, file: str) -> str:
        return f"{HOME}/replays/{_digest(self._cluster, self._topic)}/{_digest(file)}.json"


def spans(rows: Iterable[int]) -> list[tuple[int, int]]:
    """Return numbers as `[first, end)` pairs, as few as possible."""
    runs = groupby(enumerate(sorted(set(rows))), key=lambda pair: pair[1] - pair[0])
    return [(run[0][1], run[-1][1] + 1) for run in (list(group) for _, group in runs)]


def _digest(*texts: str) -> str:
    return hashlib.sha256(json.dumps(texts).encode()).hexdigest()[:32]
