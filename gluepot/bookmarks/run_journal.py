"""Which writes the attempts of a job's run have announced, kept in the ledger.

What `gluepot.commit.Journal` is to a streaming query, this is to a run with bookmarks: an attempt that follows one that
died takes back what that one wrote and it did not, such as a folder named after the hour.
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
        ledger: where it is kept.
        run: as begun.

    Raises:
        TransientError: the database is away.
    """

    def __init__(self, ledger: Ledger, run: BegunRun) -> None:
        self._ledger = ledger
        self._run = run
        self._changing = Lock()
        self._known = {Write(**json.loads(one)) for one in ledger.announced(run)}
        self._found = frozenset(self._known)

    @property
    def found(self) -> frozenset[Write]:
        """What earlier attempts of the run may have published."""
        return self._found

    def announce(self, write: Write, batch_id: int, used: Mapping[Write, int]) -> None:  # noqa: ARG002  as `Journal`
        """Make sure that a write is on record before it does anything.

        Raises:
            VersionMismatch: the run has lost its lease to another one.
            TransientError: the database is away.
        """
        with self._changing:
            if write not in self._known:
                self._ledger.announce(self._run, json.dumps(asdict(write)))
                self._known.add(write)
