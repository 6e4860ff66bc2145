"""Finds the files of a read that Spark's own reader may scan, because it finds in them what ours does. No Spark."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import reduce

import pyarrow as pa
from pyarrow import parquet

from gluepot.connectors.files.formats.parquet.plain import plain_schema
from gluepot.connectors.files.formats.parquet.read import ParquetInputFormat
from gluepot.connectors.files.source.files_source import FilesSource
from gluepot.connectors.files.source.grouping import FileGroup
from gluepot.connectors.files.source.hive import partition_values
from gluepot.connectors.files.source.versions import FileVersion
from gluepot.core.errors import PermanentError
from gluepot.core.storage import LocalRoot, parse_url
from gluepot.engine.pipeline import Pipeline, SplitInput
from gluepot.engine.row_files import RowFile, Stamp, can_hold
from gluepot.frames.schema import merge_schemas

# Beyond so many a plan of Spark's with all of them becomes too large.
_MOST_PARTITIONS = 64
_THREADS = 8
# In paths Spark and DuckDB take these for patterns, and Spark leaves out files whose names begin like this.
_PATTERN = frozenset("*?[]{}\\")
_HIDDEN = ("_", ".")

Partition = tuple[tuple[str, str | None], ...]
"""Names and values of the folders that a file lies in."""


@dataclass(frozen=True, slots=True)
class PlainFiles:
    """Files that Spark reads as we do.

    Args:
        partitions: the files of each partition.
        schema: the columns of all files, without those of partitions.
    """

    partitions: dict[Partition, list[RowFile]]
    schema: pa.Schema

    @property
    def keys(self) -> tuple[str, ...]:
        """The columns whose values are those of partitions."""
        return tuple(name for name, _ in next(iter(self.partitions)))

    @property
    def files(self) -> list[RowFile]:
        """All files."""
        return [file for files in self.partitions.values() for file in files]


def plain_files(pipeline: Pipeline) -> PlainFiles | None:
    """Return the files that a pipeline reads, if it does nothing else and Spark's reader finds the same in them.

    Files that a bookmark remembers are not among them: Spark would read what has taken their place meanwhile.
    """
    given = pipeline.input
    if pipeline.steps or not isinstance(given, SplitInput) or given.is_remembered or not _is_plain(given.source):
        return None
    versions = dict.fromkeys(_versions(given.splits))
    if not versions or any(not isinstance(parse_url(one.root), LocalRoot) for one in versions):
        return None
    with ThreadPoolExecutor(_THREADS, thread_name_prefix="gluepot-footers") as pool:
        files = list(pool.map(_row_file, versions))
    partitions: dict[Partition, list[RowFile]] = {}
    for version, file in zip(versions, files, strict=True):
        if file is None:
            return None
        partitions.setdefault(tuple(partition_values(version.partition)), []).append(file)
    schema = reduce(merge_schemas, (file.schema for file in files if file), pa.schema([]))
    found = PlainFiles(partitions, schema)
    return found if _fit(found) else None


def _is_plain(source: object) -> bool:
    return (
        isinstance(source, FilesSource)
        and source.format == ParquetInputFormat()
        and not source.attach_filename
        and not source.attach_timestamp
    )


def _versions(splits: Sequence[object]) -> Iterator[FileVersion]:
    for split in splits:
        assert isinstance(split, FileGroup)
        yield from split.files


def _fit(given: PlainFiles) -> bool:
    """Return whether the files have the same types, and partitions the same keys, of which no file has one."""
    keys = [tuple(name for name, _ in one) for one in given.partitions]
    same = all(one == keys[0] for one in keys) and len(keys) <= _MOST_PARTITIONS
    names = pa.schema([*given.schema, *(pa.field(name, pa.string()) for name in keys[0])])
    types = all(field.type == given.schema.field(field.name).type for file in given.files for field in file.schema)
    return same and types and can_hold(names)


def _row_file(version: FileVersion) -> RowFile | None:
    """Return a file as it is now; None if it is another version than planned, or if not all readers read it alike."""
    root = parse_url(version.root)
    assert isinstance(root, LocalRoot)
    path = root.path / version.inside / version.name
    if _PATTERN & set(str(path)) or version.name.startswith(_HIDDEN):
        return None
    try:
        stamp = Stamp.of(path)
        if (stamp.size_bytes, stamp.mtime_ns // 1000) != (version.size_bytes, version.mtime_us):
            return None
        with parquet.ParquetFile(path) as file:
            schema, rows = plain_schema(file.metadata, version.url), file.metadata.num_rows
    except (OSError, pa.ArrowException, PermanentError):
        return None  # our reader says what is wrong
    return None if schema is None else RowFile(str(path), schema, rows, stamp)
