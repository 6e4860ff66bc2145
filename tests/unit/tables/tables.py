"""Tables made by the product's own sinks and commit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa

from gluepot.commit import Target, open_target, publish
from gluepot.connectors.registry import SINKS
from gluepot.connectors.values import CommitKey, Manifest, SourceRange
from gluepot.core.clock import FakeClock
from gluepot.core.storage import Storage
from gluepot.frames.chunk import Chunk, Coordinates, ErrorRecord
from gluepot.frames.time_zone import UTC, TimeZone

NO_TOKEN = 0  # what a manifest has unless a stream's driver gives it one; staging lies below it
Rows = pa.RecordBatch | Sequence[dict[str, Any]]


@dataclass
class Writer:
    """Publishes batches the way a job does: one record per offset of `clicks` partition 0, from where it left off."""

    path: str
    format: str = "glueparquet"
    options: dict[str, Any] | None = None
    partition_keys: Sequence[str] = ()
    rejects_path: str | None = None
    query_id: str = "q1"
    next_offset: int = 0
    storage: Storage | None = None
    zone: TimeZone = UTC

    def publish(
        self, batch_id: int, *batches: Rows, bad: Sequence[bytes] = (), start: int | None = None, ctx: str = "sink0"
    ) -> None:
        key = CommitKey(self.query_id, batch_id, ctx)
        sink = SINKS[self.format](
            self.path,
            key,
            self.options or {},
            partition_keys=self.partition_keys,
            ctx=ctx,
            rejects_path=self.rejects_path,
            zone=self.zone,
        )
        rows = [one if isinstance(one, pa.RecordBatch) else pa.RecordBatch.from_pylist(one) for one in batches]
        begin = self.next_offset if start is None else start
        taken = sum(one.num_rows for one in rows) + len(bad)
        errors = [
            ErrorRecord(raw, "malformed_json", "cut off", Coordinates("clicks", "0", str(begin + at)))
            for at, raw in enumerate(bad)
        ]
        chunks = [*map(Chunk, rows), Chunk(pa.RecordBatch.from_pylist([]), errors)]
        part = sink.write(iter(chunks), 0, f"{NO_TOKEN}/{begin}")
        ranges = [SourceRange("kafka", "clicks", "id-1", "0", begin, begin + taken)]
        manifest = Manifest(key, [replace(part, ranges=ranges, rows_in=taken)])
        target = Target(self.storage, self.storage) if self.storage else open_target(sink)
        publish(target, manifest, FakeClock(1_700_000_000.0 + batch_id))
        self.next_offset = begin + taken
