"""Bookmarks of streams: the ledger records where a query stood; moving a bookmark changes the query's checkpoint."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

from gluepot.bookmarks.ledger import Ledger
from gluepot.connectors.positions import StreamPositions, one_place
from gluepot.connectors.registry import positions_class
from gluepot.connectors.streams.start import write_start
from gluepot.core.clock import Clock
from gluepot.core.errors import CheckpointError, ConfigError
from gluepot.core.storage import open_storage
from gluepot.streaming.checkpoints import lease, moves
from gluepot.streaming.checkpoints.rewind import begin_anew, history
from gluepot.streaming.checkpoints.snapshot import read
from gluepot.streaming.query.ledger_positions import KIND, StreamMark


@dataclass(frozen=True, slots=True)
class StreamMove:
    """What a rewind does to one query.

    Args:
        ctx: the name of the query and of its bookmark.
        checkpoint: location of the query's checkpoint.
        start: where the query begins after the rewind.
        moves: the change of each partition, from where the checkpoint stands to `start`.
    """

    ctx: str
    checkpoint: str
    start: StreamPositions[Any]
    moves: Sequence[moves.Move]

    def lines(self) -> Iterator[str]:
        """Yield a sentence per partition."""
        return (f"{self.ctx}: {one}" for one in self.moves)


def is_stream(bodies: Sequence[str]) -> bool:
    """Tell whether a bookmark belongs to a stream."""
    return bool(bodies) and json.loads(bodies[-1]).get("kind") == KIND


def stream_contexts(ledger: Ledger, job: str, ctx: str | None = None) -> list[str]:
    """Return the names of a job's streams; with `ctx`, only that name, or nothing if it is not a stream."""
    names = ledger.contexts(job, ledger.job(job).state) if ctx is None else [ctx]
    return [one for one in names if any(is_stream([change.body]) for change in ledger.history(job, one) if change.body)]


def place_of(mark: StreamMark) -> StreamPositions[Any]:
    """Return where a query continues according to its bookmark, all its streams together.

    Raises:
        CheckpointError: this version does not know the source's positions, or the sources are of several kinds.
    """
    places = []
    for plain in mark.places:
        kind = positions_class(plain.get("source"))
        if kind is None:
            raise CheckpointError(
                f"A bookmark belongs to a source {plain.get('source')!r} that this version does not know; use a newer"
                " Gluepot."
            )
        places.append(kind.from_json(plain))
    return one_place(places)


def place_text(mark: StreamMark) -> str:
    """Return the positions as text for people: `clicks 0:23 1:40`."""
    by_topic: dict[str, list[str]] = {}
    place = place_of(mark)
    for (topic, partition), end in sorted(place.ends().items()):
        by_topic.setdefault(topic, []).append(f"{partition}:{place.spoken(end)}")
    return "; ".join(f"{topic} {' '.join(ends)}" for topic, ends in by_topic.items())


def planned_moves(ledger: Ledger, job: str, state: int, ctx: str | None) -> list[StreamMove]:
    """Return what a rewind to a state does to the checkpoints of a job's streams.

    A stream that had no bookmark at that state stays where it is.
    """
    found = []
    for name in stream_contexts(ledger, job, ctx):
        bodies = ledger.state(job, name, state)
        if not is_stream(bodies):
            continue
        mark = StreamMark.from_body(bodies[-1])
        start = place_of(mark)
        effect = moves.moves(moves.standing(read(open_storage(mark.checkpoint))), start)
        found.append(StreamMove(name, mark.checkpoint, start, effect))
    return found


def move(planned: Sequence[StreamMove], clock: Clock) -> None:
    """Make the next run of each query begin at its new position; the old history moves to the checkpoint's backup.

    Raises:
        LeaseHeld: one of the queries is running; then none is moved.
    """
    with ExitStack() as stack:
        storages = [open_storage(one.checkpoint) for one in planned]
        leases = [stack.enter_context(lease.take(storage, clock)) for storage in storages]
        for one, storage, mine in zip(planned, storages, leases, strict=True):
            begin_anew(storage, read(storage), one.start, mine, clock)


def begin_elsewhere(mark: StreamMark, checkpoint: str) -> None:
    """Make a query with a new checkpoint begin at the position of a bookmark.

    Raises:
        ConfigError: the checkpoint already has a history.
    """
    storage = open_storage(checkpoint)
    if history(read(storage).names):
        raise ConfigError(f"{checkpoint} has the history of a query; fork into a new checkpointLocation.")
    write_start(storage, place_of(mark))
