"""The start file: where a query without history begins, if a user chose that with `gluepot checkpoint rewind`.

    <checkpoint>/gluepot/start.json    empty spans at the chosen positions, in the form of the offset log

It is used until the offset log has its first entry, and takes precedence over `startingOffsets`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any, TypeVar

from gluepot.connectors.positions import StreamPositions
from gluepot.connectors.registry import positions_class
from gluepot.core.errors import CheckpointError
from gluepot.core.storage import Storage
from gluepot.core.stored_json import parsed_json

START_FILE = "gluepot/start.json"

PositionsT = TypeVar("PositionsT", bound=StreamPositions[Any])


def read_start(storage: Storage) -> StreamPositions[Any] | None:
    """Return the chosen start; None if nobody chose one.

    Args:
        storage: storage of the checkpoint.

    Raises:
        CheckpointError: the file exists but cannot be trusted.
    """
    try:
        return parse_start(storage.get(START_FILE))
    except FileNotFoundError:
        return None
    except CheckpointError as damaged:
        raise CheckpointError(
            f"{storage.url}/{START_FILE} {damaged}; run `gluepot checkpoint rewind {storage.url}` again to choose where"
            " to start, or remove the file to start at startingOffsets.",
        ) from damaged


def parse_start(text: bytes) -> StreamPositions[Any]:
    """Read a start file.

    Raises:
        CheckpointError: the file was changed since it was written; the message is a clause that follows its name.
    """
    try:
        plain = parsed_json(text)
        if ours := positions_class(plain.get("source")):
            return ours.from_json(plain)
    except (ValueError, AttributeError, CheckpointError) as damaged:
        raise CheckpointError(f"({len(text)} bytes) is not as it was written") from damaged
    raise CheckpointError(f"({len(text)} bytes) is not of a source that this Gluepot knows")


def write_start(storage: Storage, start: StreamPositions[Any]) -> None:
    """Write the start file, so that the next query without history begins at the ends of `start`."""
    storage.put(START_FILE, json.dumps(start.place().to_json()).encode())


def of_stream(
    start: PositionsT,
    covers: Callable[[str, Any], bool],
    streams: Iterable[str] | None,
    location: str,
) -> PositionsT:
    """Return the part of a start that one stream source reads.

    Args:
        start: the start of all streams of the query.
        covers: tells whether the source reads a stream and shard.
        streams: the names of the streams that it reads; None for a pattern.
        location: location of the checkpoint, for the error message.

    Raises:
        CheckpointError: a stream has no starting position.
    """
    spans = {(stream, shard): span for (stream, shard), span in start.spans.items() if covers(stream, shard)}
    notes = {(stream, shard): note for (stream, shard), note in start.notes.items() if covers(stream, shard)}
    there = {stream for stream, _ in (*spans, *notes)}
    if missing := set(streams or ()) - there:
        raise CheckpointError(
            f"{location}/{START_FILE} does not say where to start in {', '.join(sorted(missing))}; run `gluepot"
            f" checkpoint rewind {location}` again with all of them, or remove the file to start as the script says.",
        )
    ids = {stream: one for stream, one in start.stream_ids.items() if stream in there}
    return replace(start, stream_ids=ids, spans=spans, notes=notes)
