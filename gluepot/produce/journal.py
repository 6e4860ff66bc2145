"""What was acknowledged, a line a record, so that somebody else can check a table against it."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

import orjson


class Journal:
    """A file of JSON lines that only grows: number, sha256 of the payload, topic, partition, offset.

    Lines come in the order of the answers. A record without a line may have arrived all the same.

    Args:
        path: path of the file, to which lines are appended.
        topic: or stream.
    """

    def __init__(self, path: Path, topic: str) -> None:
        self._file = path.open("ab")
        self._topic = topic
        self._digests: dict[int, str] = {}

    def sending(self, number: int, payload: bytes) -> None:
        """Take note of a record that is about to be sent."""
        self._digests[number] = sha256(payload).hexdigest()

    def taken(self, number: int, partition: int | None = None, offset: int | None = None) -> None:
        """Write down that it was acknowledged; the service may not say where."""
        line = {
            "number": number,
            "sha256": self._digests.pop(number),
            "topic": self._topic,
            "partition": partition,
            "offset": offset,
        }
        self._file.write(orjson.dumps(line, option=orjson.OPT_APPEND_NEWLINE))

    def close(self) -> None:
        """Bring all lines to the file."""
        self._file.close()
