"""The journal of a run with bookmarks: the writes that its attempts have announced, kept in the ledger.

It does for a run what `gluepot.commit.Journal` does for a streaming query. After an attempt has died, the next attempt
takes back those of its writes that it does not make itself, such as a folder that is named after the hour.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from threading import Lock
from typing import TYPE_CHECKING

from gluepot.commit import Write

if TYPE_CHECKING:
    from gluepot.bookmarks.ledger import BegunRun, Ledger


class RunJournal:
    """The journal of one attempt of a run. Safe to use from several threads.

    Args:
        ledger: the ledger that stores it.
        run: the run as the ledger began it.

    Raises:
        TransientError: the database cannot be reached.
    """

    def __init__(self, ledger: Ledger, run: BegunRun) -> None:
        self._ledger = ledger
        self._run = run
        self._changing = Lock()
        self._known = {Write(**json.loads(one)) for one in ledger.announced(run)}
        self._found = frozenset(self._known)

    @property
    def found(self) -> frozenset[Write]:
        """The writes that earlier attempts of the run may have published."""
        return self._found

    def announce(self, write: Write, batch_id: int, used: Mapping[Write, int]) -> None:  # noqa: ARG002  as `Journal`
        """Record a write before it does anything.

        Raises:
            VersionMismatch: the run has lost its lease to another one.
            TransientError: the database cannot be reached.
        """
        with self._changing:
            if write not in self._known:
                self._ledger.announce(self._run, json.dumps(asdict(write)))
                self._known.add(write)
