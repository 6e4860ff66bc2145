"""A user's function over all records of a task (docs/glue 6.2, mapPartitions)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any

import pyarrow as pa

from gluepot.frames.chunk import Chunk, ErrorRecord
from gluepot.frames.objects import batch_from_objects
from gluepot.frames.record import DynamicRecord
from gluepot.frames.rows import rows
from gluepot.frames.time_zone import UTC, TimeZone

_RECORDS_PER_CHUNK = 4096


def map_partition(
    f: Callable[[Iterator[Any]], Iterable[Any]], chunks: Iterable[Chunk], zone: TimeZone = UTC
) -> Iterator[Chunk]:
    """Yield what `f` makes of the good records; the errors of the chunks come last.

    Args:
        f: gets an iterator over the records, returns mappings; what it raises ends the task.
        chunks: of one task.
        zone: the zone of the timestamps in records, and of datetimes without one in results.
    """
    errors: list[ErrorRecord] = []

    def records() -> Iterator[dict[str, Any]]:
        for chunk in chunks:
            errors.extend(chunk.errors)
            yield from rows(chunk, DynamicRecord, zone=zone)

    given = records()
    results = iter(f(given))
    while piece := list(islice(results, _RECORDS_PER_CHUNK)):
        yield Chunk(batch_from_objects(piece, zone))
    for _ in given:  # what `f` left, for the errors among it
        pass
    yield Chunk(pa.RecordBatch.from_pylist([], schema=pa.schema([])), errors)
