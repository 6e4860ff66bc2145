"""Notes a query's positions in the job's ledger from time to time, so that users can see and move stream bookmarks.

The checkpoint stays the authority: a query never reads the note to continue, and an error here fails no batch.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from gluepot.bookmarks import jobrun
from gluepot.core.clock import Clock
from gluepot.core.errors import CheckpointError

KIND = "stream"
EVERY_SECS = 60.0
_VERSION = 1


class Place(Protocol):
    """The positions of a source in its streams."""

    def to_json(self) -> dict[str, Any]:
        """Return the positions in the form that the checkpoint uses."""


@dataclass(frozen=True, slots=True)
class StreamMark:
    """The note that the ledger keeps of a query.

    Args:
        checkpoint: the query's `checkpointLocation`.
        query_id: Spark's id of the query.
        batch_id: the number of the last completed batch.
        places: the positions of that batch, one entry per stream, as in the offset log.
    """

    checkpoint: str
    query_id: str
    batch_id: int
    places: Sequence[Mapping[str, Any]]

    def to_body(self) -> str:
        """Return the text that the ledger stores."""
        plain = {"checkpoint": self.checkpoint, "query_id": self.query_id, "batch_id": self.batch_id}
        return json.dumps({"kind": KIND, "version": _VERSION, **plain, "places": list(self.places)})

    @classmethod
    def from_body(cls, body: str) -> StreamMark:
        """Read a note back from the ledger's text.

        Raises:
            CheckpointError: the text is not a note of ours, or a newer Gluepot wrote it.
        """
        try:
            plain = json.loads(body)
            if (plain["kind"], plain["version"]) == (KIND, _VERSION):
                return cls(plain["checkpoint"], plain["query_id"], plain["batch_id"], plain["places"])
        except (ValueError, KeyError, TypeError) as error:
            raise CheckpointError(f"a bookmark beginning with {body[:40]!r} cannot be read") from error
        raise CheckpointError(
            f"a bookmark is of kind {plain['kind']}, version {plain['version']}; a stream's is wanted"
        )


class LedgerPositions:
    """Notes a query's progress in the ledger if its job has bookmarks enabled.

    Args:
        name: the name of the query, and of its bookmark.
        checkpoint: the query's `checkpointLocation`.
        clock: measures the time between two notes.
    """

    def __init__(self, name: str, checkpoint: str, clock: Clock) -> None:
        self._name = name
        self._checkpoint = checkpoint
        self._clock = clock
        self._pending: StreamMark | None = None
        self._noted_at: float | None = None

    def done(self, query_id: str, batch_id: int, places: Sequence[Place]) -> None:
        """Record that a batch is done; the ledger gets the note now or with a later batch. Raises as `note` does."""
        if not places:
            return
        self._pending = StreamMark(self._checkpoint, query_id, batch_id, [one.to_json() for one in places])
        if self._noted_at is None or self._clock.monotonic() - self._noted_at >= EVERY_SECS:
            self.note()

    def note(self) -> None:
        """Write the pending note to the ledger; also called at the query's end.

        Raises:
            EtlError: the ledger is unreachable, or no longer belongs to this run. A batch a minute later tries again.
        """
        run = jobrun.current()
        marks = run.bookmarks if run else None
        if self._pending is None or marks is None or not marks.run.saves:
            return
        # Also set for a failed try, so that a ledger that hangs delays few batches.
        self._noted_at = self._clock.monotonic()
        marks.ledger.mirror(marks.run, self._name, self._pending.to_body())
        self._pending = None
