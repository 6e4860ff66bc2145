"""The start file: where a query without history begins, if somebody has said so by `gluepot checkpoint rewind`.

    <checkpoint>/gluepot/start.json    empty spans at the chosen offsets, in the form of the offset log

It counts until the first entry of the offset log is there, and comes before `startingOffsets`.
"""

from __future__ import annotations

import json

from connectors.kafka.positions import Positions
from connectors.kafka.settings import KafkaReadSettings
from etlcore.errors import CheckpointError
from etlcore.storage import Storage

START_FILE = "gluepot/start.json"


def read_start(storage: Storage) -> Positions | None:
    """Return the chosen start; None if nobody chose one.

    Args:
        storage: of the checkpoint.

    Raises:
        CheckpointError: the file is there and cannot be trusted.
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


def parse_start(text: bytes) -> Positions:
    """Read a start file.

    Raises:
        CheckpointError: it is not as it was written; the message is a clause that follows the file's name.
    """
    try:
        return Positions.from_json(json.loads(text))
    except (ValueError, AttributeError, CheckpointError) as damaged:
        raise CheckpointError(f"({len(text)} bytes) is not as it was written") from damaged


def write_start(storage: Storage, start: Positions) -> None:
    """Let the next query without history begin at the ends of `start`."""
    chosen = Positions.at(start.topic_ids, start.ends())
    storage.put(START_FILE, json.dumps(chosen.to_json()).encode())


def of_stream(start: Positions, settings: KafkaReadSettings, location: str) -> Positions:
    """Return the part of a start that one stream reads.

    Args:
        start: of all streams of the query.
        settings: of the stream.
        location: of the checkpoint, for the message.

    Raises:
        CheckpointError: a topic of the stream has no place to start.
    """
    spans = {(topic, p): span for (topic, p), span in start.spans.items() if settings.covers(topic, p)}
    there = {topic for topic, _ in spans}
    if missing := set(settings.topics() or ()) - there:
        raise CheckpointError(
            f"{location}/{START_FILE} does not say where to start in topic {', '.join(sorted(missing))}; run `gluepot"
            f" checkpoint rewind {location}` again with all topics, or remove the file to start at startingOffsets.",
        )
    return Positions({topic: one for topic, one in start.topic_ids.items() if topic in there}, spans, start.after)
