"""Batches of one table written one after the other, in memory of what they recorded, as the driver does it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from gluepot.connectors.files.formats.parquet.write import ParquetOutputFormat
from gluepot.connectors.files.sink import new_file_sink
from gluepot.connectors.files.sink.drift import Drift, DriftPolicy
from gluepot.connectors.ports import CommitKey, ManifestPart
from gluepot.frames.chunk import Chunk
from gluepot.frames.objects import batch_from_objects
from tests.duck import duck


@dataclass
class Table:
    """A table in a folder.

    Args:
        folder: where its files go.
        policy: of its sinks.
        keys: partition keys.
    """

    folder: Path
    policy: DriftPolicy = field(default_factory=DriftPolicy)
    keys: Sequence[str] = ()
    history: list[bytes] = field(default_factory=list)
    batches: int = 0
    runs: int = 0

    @classmethod
    def of(cls, folder: Path, policy: str = "widen", **by_column: str) -> Table:
        named = {name: Drift(value) for name, value in by_column.items()}
        return cls(folder, DriftPolicy(Drift(policy), named))

    def write(self, *tasks: pa.RecordBatch | Sequence[dict[str, Any]]) -> Sequence[ManifestPart]:
        """Write one batch, an argument per task, and move its files into place."""
        key = CommitKey("query-1", self.batches, "sink")
        sink = new_file_sink(
            str(self.folder), key, ParquetOutputFormat(), ctx="sink", partition_keys=self.keys, drift=self.policy
        ).knowing(self.history)
        chunks = [Chunk(task if isinstance(task, pa.RecordBatch) else batch_from_objects(task)) for task in tasks]
        while True:
            self.runs += 1
            parts = [sink.write(iter([chunk]), n, f"a/{self.runs}") for n, chunk in enumerate(chunks)]
            agreed = sink.again(parts)
            if agreed is None:
                break
            sink = agreed
        for part in parts:
            for file in part.files:
                target = self.folder / file.final
                target.parent.mkdir(parents=True, exist_ok=True)
                (self.folder / file.staged).rename(target)
            self.history += [one for one in part.columns if one not in self.history]
        self.batches += 1
        return parts

    @property
    def files(self) -> list[str]:
        return sorted(str(path) for path in self.folder.rglob("*.parquet"))

    def rows(self, order: str = "id") -> list[dict[str, Any]]:
        """The table as DuckDB reads it, without nulls."""
        if not self.files:
            return []
        found = duck().execute("SELECT * FROM read_parquet(?, union_by_name = true) ORDER BY ALL", [self.files])
        names = [column[0] for column in found.description]
        rows = [dict(zip(names, row, strict=True)) for row in found.fetchall()]
        plain = [{name: value for name, value in row.items() if value is not None} for row in rows]
        return sorted(plain, key=lambda row: repr(row.get(order)))

    def rejects(self) -> list[dict[str, Any]]:
        files = sorted(str(path) for path in self.folder.rglob("*.rejects"))
        if not files:
            return []
        found = duck().execute("SELECT raw, reason, message FROM read_parquet(?)", [files])
        return [dict(zip(("raw", "reason", "message"), row, strict=True)) for row in found.fetchall()]

    def spark_can_merge(self) -> bool:
        """Whether Spark's mergeSchema takes the files for one table: a column has one type, structs may grow."""
        merged: pa.DataType = pa.struct([])
        for file in self.files:
            schema = pq.read_schema(file)
            names = [name.lower() for name in schema.names]
            if len(set(names)) < len(names) or not _merges(merged, pa.struct(list(schema))):
                return False
            merged = _union(merged, pa.struct(list(schema)))
        lowered = [one.name.lower() for one in merged]
        return len(set(lowered)) == len(lowered)


def _merges(left: pa.DataType, right: pa.DataType) -> bool:
    if pa.types.is_struct(left) and pa.types.is_struct(right):
        held = {one.name: one.type for one in left}
        return all(_merges(held[one.name], one.type) for one in right if one.name in held)
    if pa.types.is_list(left) and pa.types.is_list(right):
        return _merges(left.value_type, right.value_type)
    if pa.types.is_map(left) and pa.types.is_map(right):
        return left.key_type == right.key_type and _merges(left.item_type, right.item_type)
    if pa.types.is_decimal(left) and pa.types.is_decimal(right):
        return left.scale == right.scale
    return left == right


def _union(left: pa.DataType, right: pa.DataType) -> pa.DataType:
    if pa.types.is_struct(left):
        held = {one.name: one.type for one in left}
        for one in right:
            held[one.name] = _union(held[one.name], one.type) if one.name in held else one.type
        return pa.struct(list(held.items()))
    if pa.types.is_list(left):
        return pa.list_(_union(left.value_type, right.value_type))
    return left
