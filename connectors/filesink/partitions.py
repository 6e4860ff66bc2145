"""All partitions that one task writes to, within bounds of memory and of open files."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import pyarrow as pa

from connectors.filesink.drift import Resolver
from connectors.filesink.folders import LONGEST_FOLDER_BYTES, fits
from connectors.filesink.partition_file import FilePlan, PartitionFile
from connectors.filesink.split import split
from connectors.ports import StagedFile
from dynamicframe.chunk import Chunk, ErrorRecord
from dynamicframe.json_text import json_bytes
from dynamicframe.rows import rows as plain_rows
from dynamicframe.schema import concat, merge_schemas

# Rows are split by partition in batches of about this size: once for the micro-batch of an ordinary task.
_SPLIT_BYTES = 64 << 20
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
        reject: called with records that no file can hold.
        resolver: puts rows into the table's columns; None where files do not care about those of others.
    """

    def __init__(
        self,
        plan: FilePlan,
        reject: Callable[[Sequence[ErrorRecord]], None],
        resolver: Resolver | None = None,
    ) -> None:
        self._plan = plan
        self._reject = reject
        self._resolver = resolver
        self._waiting: list[pa.RecordBatch] = []
        self._waiting_bytes = 0
        self._keys_schema = pa.schema([])
        self._by_path: dict[str, PartitionFile] = {}
        self._split_bytes = min(_SPLIT_BYTES, plan.format.gather_bytes)
        self._most_held_bytes = min(_HELD_BYTES, _HELD_GROUPS * plan.format.gather_bytes)

    def add(self, batch: pa.RecordBatch) -> None:
        """Take rows in.

        Raises:
            ConfigError: a partition key's column is a struct, list or map.
        """
        if not batch.num_rows:
            return
        self._waiting.append(batch)
        self._waiting_bytes += batch.nbytes
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
        self._waiting, self._waiting_bytes = [], 0
        batch = batch if self._resolver is None else self._resolved(batch, self._resolver)
        if not batch.num_rows:
            return
        keys = self._plan.partition_keys
        present = [key for key in keys if key in batch.schema.names]
        self._keys_schema = merge_schemas(self._keys_schema, batch.select(present).schema)
        for part in split(batch, keys):
            if not fits(part.path):
                self._refuse(part.rows, part.values, "partition_value_too_long", _TOO_LONG)
                continue
            partition = self._by_path.setdefault(part.path, PartitionFile(self._plan, part.path, part.values))
            partition.hold(part.rows)
            if partition.held_bytes >= self._plan.format.gather_bytes:
                self._encode(partition)
        if sum(partition.held_bytes for partition in self._by_path.values()) >= self._most_held_bytes:
            for partition in self._by_path.values():
                self._encode(partition)

    def _resolved(self, batch: pa.RecordBatch, resolver: Resolver) -> pa.RecordBatch:
        rows, refused = resolver.resolve(batch)
        for part in refused:
            self._reject(_errors(part.rows, {}, "type_drift", part.message))
        return rows

    def _encode(self, partition: PartitionFile) -> None:
        opened = [one for one in self._by_path.values() if one.is_open and one is not partition]
        if len(opened) >= _MOST_OPEN_FILES:
            opened[0].end()
        for rows in partition.encode():
            self._refuse(rows, partition.values, "nothing_to_write", _NOTHING)

    def _refuse(self, rows: pa.RecordBatch, values: Sequence[str | None], reason: str, message: str) -> None:
        keys = dict(zip(self._plan.partition_keys, values, strict=True))
        self._reject(_errors(rows, keys, reason, message))


def _errors(rows: pa.RecordBatch, keys: Mapping[str, str | None], reason: str, message: str) -> Sequence[ErrorRecord]:
    """Return rows as rejected records; what they were read from is not at hand any more, JSON stands for it."""
    return [ErrorRecord(json_bytes({**keys, **row}), reason, message) for row in plain_rows(Chunk(rows))]
