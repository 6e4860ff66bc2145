"""All partitions that one task writes to, within bounds of memory and of open files."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from gluepot.connectors.files.partition_folders import LONGEST_FOLDER_BYTES, fits
from gluepot.connectors.files.sink.drift import Resolver
from gluepot.connectors.files.sink.key_instants import key_instants
from gluepot.connectors.files.sink.partition_file import FilePlan, PartitionFile
from gluepot.connectors.files.sink.refused_rows import Origins, RefusedRows
from gluepot.connectors.files.sink.split import split
from gluepot.connectors.values import StagedFile
from gluepot.frames.chunk import Origin
from gluepot.frames.schema import concat, merge_schemas, storable_field
from gluepot.frames.sizes import memory_bytes

# Rows are split by partition in batches of about this size. With one more chunk, a column that is nearly all of it is
# still a block that the allocator reuses (`gluepot/engine/worker_daemon.py`); larger ones are cleared anew each time.
_SPLIT_BYTES = 28 << 20
# When the rows waiting in all partitions together exceed this, all of them are encoded: this, or so many row groups
# where a script asks for small ones, which is how it bounds the memory of its tasks.
_HELD_BYTES = 256 << 20
_HELD_GROUPS = 8
_MOST_OPEN_FILES = 100

_TOO_LONG = f"a partition value makes a folder name of more than {LONGEST_FOLDER_BYTES} bytes or too long a path"
_NOTHING = "the record has no value outside the partition keys"


class Partitions:
    """Takes a task's rows and gives its files.

    Args:
        plan: what the files have in common.
        refused: takes the rows that no file can hold.
        resolver: puts rows into the table's columns; None where files do not care about those of others.
    """

    def __init__(
        self,
        plan: FilePlan,
        refused: RefusedRows,
        resolver: Resolver | None = None,
    ) -> None:
        self._plan = plan
        self._refused = refused
        self._resolver = resolver
        self._waiting: list[pa.RecordBatch] = []
        self._origins: list[Origin | None] = []
        self._waiting_bytes = 0
        self._keys_schema = pa.schema([])
        self._by_path: dict[str, PartitionFile] = {}
        self._split_bytes = min(_SPLIT_BYTES, plan.format.gather_bytes)
        self._most_held_bytes = min(_HELD_BYTES, _HELD_GROUPS * plan.format.gather_bytes)

    def add(self, batch: pa.RecordBatch, origin: Origin | None = None) -> None:
        """Take rows in.

        Args:
            batch: the rows.
            origin: of the rows; None where nobody knows it.

        Raises:
            ConfigError: a partition key's column is a struct, list or map.
        """
        if not batch.num_rows:
            return
        self._waiting.append(batch)
        self._origins.append(origin)
        self._waiting_bytes += memory_bytes(batch)
        if self._waiting_bytes >= self._split_bytes:
            self._split()

    def finish(self) -> Sequence[StagedFile]:
        """Complete every file; no rows, no files."""
        self._split()
        for partition in self._by_path.values():
            self._encode(partition)
            partition.end()
        return [file for partition in self._by_path.values() for file in partition.finished]

    @property
    def schema(self) -> pa.Schema | None:
        """The columns of all finished files, then the partition keys in their own types; None without files."""
        if not any(partition.finished for partition in self._by_path.values()):
            return None
        merged = pa.schema([])
        for partition in self._by_path.values():
            merged = merge_schemas(merged, partition.schema)
        return merge_schemas(merged, self._keys_schema)

    def _split(self) -> None:
        if not self._waiting:
            return
        batch = concat(self._waiting)
        origins = Origins.together(list(zip((one.num_rows for one in self._waiting), self._origins, strict=True)))
        self._waiting, self._waiting_bytes, self._origins = [], 0, []
        if self._resolver is not None:
            batch, origins = self._resolved(batch, origins, self._resolver)
        if not batch.num_rows:
            return
        keys = self._plan.partition_keys
        # Rows that have a column in a file are not refused later, so that their origins need not be kept.
        has_column = any(storable_field(field) is not None for field in batch.schema if field.name not in keys)
        present = [key for key in keys if key in batch.schema.names]
        self._keys_schema = merge_schemas(self._keys_schema, batch.select(present).schema)
        for part in split(batch, keys, self._plan.zone):
            if not fits(part.path):
                self._refuse(part.rows, part.values, origins.of(part.indices), "partition_value_too_long", _TOO_LONG)
                continue
            partition = self._by_path.get(part.path)
            if partition is None:
                instants = key_instants(keys, part.values, batch.schema, self._plan.zone)
                partition = PartitionFile(self._plan, part.path, part.values, instants)
                self._by_path[part.path] = partition
            partition.hold(part.rows, None if has_column else origins.of(part.indices))
            if partition.held_bytes >= self._plan.format.gather_bytes:
                self._encode(partition)
        if sum(partition.held_bytes for partition in self._by_path.values()) >= self._most_held_bytes:
            for partition in self._by_path.values():
                self._encode(partition)

    def _resolved(self, batch: pa.RecordBatch, origins: Origins, resolver: Resolver) -> tuple[pa.RecordBatch, Origins]:
        rows, refused = resolver.resolve(batch)
        for part in refused:
            self._refused.add(part.rows, {}, origins.of(part.indices), "type_drift", part.message)
        if not refused:
            return rows, origins
        out = np.concatenate([part.indices for part in refused])
        return rows, origins.of(np.delete(np.arange(batch.num_rows), out))

    def _encode(self, partition: PartitionFile) -> None:
        opened = [one for one in self._by_path.values() if one.is_open and one is not partition]
        if len(opened) >= _MOST_OPEN_FILES:
            opened[0].end()
        for rows, origins in partition.encode():
            self._refuse(rows, partition.values, origins, "nothing_to_write", _NOTHING)

    def _refuse(
        self, rows: pa.RecordBatch, values: Sequence[str | None], origins: Origins | None, reason: str, message: str
    ) -> None:
        keys = dict(zip(self._plan.partition_keys, values, strict=True))
        self._refused.add(rows, keys, origins, reason, message)
