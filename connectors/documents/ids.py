"""Ids of documents: a repetition of a batch gives each row the id that it had before, so that it overwrites itself."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from hashlib import blake2b

from gluepot.connectors.values import CommitKey
from gluepot.frames.chunk import Chunk, Origin

_DIGEST_BYTES = 16


class DocumentIds:
    """Gives ids to the rows of one task.

    The id of a row that was made from one record of a stream comes from the record's position, so it does not depend
    on how the batch was divided among tasks. Other rows, such as those of a DataFrame, are counted in their task. The
    batch is part of every id, because a topic that is created again begins with the same positions.

    Args:
        key: commit key of the write.
        task: ordinal of the task.
    """

    def __init__(self, key: CommitKey, task: int) -> None:
        write = json.dumps([key.query_id, key.batch_id, key.ctx]).encode()
        self._write = blake2b(write, digest_size=_DIGEST_BYTES)
        self._task = task
        self._counted = 0

    def of(self, chunk: Chunk) -> Sequence[str]:
        """Return an id for each row of the task's next chunk."""
        rows: int = chunk.batch.num_rows
        if chunk.origin is not None:
            return [self._digest(name) for name in _names(chunk.origin)]
        first, self._counted = self._counted, self._counted + rows
        return [self._digest(f"{self._task} {ordinal}") for ordinal in range(first, first + rows)]

    def _digest(self, name: str) -> str:
        digest = self._write.copy()
        digest.update(name.encode())
        return digest.hexdigest()


def _names(origin: Origin) -> list[str]:
    """Return a name for each row: its record's place and, if a record became several rows, which of them it is."""
    shard = json.dumps([origin.stream, origin.shard])
    seen: Counter[int] = Counter()
    names = []
    for position in map(int, origin.positions()):
        names.append(f"{shard} {position} {seen[position]}")
        seen[position] += 1
    return names
