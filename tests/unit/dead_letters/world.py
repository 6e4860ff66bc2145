"""Tables with rejected records, published as a driver does it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import pyarrow as pa

from gluepot import commit
from gluepot.connectors.files.formats.parquet.write import ParquetOutputFormat
from gluepot.connectors.files.sink import new_file_sink
from gluepot.connectors.ports import CommitKey, Manifest, SourceRange
from gluepot.dead_letters.letters import Letter
from gluepot.frames.chunk import Chunk, Coordinates, ErrorRecord


def publish(
    table: str, batch_id: int, *bad: bytes | None, reason: str = "malformed_json", rejects: str | None = None
) -> commit.Target:
    """Publish a batch of one good record and the given rejected ones."""
    key = CommitKey("query-1", batch_id, "sink")
    sink = new_file_sink(table, key, ParquetOutputFormat(), ctx="sink", rejects_path=rejects)
    errors = [ErrorRecord(raw, reason, "not JSON", Coordinates("clicks", "0", str(n))) for n, raw in enumerate(bad, 1)]
    part = sink.write(iter([Chunk(pa.record_batch({"n": [batch_id]}), errors)]), 0, "5/attempt/0")
    target = commit.open_target(sink)
    ranges = (SourceRange("kafka", "clicks", "id-1", "0", 100 * batch_id, 100 * batch_id + 1 + len(bad)),)
    commit.publish(target, Manifest(key, [replace(part, rows_in=1 + len(bad), ranges=ranges)], token=5))
    return target


def raws(letters: Iterable[Letter]) -> list[bytes | None]:
    return [letter.raw for letter in letters]
