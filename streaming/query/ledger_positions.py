"""Where a query stands, noted in the job's ledger now and then, so that bookmarks of streams can be seen and moved.

The checkpoint stays the authority: nothing reads the note to go on, and no batch fails of what goes wrong here.
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
    """What a source calls a place in its stream."""

    def to_json(self) -> dict[str, Any]:
        """Return its form in the checkpoint."""


@dataclass(frozen=True, slots=True)
class StreamMark:
    """A query as the ledger knows it.

    Args:
        checkpoint: its `checkpointLocation`.
        query_id: Spark's.
        batch_id: of the batch that was done last.
        places: what that batch held, one entry per stream, as in the offset log.
    """

    checkpoint: str
    query_id: str
    batch_id: int
    places: Sequence[Mapping[str, Any]]

    def to_body(self) -> str:
        """Return the text that goes into the ledger."""
        plain = {"checkpoint": self.checkpoint, "query_id": self.query_id, "batch_id": self.batch_id}
        return json.dumps({"kind": KIND, "version": _VERSION, **plain, "places": list(self.places)})

    @classmethod
    def from_body(cls, body: str) -> StreamMark:
        """Read it back.

        Raises:
            CheckpointError: it is none of ours, or was written by a newer Gluepot.
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
    """Notes a query's progress where its job has bookmarks enabled.

    Args:
        name: of the query; its bookmark's.
        checkpoint: its `checkpointLocation`.
        clock: for the time between two notes.
    """

    def __init__(self, name: str, checkpoint: str, clock: Clock) -> None:
        self._name = name
        self._checkpoint = checkpoint
        self._clock = clock
        self._pending: StreamMark | None = None
        self._noted_at: float | None = None

    def done(self, query_id: str, batch_id: int, held: Sequence[Place]) -> None:
        """Take down that a batch is done; it is noted at once, or with a later one; raises as `note` does."""
        if not held:
            return
        self._pending = StreamMark(self._checkpoint, query_id, batch_id, [one.to_json() for one in held])
        if self._noted_at is None or self._clock.monotonic() - self._noted_at >= EVERY_SECS:
            self.note()

    def note(self) -> None:
        """Note what has not been noted; called at the query's end, too.

        Raises:
            EtlError: the ledger is away, or no longer this run's. It is asked again with a batch a minute later.
        """
        run = jobrun.current()
        marks = run.bookmarks if run else None
        if self._pending is None or marks is None or not marks.run.saves:
            return
        self._noted_at = self._clock.monotonic()  # of a failed try, too: a ledger that hangs holds up few batches
        marks.ledger.mirror(marks.run, self._name, self._pending.to_body())
        self._pending = None
