"""Bookmarks of streams: the ledger tells where a query stood, the checkpoint is what is changed."""

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
from gluepot.streaming.checkpoints.rewind import history, start_over
from gluepot.streaming.checkpoints.snapshot import read
from gluepot.streaming.query.ledger_positions import KIND, StreamMark


@dataclass(frozen=True, slots=True)
class StreamMove:
    """What a rewind does to one query.

    Args:
        ctx: the query's name, that of its bookmark.
        checkpoint: its location.
        start: where it begins then.
        moves: the same by partition, against where the checkpoint stands.
    """

    ctx: str
    checkpoint: str
    start: StreamPositions[Any]
    moves: Sequence[moves.Move]

    def lines(self) -> Iterator[str]:
        """Yield a sentence per partition."""
        return (f"{self.ctx}: {one}" for one in self.moves)


def is_stream(bodies: Sequence[str]) -> bool:
    """Tell whether a bookmark mirrors a checkpoint."""
    return bool(bodies) and json.loads(bodies[-1]).get("kind") == KIND


def stream_contexts(ledger: Ledger, job: str, ctx: str | None = None) -> list[str]:
    """Return the names of a job's streams, or the one that is asked for if it is a stream."""
    names = ledger.contexts(job, ledger.job(job).state) if ctx is None else [ctx]
    return [one for one in names if any(is_stream([change.body]) for change in ledger.history(job, one) if change.body)]


def place_of(mark: StreamMark) -> StreamPositions[Any]:
    """Return where a mirrored query goes on, all of its streams together.

    Raises:
        CheckpointError: the mark is of a source whose positions are not known here, or of several kinds of source.
    """
    places = []
    for plain in mark.places:
        kind = positions_class(plain.get("source"))
        if kind is None:
            raise CheckpointError(f"A bookmark is of the source {plain.get('source')!r}; use a newer Gluepot.")
        places.append(kind.from_json(plain))
    return one_place(places)


def place_text(mark: StreamMark) -> str:
    """Return the place for a person: `clicks 0:23 1:40`."""
    by_topic: dict[str, list[str]] = {}
    place = place_of(mark)
    for (topic, partition), end in sorted(place.ends().items()):
        by_topic.setdefault(topic, []).append(f"{partition}:{place.spoken(end)}")
    return "; ".join(f"{topic} {' '.join(ends)}" for topic, ends in by_topic.items())


def planned_moves(ledger: Ledger, job: str, state: int, ctx: str | None) -> list[StreamMove]:
    """Return what a rewind to a state does to the checkpoints of a job's streams.

    A stream that the ledger did not know at that state stays where it is.
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
    """Let the next run of each query begin at its new place; the old histories go to the backups of the checkpoints.

    Raises:
        LeaseHeld: a query runs; none is moved then.
    """
    with ExitStack() as stack:
        storages = [open_storage(one.checkpoint) for one in planned]
        for storage in storages:
            stack.enter_context(lease.take(storage, clock))
        for one, storage in zip(planned, storages, strict=True):
            start_over(storage, read(storage), one.start, clock)


def begin_elsewhere(mark: StreamMark, checkpoint: str) -> None:
    """Let a query with a checkpoint of its own begin where another one stands.

    Raises:
        ConfigError: there is a history in that checkpoint.
    """
    storage = open_storage(checkpoint)
    if history(read(storage).names):
        raise ConfigError(f"{checkpoint} has the history of a query; fork into a new checkpointLocation.")
    write_start(storage, place_of(mark))
