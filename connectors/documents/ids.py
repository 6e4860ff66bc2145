"""Ids of documents: a repetition of a batch gives each row the id that it had before, so that it overwrites itself."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
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
            return self._digests(json.dumps([chunk.origin.stream, chunk.origin.shard]), _names(chunk.origin))
        first, self._counted = self._counted, self._counted + rows
        return self._digests(str(self._task), map(str, range(first, first + rows)))

    def _digests(self, shard: str, names: Iterable[str]) -> list[str]:
        """Return a digest of the write, the shard and the name, for each name."""
        common = self._write.copy()
        common.update(f"{shard} ".encode())
        found = []
        for name in names:
            digest = common.copy()
            digest.update(name.encode())
            found.append(digest.hexdigest())
        return found


def _names(origin: Origin) -> Iterable[str]:
    """Return a name for each row: its record's position and, if a record became several rows, which of them it is."""
    positions = origin.positions().tolist()
    if len(set(positions)) == len(positions):
        return (f"{position} 0" for position in positions)
    seen: Counter[int] = Counter()
    names = []
    for position in positions:
        names.append(f"{position} {seen[position]}")
        seen[position] += 1
    return names
